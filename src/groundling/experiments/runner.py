"""Runs the entries of a table, each once: what was evaluated before is read, what was cut off goes on."""

import os
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from groundling import progress
from groundling.experiments.checks import Questions, check_all
from groundling.experiments.entry_data import asked_dataset, entry_dataset
from groundling.experiments.finished import Results, finished_entries, folder_of, is_answered, is_evaluated
from groundling.experiments.question import Question, answer
from groundling.experiments.table_entries import TableEntry, start_of, teachers
from groundling.files import read_json
from groundling.run import Run


def run_entries(
    entries: Sequence[TableEntry],
    out: Path,
    data: Path | None,
    device: str,
    jobs: int = 1,
    keep_weights: bool = False,
    only_prepare: bool = False,
) -> Results:
    """Evaluations of all entries, training those that are not there yet, `jobs` at a time.

    What several entries ask of one training is asked in one go, while its weights are there. With `only_prepare`,
    everything is checked and made ready, word vectors among it, and nothing trained.
    """
    results = finished_entries(entries, out)
    left = list({entry.key: entry for entry in entries if entry.key not in results}.values())
    asked: Questions = {}
    for entry in left:
        asked[entry.folder] = (*asked.get(entry.folder, ()), *([entry.ask] if entry.ask else []))
    waiting = list({entry.folder: entry for entry in left}.values())  # tables share trainings
    waiting.sort(
        key=lambda entry: -len(entry.group)
    )  # long trainings first: no worker is left alone with one at the end
    stages = in_order(waiting, out)
    steps = sum(map(len, stages))
    check_all([entry for stage in stages for entry in stage], data, asked, device, ready=only_prepare)
    if only_prepare:
        return results
    done = len({folder_of(key) for key in results} - set(asked))
    with progress.bar("Trainings", done + steps, done=done) as bar:
        for stage in stages:
            for entry in _trained(stage, out, data, device, jobs, keep_weights, asked):
                bar.advance(note=entry.folder)
    return {**results, **finished_entries(left, out)}


def in_order(waiting: list[TableEntry], out: Path) -> list[list[TableEntry]]:
    """The entries in stages, and before them what they start from and is not finished: each needs only earlier ones.

    What several entries start from is trained once, in a folder of its own, and keeps its weights.
    """
    needed = [one for entry in waiting for one in (start_of(entry), *teachers(entry)) if one is not None]
    earlier = {entry.folder: entry for entry in needed}
    missing = [entry for entry in earlier.values() if not is_evaluated(Run(out / entry.folder))]
    return [*in_order(missing, out), waiting] if missing else [waiting]


def _trained(
    entries: list[TableEntry],
    out: Path,
    data: Path | None,
    device: str,
    jobs: int,
    keep_weights: bool,
    asked: Questions,
) -> Iterator[TableEntry]:
    """The entries, as they are trained and evaluated, `jobs` at a time."""
    if jobs <= 1:
        for entry in entries:
            run_entry(entry, out, data, device, keep_weights, asked.get(entry.folder, ()))
            yield entry
        return
    threads = max(1, (os.cpu_count() or 1) // jobs)
    with ProcessPoolExecutor(jobs, get_context("spawn"), _set_threads, (threads,)) as pool:
        futures = {
            pool.submit(run_entry, entry, out, data, device, keep_weights, asked.get(entry.folder, ())): entry
            for entry in entries
        }
        try:
            for future in as_completed(futures):
                future.result()
                yield futures[future]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)  # say what went wrong now, not after all others
            raise


def run_entry(
    entry: TableEntry, out: Path, data: Path | None, device: str, keep_weights: bool, asked: Sequence[Question] = ()
) -> None:
    """Train (or go on training) one entry, evaluate it on the test split, and ask it what else is to be known."""
    from groundling.evaluation import saved
    from groundling.evaluation.loading import LoadedModel
    from groundling.evaluation.split import evaluate_split
    from groundling.files import write_json
    from groundling.model.trained import TrainedModel
    from groundling.training import train

    folder = out / entry.folder
    run = Run(folder)
    if entry.pretrained:
        from groundling.experiments.pretrained_rows import run_row

        done = is_evaluated(run)
        left = [question for question in asked if not (done and is_answered(run, question))]
        return run_row(entry, out, data, device, left, done)
    dataset = entry_dataset(entry, data)
    kept = run.evaluation_file.exists() and run.weights_file.exists()  # somebody wanted them
    if run.finished and not run.weights_file.exists():
        shutil.rmtree(folder)  # there is a new question, and nobody left to ask
    run = train(
        entry.recipe,
        dataset,
        folder,
        resume=folder.exists(),
        device=device,
        start=_start(entry, out),
        teachers=_teachers(entry, out),
    )
    model = TrainedModel.load(run.folder, device)
    if model.recipe.features != entry.recipe.features:  # it looks through a picture network of its own
        dataset = model.dataset(entry.recipe.corpus, data, splits=("test",))
    if not is_evaluated(run):
        saved.save_own(run, evaluate_split(model, dataset))  # first of all: an entry with an evaluation is done
    for question in asked:
        if not is_answered(run, question):
            loaded = LoadedModel(model, asked_dataset(entry, question, data), data, device=model.device)
            made = read_json(run.verified(run.evaluation_file))["made_from"]
            write_json(folder / question.file, {**answer(question, loaded), "made_from": made})
    if not (kept or keep_weights or entry.keeps_weights):
        run.weights_file.unlink()


def _start(entry: TableEntry, out: Path) -> Path | None:
    """The run that an entry starts from: another entry, or one that its recipe names."""
    if isinstance(entry.recipe.start, str):
        return Path(entry.recipe.start).expanduser()
    earlier = start_of(entry)
    return None if earlier is None else out / earlier.folder


def _teachers(entry: TableEntry, out: Path) -> list[Path]:
    """The runs that teach an entry: other entries, and those that its recipe names."""
    named = [Path(one).expanduser() for one in entry.recipe.teachers if isinstance(one, str)]
    return [*(out / teacher.folder for teacher in teachers(entry)), *named]


def _set_threads(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)
