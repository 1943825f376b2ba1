"""Runs the cells of a table, each once: what was evaluated before is read, what was cut off goes on."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from groundling import progress
from groundling.errors import UserError
from groundling.experiments.table import Cell, before
from groundling.files import read_json
from groundling.run import Run
from groundling.settings import CorpusSettings, FeatureSettings

Results = dict[str, dict[str, Any]]  # folder of a cell → its evaluation, with the facts of its run under "run"


def finished_cells(cells: Sequence[Cell], out: Path) -> Results:
    """Evaluations of the cells that are done; one that was made with other settings is an error."""
    from groundling.systems import meaning

    results: Results = {}
    for cell in cells:
        run = Run(out / cell.folder)
        if run.evaluation_file.exists():
            if meaning(run.recipe()) != meaning(cell.recipe):
                raise UserError(f"{run.folder}: was made with other settings; use another --out or remove it")
            results[cell.folder] = {**read_json(run.evaluation_file), "run": read_json(run.facts_file)}
    return results


def run_cells(
    cells: Sequence[Cell], out: Path, data: Path | None, device: str, jobs: int = 1, keep_weights: bool = False
) -> Results:
    """Evaluations of all cells, training those that are not there yet, `jobs` at a time."""
    cells = list({cell.folder: cell for cell in cells}.values())  # tables share trainings
    results = finished_cells(cells, out)
    waiting = [cell for cell in cells if cell.folder not in results]
    waiting.sort(key=lambda cell: -len(cell.group))  # long trainings first: no worker is left alone with one at the end
    stages = in_order(waiting, out)
    steps = sum(map(len, stages))
    check_all([cell for stage in stages for cell in stage], data)
    with progress.bar("Trainings", len(results) + steps, done=len(results)) as bar:
        for stage in stages:
            for cell, result in _trained(stage, out, data, device, jobs, keep_weights):
                if stage is stages[-1]:
                    results[cell.folder] = result
                bar.advance(note=cell.folder)
    return results


def in_order(waiting: list[Cell], out: Path) -> list[list[Cell]]:
    """The cells, and before them what they start from and is not finished yet, in stages: each needs only earlier ones.

    What several cells start from is trained once, in a folder of its own, and keeps its weights.
    """
    earlier = {cell.folder: cell for cell in map(before, waiting) if cell is not None}
    missing = [cell for cell in earlier.values() if not Run(out / cell.folder).evaluation_file.exists()]
    return [*in_order(missing, out), waiting] if missing else [waiting]


def _trained(
    cells: list[Cell], out: Path, data: Path | None, device: str, jobs: int, keep_weights: bool
) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """The cells with their evaluations, as they are done, `jobs` at a time."""
    if jobs <= 1:
        for cell in cells:
            yield cell, run_cell(cell, out, data, device, keep_weights)
        return
    threads = max(1, (os.cpu_count() or 1) // jobs)
    with ProcessPoolExecutor(jobs, get_context("spawn"), _set_threads, (threads,)) as pool:
        futures = {pool.submit(run_cell, cell, out, data, device, keep_weights): cell for cell in cells}
        try:
            for future in as_completed(futures):
                yield futures[future], future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # say what went wrong now, not after all others
            raise


def check_all(cells: Sequence[Cell], data: Path | None) -> None:
    """What would stop a training later stops the table now: files, features, conditions, settings of systems.

    Features are computed here, by one process, before any worker starts.
    """
    looked_at = set()
    with progress.bar("Checking data", len(cells)) as bar:
        for cell in cells:
            key = cell.recipe.model_dump_json(exclude={"name": True, "training": {"seed"}})
            if key not in looked_at:
                _check(cell, data)
                looked_at.add(key)
            bar.advance()


def _check(cell: Cell, data: Path | None) -> None:
    from groundling import systems
    from groundling.batches import TrainingData
    from groundling.evaluation.models import check_queries
    from groundling.training.validation import check_languages, check_score

    recipe = cell.recipe
    system = systems.of(recipe)
    if isinstance(recipe.before, str):
        Run.open(Path(recipe.before).expanduser())
    dataset = _dataset(_corpus(cell), recipe.features, data).under(recipe.corpus)
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


def run_cell(cell: Cell, out: Path, data: Path | None, device: str, keep_weights: bool) -> dict[str, Any]:
    """Train (or go on training) one cell and evaluate it on the test split."""
    from groundling.evaluation.models import evaluate_model
    from groundling.files import write_json
    from groundling.model import Model
    from groundling.training import train

    dataset = _dataset(_corpus(cell), cell.recipe.features, data).under(cell.recipe.corpus)
    folder = out / cell.folder
    run = train(cell.recipe, dataset, folder, resume=folder.exists(), device=device, before=_start(cell, out))
    evaluated = evaluate_model(Model.load(run.folder, device), dataset)
    evaluated.save_ranks(run.ranks_file)
    write_json(run.evaluation_file, evaluated.result)  # first of all: a cell with an evaluation is done
    if not keep_weights and not cell.keeps_weights:
        run.weights_file.unlink()
    return {**evaluated.result, "run": read_json(run.facts_file)}


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


def _dataset(corpus: CorpusSettings, features: FeatureSettings, data: Path | None) -> Any:
    return _cached_dataset(corpus.model_dump_json(), features.model_dump_json(), data)


@lru_cache(maxsize=4)
def _cached_dataset(corpus: str, features: str, data: Path | None) -> Any:
    from groundling.dataset import Dataset

    return Dataset.load(CorpusSettings.model_validate_json(corpus), FeatureSettings.model_validate_json(features), data)


def _set_threads(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)
