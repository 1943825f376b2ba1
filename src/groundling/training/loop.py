"""The training loop: one for every system, and for everything that a system has to learn before."""

import math
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import cast

import torch

from groundling import systems
from groundling.batches.stage import Stage
from groundling.corpus.corpus import SPLITS
from groundling.dataset import Dataset
from groundling.devices import pick_device, pick_precision
from groundling.errors import UserError
from groundling.files import read_json, write_json
from groundling.progress import bar, notice
from groundling.run import Run
from groundling.settings import Recipe
from groundling.systems import Start
from groundling.training import checkpoint, processes
from groundling.training.average import MovingAverage
from groundling.training.calibrating import with_temperature
from groundling.training.contexts import load_start, make_context
from groundling.training.encoding_in_parts import encoded_in_parts
from groundling.training.facts import facts
from groundling.training.metrics import Metrics, NoMetrics
from groundling.training.pace import Pace
from groundling.training.saved_features import save_features
from groundling.training.schedule import learning_rate
from groundling.training.step import EagerStep, fastest, make_optimiser, set_learning_rate
from groundling.training.teachers import teacher_vectors
from groundling.training.validation import Validate, validation
from groundling.vision.tuned import take_along

LOG_EVERY = 50


def train(
    recipe: Recipe,
    dataset: Dataset,
    folder: Path,
    resume: bool = False,
    device: str = "auto",
    checkpoint_seconds: float = 60.0,
    start: Path | None = None,
    teachers: Sequence[Path] = (),
    begin: Start | None = None,
    foretell: Callable[[float], None] | None = None,
    until: float = math.inf,
) -> Run:
    """Train a recipe into a run folder; the best weights by validation are kept.

    A training that was killed goes on from its checkpoint with `resume` and ends, on a CPU, in the same weights as one
    that was not. A finished run is left as it is. `start` is the finished run that the recipe starts from, `begin` the
    same where it is loaded already, `teachers` are those that teach it. `foretell` is told after the first steps how
    many seconds all of them will take. Whoever will stop it at some moment (by `time.monotonic`) says `until`, so that
    there is a checkpoint shortly before.
    """
    run = Run(folder)

    def there() -> bool:
        return processes.told_by_first(lambda: _already_there(run, recipe, resume))

    if there():
        return run
    with processes.place_of(run) as place:
        if not there():  # another process may have been here meanwhile
            due = checkpoint.Due(checkpoint_seconds if processes.first() else math.inf, until)
            _train(place, recipe, dataset, device, due, start, teachers, begin, foretell)
    processes.wait()  # until the first has written all of it
    return run


def _train(
    run: Run,
    recipe: Recipe,
    dataset: Dataset,
    device: str,
    due: checkpoint.Due,
    start: Path | None,
    teachers: Sequence[Path],
    begin: Start | None,
    foretell: Callable[[float], None] | None,
) -> None:
    where = pick_device(device)
    system = systems.of(recipe)
    named = system.start_model if start is None else start
    if begin is None and named is not None:
        begin = load_start(named, device)
    system = system if begin is None else system.taught_by(begin.system)
    goes_on = run.checkpoint_file.exists()
    if run.recipe_file.exists() and not goes_on and not any(run.folder.glob(run.stage_checkpoint("*").name)):
        notice(f"{run.folder}: stopped before its first checkpoint, so that the training begins from nothing")

    def learn(stage: Stage) -> None:
        """What a system has to learn before its encoders can be made."""
        run.save_recipe(recipe)
        fit(run, stage, run.stage_checkpoint(stage.name), due)

    saved = read_json(run.tokeniser_file) if goes_on else None
    context = make_context(recipe, system, dataset, where, learn, begin, saved)
    if teachers:
        context = replace(context, teachers=teacher_vectors(teachers, recipe, context.train, where))
    torch.manual_seed(recipe.training.seed)
    plan = system.setup(context)
    validate = validation(plan, context)
    if not goes_on:
        run.save_recipe(recipe)
        write_json(run.tokeniser_file, plan.tokeniser.to_json())
        plan.encoders.text.keep_files(run.folder)
        if system.keeps_pictures and begin is not None and begin.pictures is not None:
            write_json(run.pictures_file, begin.pictures.keep(run.folder))
        if context.train.unknown_backbone:
            write_json(run.unknown_backbone_file, {"why": "the features came with the corpus"})

    at = fit(run, plan.stage, run.checkpoint_file, due, recipe.name, validate, foretell)
    if not processes.first():
        return

    if plan.dev_features is not None and not system.keeps_pictures:
        save_features(run, recipe, dataset)
    elif recipe.features.weights is not None:
        take_along(Path(recipe.features.weights), run.folder)
    splits = {name: int((dataset.corpus.splits == name).sum()) for name in SPLITS}
    told = replace(facts(plan, context, at), score=validate.name, splits=splits if any(splits.values()) else None)
    if system.task == "entailment":
        told = with_temperature(told, run, context.dev, plan.validation == "entailment", start, device)
    write_json(run.facts_file, told.to_json())
    for file in (run.checkpoint_file, *run.folder.glob(run.stage_checkpoint("*").name)):
        checkpoint.remove(file)
    run.seal()


def fit(
    run: Run,
    stage: Stage,
    file: Path,
    due: checkpoint.Due,
    name: str = "",
    validate: Validate | None = None,
    foretell: Callable[[float], None] | None = None,
) -> checkpoint.Progress:
    """Take a stage to its end: from its beginning, or from the checkpoint in `file`.

    With `validate` the best weights are kept in the run, and training stops early where they get no better. A stage
    without it keeps a checkpoint of its end, so that a training that is stopped later does not learn it again.
    """
    module, sampler, settings = stage.module, stage.sampler, stage.settings
    where = stage.data.features.device
    optimiser = make_optimiser(module, settings, where, stage.rates)
    average = None if settings.moving_average is None else MovingAverage(module, settings.moving_average)
    at = checkpoint.Progress(sampler=sampler.state)
    if file.exists():
        at = checkpoint.load(file, module, optimiser, average)
        sampler.state = at.sampler
    step = fastest(EagerStep(stage, optimiser, pick_precision(settings.precision, where), average))

    epoch = max(1, len(stage.data.lengths) // settings.batch_size)
    every = epoch if settings.validate_every == "epoch" else settings.validate_every
    started = time.monotonic() - at.seconds
    due.restart()
    pace = None if foretell is None else Pace(foretell, settings.maximum_steps - at.step, settings.length_pool)
    logged, total_loss = at.step, torch.zeros((), device=where)
    rate = 0.0
    module.train()
    with (
        encoded_in_parts(module, settings.encode_at_once),
        processes.shared(module),
        bar(f"Training {name or stage.name}", settings.maximum_steps, at.step) as progress,
        Metrics(run.folder, at.step) if validate else NoMetrics() as metrics,
    ):
        while at.step < settings.maximum_steps and at.without_gain < settings.patience:
            if rate != (rate := learning_rate(settings, at.step, sampler.epoch())):
                set_learning_rate(optimiser, rate)
            total_loss += step(sampler.batch(at.step), at.step)
            at.step += 1
            if pace is not None:
                pace.step()
            ending = at.step % every == 0 or at.step == settings.maximum_steps

            if at.step % LOG_EVERY == 0 or ending:
                loss = float(total_loss) / (at.step - logged)
                if not math.isfinite(loss):
                    raise UserError(f"{run.folder}: the loss is {loss} at step {at.step}; lower training.learning_rate")
                metrics.write(at.step, loss=loss, epoch=sampler.epoch(), learning_rate=rate)
                best = f"  best {at.best_score:.4g} at {at.best_step}" if at.best_step else ""
                progress.advance(at.step - logged, f"loss {loss:.2f}{best}")
                logged, total_loss = at.step, torch.zeros((), device=where)

            if ending and validate is not None:
                with nullcontext() if average is None else average.in_place():
                    found = processes.told_by_first(partial(validate, cast(systems.Encoders, module)))
                    at.without_gain += 1
                    if found.score > at.best_score:
                        at.best_score, at.best_step, at.without_gain = found.score, at.step, 0
                        checkpoint.save_weights(run.weights_file, module)
                metrics.write(at.step, validation=found.score, **found.also, languages=found.languages)

            if logged == at.step and due.now():
                at.sampler, at.seconds = sampler.state, time.monotonic() - started
                checkpoint.save(file, module, optimiser, at, average)
                due.restart()

    at.sampler, at.seconds = sampler.state, time.monotonic() - started
    if validate is None and due.ever:
        checkpoint.save(file, module, optimiser, at, average)
    return at


def _already_there(run: Run, recipe: Recipe, resume: bool) -> bool:
    """True where the run is finished. A folder with another recipe, or one not to be resumed, is left untouched."""
    if run.folder.exists() and not run.folder.is_dir():
        raise UserError(f"{run.folder}: is a file, where a run needs a folder; choose another name")
    if not run.recipe_file.exists():
        if run.folder.exists() and any(not path.name.startswith(".") for path in run.folder.iterdir()):
            raise UserError(f"{run.folder}: not empty and not a run; choose another folder")
        return False
    if not resume:
        raise UserError(f"{run.folder}: a run is there already; go on with --resume or choose another folder")
    if systems.meaning(run.recipe()) != systems.meaning(recipe):
        raise UserError(f"{run.folder}: holds a run of another recipe; choose another folder")
    return run.finished
