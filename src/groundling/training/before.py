"""The training that another one starts from (`before` in a recipe), for a single training; tables have cells for it."""

from pathlib import Path

from groundling.dataset import Dataset
from groundling.run import Run
from groundling.settings import Recipe
from groundling.training.loop import train


def train_before(recipe: Recipe, folder: Path, data: Path | None, device: str) -> Path | None:
    """The run that `recipe` starts from; None where it starts from none.

    One that is described, not named, is trained beside the run `folder`, as NAME-before; one that was stopped goes on.
    """
    if recipe.before is None:
        return None
    if isinstance(recipe.before, str):
        return Run.open(Path(recipe.before).expanduser()).folder
    earlier = recipe.before.model_copy(update={"name": f"{recipe.name}-before"})
    run = Run(folder.with_name(f"{folder.name}-before"))
    if not run.finished or run.recipe() != earlier:
        start = train_before(earlier, run.folder, data, device)
        dataset = Dataset.load(earlier.corpus, earlier.features, data)
        train(earlier, dataset, run.folder, resume=run.recipe_file.exists(), device=device, before=start)
    return run.folder
