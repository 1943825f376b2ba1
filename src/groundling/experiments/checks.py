"""What would stop a training of a table later stops the table now, before anything is trained."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from groundling import progress
from groundling.errors import UserError
from groundling.evaluation.metrics import find
from groundling.experiments.entry_data import asked_captions, entry_dataset
from groundling.experiments.question import Question, check_question
from groundling.experiments.table_entries import TableEntry
from groundling.files import read_json
from groundling.run import Run
from groundling.settings import Recipe

if TYPE_CHECKING:
    from groundling.systems import System

Questions = dict[str, tuple[Question, ...]]  # folder of an entry → what is asked of it


def check_all(
    entries: Sequence[TableEntry],
    data: Path | None,
    asked: Questions | None = None,
    device: str = "auto",
    ready: bool = False,
) -> None:
    """What would stop a training later stops the table now: files, features, conditions, settings of systems.

    Features and translations are made here, by one process, before any worker starts; with `ready`, word vectors too.
    """
    looked_at = set()
    with progress.bar("Checking data", len(entries)) as bar:
        for entry in entries:
            key = entry.recipe.model_dump_json(exclude={"name": True, "training": {"seed"}})
            if key not in looked_at:
                _check(entry, data, ready)
                looked_at.add(key)
            for question in (asked or {}).get(entry.folder, ()):
                settings = question.asked_of(entry.recipe.corpus)
                key = f"{question.model_dump_json(exclude={'consistency'})}{settings.model_dump_json()}"
                if key not in looked_at or question.consistency == "learned":
                    part = asked_captions(entry, question, data)
                    asks = entry.recipe.evaluation.captions
                    check_question(question, part.split("test"), part.split("dev"), data, _device_type(device), asks)
                    looked_at.add(key)
            bar.advance()


def _check(entry: TableEntry, data: Path | None, ready: bool = False) -> None:
    from groundling.devices import pick_device
    from groundling.evaluation.retrieval import check_queries
    from groundling.training.contexts import learns_nothing, make_context
    from groundling.training.validation import check_language

    if entry.pretrained:
        from groundling.experiments.pretrained_rows import check_row

        return check_row(entry, data)
    recipe = entry.recipe
    system = _system(recipe)
    judges = system.task == "entailment"
    for metric in entry.metrics:
        if (find(metric).task == "entailment") != judges:
            what = "judges statements" if judges else "finds pictures and captions"
            raise UserError(f"metrics: {metric} is no measure of system {system.name}, which {what} here")
    dataset = entry_dataset(entry, data)
    context = make_context(recipe, system, dataset, pick_device("cpu"), learns_nothing)
    check_language(recipe.training.validation_language, context.dev.corpus.all_languages())
    system.check(context)
    asked = recipe.evaluation
    tested = dataset.judged() if judges else dataset
    queries = check_queries(tested.split("test").corpus, "test", asked.captions, asked.folds)
    missing = sorted(set(entry.group) - set(queries.all_languages()))
    if missing:
        raise UserError(f"corpus {queries.name} has no test captions in {', '.join(missing)}")
    if ready:
        system.prepare(context)


def _system(recipe: Recipe) -> "System":
    """The system of a recipe. A student's is that of its teacher, too, which the recipe describes or names."""
    from groundling import systems

    system = systems.of(recipe)
    if recipe.start is None:
        return system
    if recipe.described_start is not None:
        return system.taught_by(_system(recipe.described_start))
    run = Run.open(Path(str(recipe.start)).expanduser())
    return system.taught_by(systems.make(run.recipe().system).resolved(read_json(run.tokeniser_file)))


def _device_type(device: str) -> str:
    from groundling.devices import pick_device

    return pick_device(device).type
