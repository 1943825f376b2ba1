"""Runs the entries of a table, each once: what was evaluated before is read, what was cut off goes on."""

import os
import shutil
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

from groundling import progress
from groundling.errors import UserError
from groundling.evaluation.metrics import find
from groundling.evaluation.results import Result, result_from_json
from groundling.experiments.question import Question, answer, check_question
from groundling.experiments.table_entries import TableEntry, start_of, teachers
from groundling.experiments.validations import Curve, curve
from groundling.files import read_json
from groundling.run import Run
from groundling.run_facts import RunFacts
from groundling.settings import CorpusSettings, FeatureSettings, Recipe

if TYPE_CHECKING:
    from groundling.corpus import Corpus
    from groundling.dataset import Dataset
    from groundling.systems import System


@dataclass(frozen=True)
class EntryResult:
    """What was found for an entry.

    Attributes:
        result: its evaluation, or the answer to its question.
        run: the facts of its training.
        more_parameters: of what learns to combine languages.
        validations: of its training, step by step.
    """

    result: Result
    run: RunFacts
    more_parameters: int = 0
    validations: Curve = ()


Results = dict[str, EntryResult]  # by the key of an entry
Questions = dict[str, tuple[Question, ...]]  # folder of an entry → what is asked of it


def finished_entries(entries: Sequence[TableEntry], out: Path) -> Results:
    """Evaluations of the entries that are done; one that was made with other settings is an error."""
    from groundling.evaluation.saved_answers import completed
    from groundling.systems import meaning

    results: Results = {}
    for entry in entries:
        run = Run(out / entry.folder)
        if entry.key not in results and is_evaluated(run) and (entry.ask is None or is_answered(run, entry.ask)):
            if meaning(run.recipe()) != meaning(entry.recipe):
                raise UserError(f"{run.folder}: was made with other settings; use another --out or remove it")
            given = run.evaluation_file if entry.ask is None else run.folder / entry.ask.file
            data = read_json(given)
            learned = data.get("consistency", {}).get("parameters", 0)
            result = result_from_json(data, str(given))
            whole = result if entry.ask else completed(run, result)
            results[entry.key] = EntryResult(whole, run.facts(), learned, curve(run))
    return results


def is_evaluated(run: Run) -> bool:
    """Whether a training has ended and the evaluation in its folder holds for its weights, where they are there."""
    from groundling.evaluation.saved import why_stale

    return run.finished and run.evaluation_file.exists() and why_stale(run) is None


def is_answered(run: Run, question: Question) -> bool:
    """Whether an answer lies beside the evaluation, of the same weights."""
    path = run.folder / question.file
    if not path.exists():
        return False
    asked, evaluated = (read_json(file).get("made_from", {}).get("weights") for file in (path, run.evaluation_file))
    return asked is None or asked == evaluated


def folder_of(key: str) -> str:
    """The training that a result is of."""
    return key.partition("/asked-")[0]


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
                    part = _asked_captions(entry, question, data)
                    asks = entry.recipe.evaluation.captions
                    check_question(question, part.split("test"), part.split("dev"), data, _device_type(device), asks)
                    looked_at.add(key)
            bar.advance()


def _check(entry: TableEntry, data: Path | None, ready: bool = False) -> None:
    from groundling.devices import pick_device
    from groundling.evaluation.retrieval import check_queries
    from groundling.training.contexts import learns_nothing, make_context
    from groundling.training.validation import check_score

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
    dataset = _dataset(_corpus(entry), recipe, data).under(recipe.corpus)
    context = make_context(recipe, system, dataset, pick_device("cpu"), learns_nothing)
    check_score(recipe.training.validation_language, context.dev.corpus.all_languages())
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
    dataset = _dataset(_corpus(entry), entry.recipe, data).under(entry.recipe.corpus)
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
            loaded = LoadedModel(model, _asked_dataset(entry, question, data), data, device=model.device)
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


def _corpus(entry: TableEntry) -> CorpusSettings:
    """The whole corpus of an entry, whatever part of it the entry trains on, so that entries share what is loaded."""
    used = entry.recipe.corpus
    kept = ("name", "split_by", "captions_from", "test_on", "text_only")
    return CorpusSettings(**{key: getattr(used, key) for key in kept})


def _asked_dataset(entry: TableEntry, question: Question, data: Path | None) -> "Dataset":
    settings = question.asked_of(entry.recipe.corpus)
    whole = settings.model_copy(update={"languages": None, "train_on": "all", "training_pictures": None})
    whole = whole.model_copy(update={"one_caption": False, "draw": 0})
    found: Dataset = _dataset(whole, entry.recipe, data).under(settings)
    return found


def _asked_captions(entry: TableEntry, question: Question, data: Path | None) -> "Corpus":
    if not entry.pretrained:
        return _asked_dataset(entry, question, data).corpus
    from groundling.experiments.pretrained_rows import corpus_under

    return corpus_under(question.asked_of(entry.recipe.corpus), data)


def _device_type(device: str) -> str:
    from groundling.devices import pick_device

    return pick_device(device).type


def _dataset(corpus: CorpusSettings, recipe: Recipe, data: Path | None) -> Any:
    return _cached_dataset(corpus.model_dump_json(), recipe.features.model_dump_json(), _start_model(recipe), data)


@lru_cache(maxsize=4)
def _cached_dataset(corpus: str, features: str, model: str | None, data: Path | None) -> Any:
    from groundling.training.datasets import dataset_by

    settings = CorpusSettings.model_validate_json(corpus), FeatureSettings.model_validate_json(features)
    return dataset_by(model, *settings, data)


def _start_model(recipe: Recipe) -> str | None:
    from groundling import systems

    return systems.make(recipe.system).start_model


def _set_threads(threads: int) -> None:
    import torch

    torch.set_num_threads(threads)
