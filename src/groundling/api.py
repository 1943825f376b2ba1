"""Training, evaluation and teaching from Python, each in a line; what the commands of the same names do.

>>> import groundling
>>> run = groundling.train(corpus="my-corpus", system="bag", out="runs/mine")  # doctest: +SKIP
>>> groundling.evaluate(run)  # doctest: +SKIP
RetrievalResult my-corpus, test: mR en 41.2, de 38.0
>>> groundling.Model.load(run).encode_text(["ein Hund am Strand"], "de")  # doctest: +SKIP
"""

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from groundling import progress, systems
from groundling.corpus import Corpus, save
from groundling.devices import pick_device
from groundling.errors import UserError
from groundling.evaluation.request import EvaluationRequest
from groundling.evaluation.results import Result
from groundling.evaluation.saved import evaluate_model
from groundling.files import write_text
from groundling.model import Model
from groundling.report.run_report import write_report
from groundling.run import Run
from groundling.settings import Recipe
from groundling.training import processes
from groundling.training.datasets import training_dataset
from groundling.training.defaults import resolve
from groundling.training.loop import train as run_training
from groundling.training.starts import train_start, train_teachers
from groundling.training.teaching import Lesson, taught_folder
from groundling.training.teaching import teach as run_lesson

AnyPath = str | os.PathLike[str]


def train(
    recipe: AnyPath | None = None,
    *,
    corpus: AnyPath | Corpus | Mapping[str, Any] | None = None,
    system: str | Mapping[str, Any] | None = None,
    out: AnyPath | None = None,
    data: AnyPath | None = None,
    device: str = "auto",
    resume: bool = False,
    show_progress: bool = True,
    **settings: Mapping[str, Any],
) -> Run:
    """Train a model; the run that is returned can be given wherever the folder of a run is asked for.

    Args:
        recipe: a recipe by name (`groundling recipes`) or a YAML file; without one, say `corpus`, and perhaps `system`.
        corpus: a corpus by name, a corpus folder, a table of captions, or a `Corpus`, which is saved beside the run;
            with settings of its own, `{"name": "f8k7", "languages": ["en", "de"]}`.
        system: the system to train, by its name, or with settings of its own, `{"name": "lessons", "margin": 0.1}`;
            without it our own, polyglot, with settings chosen for the corpus and the machine.
        out: the folder of the run; runs/NAME when left out.
        data: the folder that holds published data sets.
        device: auto, cpu, cuda or cuda:0.
        resume: go on with a training in `out` that was cut off, to the same end.
        show_progress: say on standard error how far it is.
        settings: groups of settings as recipes have them: `training={"maximum_steps": 500}, features={"size": 128}`.
    """
    folder = None if out is None else Path(out)
    changes: dict[str, Any] = {key: dict(value) for key, value in settings.items()}
    if isinstance(corpus, Corpus):
        folder = folder or Path("runs") / corpus.name
        beside = folder.with_name(f"{folder.name}-corpus").absolute()
        save(corpus, beside)
        corpus = beside
    for key, value in (("corpus", corpus), ("system", system)):
        if value is not None:
            changes[key] = dict(value) if isinstance(value, Mapping) else {"name": os.fspath(value)}
    if recipe is None and corpus is None:
        raise UserError("name a recipe or a corpus to train on")
    where = None if data is None else Path(data)
    chosen, reasons = resolve(None if recipe is None else os.fspath(recipe), changes, (), where, device)
    progress.show(show_progress)
    if show_progress:
        tell(reasons)
    return train_recipe(chosen, folder or Path("runs") / chosen.name, where, device, resume)


def train_recipe(
    recipe: Recipe,
    folder: Path,
    data: Path | None = None,
    device: str = "auto",
    resume: bool = False,
    warn: Callable[[Sequence[str]], None] | None = None,
) -> Run:
    """A recipe from its files to a finished run. `warn` is told the pictures that cannot be read and are left out."""
    systems.of(recipe).check_trains()  # a wrong setting or device is told before minutes of features, not after
    with processes.joined(device) as place:
        pick_device(place)
        with processes.first_before_others():
            dataset = training_dataset(recipe, data, device)
        if processes.first():
            (warn or _warn)(dataset.skipped)
            if dataset.text_only is not None:
                tell([str(dataset.text_only)])
        start = train_start(recipe, folder, data, place)
        teachers = train_teachers(recipe, folder, data, place)
        return run_training(recipe, dataset, folder, resume=resume, device=place, start=start, teachers=teachers)


def tell(sentences: Iterable[str]) -> None:
    """On standard error, one a line."""
    for sentence in sentences:
        print(f"groundling: {sentence}", file=sys.stderr)


def _warn(skipped: Sequence[str]) -> None:
    if skipped:
        print(f"groundling: {len(skipped)} pictures cannot be read and are left out ({skipped[0]} …)", file=sys.stderr)


def evaluate(
    model: AnyPath | Model,
    corpus: AnyPath | None = None,
    *,
    split: str = "test",
    languages: Sequence[str] | None = None,
    text_model: str | None = None,
    prompt: str | None = None,
    out: AnyPath | None = None,
    data: AnyPath | None = None,
    device: str = "auto",
) -> Result:
    """Recalls of a model by language, or the accuracy of an entailment model, as `groundling evaluate` prints them.

    `result.value("de", "text_to_image.R@10")` is one number, `result.frame()` a pandas table of all of them, and
    `result.to_json()` what `--json` prints. On a run's own corpus and test split, also leaves evaluation.json,
    report.html and report.md in its folder; of other models in `out`.

    Args:
        model: a run or its folder; what was exported from one; a pretrained model by folder or hub name; a `Model`.
        corpus: another corpus than a run's own; every other model needs one.
        split: train, dev or test.
        languages: only these of the model's; all that it and the corpus have when left out.
        text_model: the text encoder of a pretrained model, where that is another model, by folder or hub name.
        prompt: what a pretrained model is given in the place of each caption: "a photo of {}".
        out: the folder that keeps the answer, and the rank of every query; runs/MODEL-on-CORPUS when left out.
        data: the folder that holds published data sets.
        device: auto, cpu, cuda or cuda:0.
    """
    loaded = model if isinstance(model, Model) else Model.load(model, device, text_model, prompt)
    where, folder = (None if one is None else Path(one) for one in (data, out))
    named = None if corpus is None else os.fspath(corpus)
    request = EvaluationRequest(named, split, languages=None if languages is None else tuple(languages))
    evaluation = evaluate_model(loaded, request, where, folder)
    if evaluation.saved:
        write_report(evaluation)
    return evaluation.result


def teach(
    model: AnyPath,
    language: str | Sequence[str],
    pairs: AnyPath | Iterable[tuple[str, str]],
    out: AnyPath | None = None,
    *,
    known: str | None = None,
    data: AnyPath | None = None,
    device: str = "auto",
    resume: bool = False,
    show_progress: bool = True,
    **options: Any,
) -> Run:
    """Add languages to a model from pairs of sentences; the languages that it knows stay as they are.

    What the model could do with the languages before and after is in taught.json of the new run.

    Args:
        model: the run that teaches, or its folder; or a pretrained model by its folder or hub name.
        language: the code of the new language, or several.
        pairs: (known sentence, the same in the new language); or a file of them (see `groundling teach --help`), or
            "corpus:NAME".
        out: the folder of the new run; MODEL+LANGUAGE when left out.
        known: the language of the known sentences, where the file does not say it and the run knows several.
        data: the folder that holds published data sets.
        device: auto, cpu, cuda or cuda:0.
        resume: go on with a teaching in `out` that was cut off.
        show_progress: say on standard error how far it is.
        options: student, steps, batch_size, learning_rate and what else a `training.teaching.Lesson` has.
    """
    codes = (language,) if isinstance(language, str) else tuple(language)
    named = Lesson(os.fspath(model), codes, "")
    folder = taught_folder(named) if out is None else Path(out)
    if not isinstance(pairs, str | os.PathLike):
        lines = ("\t".join(" ".join(side.split()) for side in pair) for pair in pairs)
        pairs = folder.with_name(f"{folder.name}-pairs.tsv")
        write_text(pairs, "".join(f"{line}\n" for line in lines))
    progress.show(show_progress)
    lesson = replace(named, pairs=os.fspath(pairs), known=known, **options)
    run_lesson(lesson, folder, None if data is None else Path(data), device, resume, lambda sentence: tell([sentence]))
    return Run(folder)
