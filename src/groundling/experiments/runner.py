"""Runs the entries of a table, each once: what was evaluated before is read, what was cut off goes on."""

import math
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from groundling import progress
from groundling.experiments.asked import check_against_data, check_together
from groundling.experiments.checks import check_all
from groundling.experiments.entry_data import asked_dataset, entry_dataset
from groundling.experiments.finished import Results, finished_entries, folder_of, is_answered, is_evaluated
from groundling.experiments.known import beside
from groundling.experiments.question import Question, answer
from groundling.experiments.table_entries import TableEntry, start_of, teachers
from groundling.experiments.training_queue import Failure, Task, TrainingQueue, plan
from groundling.experiments.workers import train_here, train_in_workers
from groundling.files import make_folder, problems_of, read_json
from groundling.run import Run


def run_entries(
    entries: Sequence[TableEntry],
    out: Path,
    data: Path | None,
    device: str,
    jobs: int = 1,
    keep_weights: bool = False,
    only_prepare: bool = False,
    until: float = math.inf,
    known: Results | None = None,
) -> Results:
    """Evaluations of all entries, training those that are not there or `known` yet in their order, `jobs` at a time.

    A training that fails is told of, and the others go on. Trainings are stopped when it is `until` by
    `time.monotonic`. Where one is missing in the end, for either reason, that is an UnfinishedError. With
    `only_prepare`, everything is checked and made ready, word vectors among it, and nothing trained.
    """
    results, tasks = _left(entries, out, known or {})
    asked = {task.folder: task.asked for task in tasks}
    check_together(entries, results)
    if tasks:
        check_against_data(entries, {key: found for key, found in results.items() if found.known}, data)
    check_all([task.entry for task in tasks], data, asked, device, ready=only_prepare)
    if only_prepare:
        return results
    with problems_of(out):
        make_folder(out)
    train = partial(_run_task, out=out, data=data, device=device, keep_weights=keep_weights, until=until)
    done = len({folder_of(key) for key in results} - set(asked))
    with progress.bar("Trainings", done + len(tasks), done=done) as bar:

        def tell(task: Task, failure: Failure | None) -> None:
            bar.advance(note=task.folder)
            if failure is not None:
                place = str(out / task.folder)
                progress.notice(failure.reason if place in failure.reason else f"{place}: {failure.reason}")

        queue = TrainingQueue(tasks, until, tell)
        if jobs == 1 and math.isinf(until):
            train_here(queue, train)
        else:
            train_in_workers(queue, train, jobs)
    queue.raise_if_unfinished()
    found = beside(results, finished_entries(entries, out))
    check_together(entries, found)
    return found


def _left(entries: Sequence[TableEntry], out: Path, known: Results) -> tuple[Results, list[Task]]:
    """What is there, and what has to be trained. A training that has to be done again, because something else is asked
    of it or starts from it, is not known any more: all numbers of one training are of the same run."""
    results = beside(known, finished_entries(entries, out))
    while True:
        tasks = plan(list({entry.key: entry for entry in entries if entry.key not in results}.values()), out)
        kept = {task.folder for task in tasks}
        again = [key for key, found in results.items() if found.known and folder_of(key) in kept]
        if not again:
            return results, tasks
        for key in again:
            del results[key]


def _run_task(task: Task, out: Path, data: Path | None, device: str, keep_weights: bool, until: float) -> None:
    run_entry(task.entry, out, data, device, keep_weights, task.asked, until)


def run_entry(
    entry: TableEntry,
    out: Path,
    data: Path | None,
    device: str,
    keep_weights: bool,
    asked: Sequence[Question] = (),
    until: float = math.inf,
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
        until=until,
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
