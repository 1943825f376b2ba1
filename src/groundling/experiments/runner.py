"""Runs the cells of a table, each once: what was evaluated before is read, what was cut off goes on."""

import os
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundling import progress
from groundling.errors import UserError
from groundling.experiments.question import Question, answer, check_question
from groundling.experiments.table import VERDICT_METRICS, Cell, before
from groundling.files import read_json
from groundling.run import Run
from groundling.settings import CorpusSettings, FeatureSettings, Recipe

if TYPE_CHECKING:
    from groundling.dataset import Dataset

Results = dict[str, dict[str, Any]]  # key of a cell → its evaluation, with the facts of its run under "run"
Questions = dict[str, tuple[Question, ...]]  # folder of a cell → what is asked of it


def finished_cells(cells: Sequence[Cell], out: Path) -> Results:
    """Evaluations of the cells that are done; one that was made with other settings is an error."""
    from groundling.systems import meaning

    results: Results = {}
    for cell in cells:
        run = Run(out / cell.folder)
        given = run.evaluation_file if cell.ask is None else run.folder / cell.ask.file
        if cell.key not in results and run.evaluation_file.exists() and given.exists():
            if meaning(run.recipe()) != meaning(cell.recipe):
                raise UserError(f"{run.folder}: was made with other settings; use another --out or remove it")
            results[cell.key] = {**read_json(given), "run": read_json(run.facts_file)}
    return results


def folder_of(key: str) -> str:
    """The training that a result is of."""
    return key.partition("/asked-")[0]


def run_cells(
    cells: Sequence[Cell],
    out: Path,
    data: Path | None,
    device: str,
    jobs: int = 1,
    keep_weights: bool = False,
    only_prepare: bool = False,
) -> Results:
    """Evaluations of all cells, training those that are not there yet, `jobs` at a time.

    What several cells ask of one training is asked in one go, while its weights are there. With `only_prepare`,
    everything is checked and made ready, word vectors among it, and nothing trained.
    """
    results = finished_cells(cells, out)
    left = list({cell.key: cell for cell in cells if cell.key not in results}.values())
    asked: Questions = {}
    for cell in left:
        asked[cell.folder] = (*asked.get(cell.folder, ()), *([cell.ask] if cell.ask else []))
    waiting = list({cell.folder: cell for cell in left}.values())  # tables share trainings
    waiting.sort(key=lambda cell: -len(cell.group))  # long trainings first: no worker is left alone with one at the end
    stages = in_order(waiting, out)
    steps = sum(map(len, stages))
    check_all([cell for stage in stages for cell in stage], data, asked, device, ready=only_prepare)
    if only_prepare:
        return results
    done = len({folder_of(key) for key in results} - set(asked))
    with progress.bar("Trainings", done + steps, done=done) as bar:
        for stage in stages:
            for cell in _trained(stage, out, data, device, jobs, keep_weights, asked):
                bar.advance(note=cell.folder)
    return {**results, **finished_cells(left, out)}


def in_order(waiting: list[Cell], out: Path) -> list[list[Cell]]:
    """The cells, and before them what they start from and is not finished yet, in stages: each needs only earlier ones.

    What several cells start from is trained once, in a folder of its own, and keeps its weights.
    """
    earlier = {cell.folder: cell for cell in map(before, waiting) if cell is not None}
    missing = [cell for cell in earlier.values() if not Run(out / cell.folder).evaluation_file.exists()]
    return [*in_order(missing, out), waiting] if missing else [waiting]


def _trained(
    cells: list[Cell], out: Path, data: Path | None, device: str, jobs: int, keep_weights: bool, asked: Questions
) -> Iterator[Cell]:
    """The cells, as they are trained and evaluated, `jobs` at a time."""
    if jobs <= 1:
        for cell in cells:
            run_cell(cell, out, data, device, keep_weights, asked.get(cell.folder, ()))
            yield cell
        return
    threads = max(1, (os.cpu_count() or 1) // jobs)
    with ProcessPoolExecutor(jobs, get_context("spawn"), _set_threads, (threads,)) as pool:
        futures = {
            pool.submit(run_cell, cell, out, data, device, keep_weights, asked.get(cell.folder, ())): cell
            for cell in cells
        }
        try:
            for future in as_completed(futures):
                future.result()
                yield futures[future]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # say what went wrong now, not after all others
            raise


def check_all(
    cells: Sequence[Cell], data: Path | None, asked: Questions | None = None, device: str = "auto", ready: bool = False
) -> None:
    """What would stop a training later stops the table now: files, features, conditions, settings of systems.

    Features and translations are made here, by one process, before any worker starts; with `ready`, word vectors too.
    """
    looked_at = set()
    with progress.bar("Checking data", len(cells)) as bar:
        for cell in cells:
            key = cell.recipe.model_dump_json(exclude={"name": True, "training": {"seed"}})
            if key not in looked_at:
                _check(cell, data, ready)
                looked_at.add(key)
            for question in (asked or {}).get(cell.folder, ()):
                settings = question.asked_of(cell.recipe.corpus)
                key = f"{question.model_dump_json(exclude={'consistency'})}{settings.model_dump_json()}"
                if key not in looked_at or question.consistency == "learned":
                    part = _asked_dataset(cell, question, data).corpus
                    asks = cell.recipe.evaluation.captions
                    check_question(question, part.split("test"), part.split("dev"), data, _device_type(device), asks)
                    looked_at.add(key)
            bar.advance()


def _check(cell: Cell, data: Path | None, ready: bool = False) -> None:
    from groundling import systems
    from groundling.batches import TrainingData
    from groundling.evaluation.models import check_queries
    from groundling.training.validation import check_languages, check_score

    recipe = cell.recipe
    system = systems.of(recipe)
    if isinstance(recipe.before, str):
        Run.open(Path(recipe.before).expanduser())
    judges = _judges(recipe)
    for metric in cell.metrics if judges is not None else ():
        if (metric in VERDICT_METRICS) != judges:
            what = "judges statements" if judges else "finds pictures and captions"
            raise UserError(f"metrics: {metric} is no measure of system {system.name}, which {what} here")
    dataset = _dataset(_corpus(cell), recipe.features, data).under(recipe.corpus)
    if judges:
        dataset = dataset.judged()
    train, dev = dataset.split("train").corpus, dataset.split("dev").corpus
    check_languages(train, dev)
    check_score(recipe.training.score, dev.all_languages())
    system.sampler(TrainingData.outline(train), recipe.training)
    system.prepare(dataset, recipe.text)
    asked = recipe.evaluation
    queries = check_queries(dataset.split("test").corpus, "test", asked.captions, asked.folds)
    missing = sorted(set(cell.group) - set(queries.all_languages()))
    if missing:
        raise UserError(f"corpus {queries.name} has no test captions in {', '.join(missing)}")
    if ready:
        system.ready(train, recipe.text)


def _judges(recipe: Recipe) -> bool | None:
    """Whether a recipe trains a judge of statements. A student does what its teacher does; None: nobody knows."""
    from groundling import systems

    system = systems.of(recipe)
    if not system.needs_before or system.task == "entailment":
        return bool(system.task == "entailment")
    return _judges(recipe.before) if isinstance(recipe.before, Recipe) else None


def run_cell(
    cell: Cell, out: Path, data: Path | None, device: str, keep_weights: bool, asked: Sequence[Question] = ()
) -> None:
    """Train (or go on training) one cell, evaluate it on the test split, and ask it what else is to be known."""
    from groundling.evaluation.kept import evaluate_and_keep
    from groundling.evaluation.opened import Opened
    from groundling.files import write_json
    from groundling.model import Model
    from groundling.training import train

    dataset = _dataset(_corpus(cell), cell.recipe.features, data).under(cell.recipe.corpus)
    folder = out / cell.folder
    run = Run(folder)
    kept = run.evaluation_file.exists() and run.weights_file.exists()  # somebody wanted them
    if run.finished and not run.weights_file.exists():
        shutil.rmtree(folder)  # there is a new question, and nobody left to ask
    run = train(cell.recipe, dataset, folder, resume=folder.exists(), device=device, before=_start(cell, out))
    model = Model.load(run.folder, device)
    if not run.evaluation_file.exists():
        evaluate_and_keep(run, model, dataset)  # first of all: a cell with an evaluation is done
    for question in asked:
        if not (folder / question.file).exists():
            opened = Opened(run, model, _asked_dataset(cell, question, data))
            write_json(folder / question.file, answer(question, opened, data))
    if not (kept or keep_weights or cell.keeps_weights):
        run.weights_file.unlink()


def _start(cell: Cell, out: Path) -> Path | None:
    """The run that a cell starts from: another cell, or one that its recipe names."""
    if isinstance(cell.recipe.before, str):
        return Path(cell.recipe.before).expanduser()
    earlier = before(cell)
    return None if earlier is None else out / earlier.folder


def _corpus(cell: Cell) -> CorpusSettings:
    """The whole corpus of a cell, whatever part of it the cell trains on, so that cells share what is loaded."""
    used = cell.recipe.corpus
    return CorpusSettings(name=used.name, split=used.split, captions_from=used.captions_from, test_on=used.test_on)


def _asked_dataset(cell: Cell, question: Question, data: Path | None) -> "Dataset":
    settings = question.asked_of(cell.recipe.corpus)
    whole = settings.model_copy(update={"languages": None, "train_on": "all", "training_pictures": None})
    whole = whole.model_copy(update={"one_caption": False, "draw": 0})
    found: Dataset = _dataset(whole, cell.recipe.features, data).under(settings)
    return found


def _device_type(device: str) -> str:
    from groundling.devices import pick_device

    return pick_device(device).type


def _dataset(corpus: CorpusSettings, features: FeatureSettings, data: Path | None) -> Any:
    return _cached_dataset(corpus.model_dump_json(), features.model_dump_json(), data)


@lru_cache(maxsize=4)
def _cached_dataset(corpus: str, features: str, data: Path | None) -> Any:
    from groundling.dataset import Dataset

    return Dataset.load(CorpusSettings.model_validate_json(corpus), FeatureSettings.model_validate_json(features), data)


def _set_threads(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)
