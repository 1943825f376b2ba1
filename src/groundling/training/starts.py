"""Trainings that another one builds on: the one that it starts from (`start` in a recipe), and its teachers.

For a single training; tables have entries for them.
"""

from pathlib import Path

from groundling.run import Run
from groundling.settings import Recipe
from groundling.training.datasets import training_dataset
from groundling.training.loop import train


def train_start(recipe: Recipe, folder: Path, data: Path | None, device: str) -> Path | None:
    """The run that `recipe` starts from; None where it starts from none.

    One that is described, not named, is trained beside the run `folder`, as NAME-start; one that was stopped goes on.
    """
    return None if recipe.start is None else _trained(recipe.start, "start", recipe.name, folder, data, device)


def train_teachers(recipe: Recipe, folder: Path, data: Path | None, device: str) -> list[Path]:
    """The runs that teach `recipe`; those that are described are trained beside it, as NAME-teacher-1 and so on."""
    return [
        _trained(teacher, f"teacher-{number}", recipe.name, folder, data, device)
        for number, teacher in enumerate(recipe.teachers, start=1)
    ]


def _trained(wanted: Recipe | str, what: str, name: str, folder: Path, data: Path | None, device: str) -> Path:
    if isinstance(wanted, str):
        folder = Path(wanted).expanduser()
        return Run.open(folder).folder if (folder / "recipe.json").exists() or not folder.is_dir() else folder
    earlier = wanted.model_copy(update={"name": f"{name}-{what}"})
    run = Run(folder.with_name(f"{folder.name}-{what}"))
    if not run.finished or run.recipe() != earlier:
        start = train_start(earlier, run.folder, data, device)
        teachers = train_teachers(earlier, run.folder, data, device)
        dataset = training_dataset(earlier, data, device)
        resume = run.recipe_file.exists()
        train(earlier, dataset, run.folder, resume=resume, device=device, start=start, teachers=teachers)
    return run.folder
