"""The training loop: one for every system."""

import math
import time
from pathlib import Path

import torch

from groundling import systems
from groundling.batches import TrainingData
from groundling.dataset import Dataset
from groundling.devices import pick_device, pick_precision
from groundling.errors import UserError
from groundling.evaluation.unseen import trained_languages
from groundling.files import read_json, write_json
from groundling.model.trained import TrainedModel
from groundling.progress import bar
from groundling.run import Run
from groundling.settings import Recipe
from groundling.training import checkpoint
from groundling.training.calibrating import temperature_facts
from groundling.training.facts import facts
from groundling.training.metrics import Metrics
from groundling.training.schedule import learning_rate
from groundling.training.step import EagerStep, fastest, make_optimiser, set_learning_rate
from groundling.training.validation import check_languages, classes_of, score_name, validation

LOG_EVERY = 50


def train(
    recipe: Recipe,
    dataset: Dataset,
    folder: Path,
    resume: bool = False,
    device: str = "auto",
    checkpoint_seconds: float = 60.0,
    before: Path | None = None,
) -> Run:
    """Train a recipe into a run folder; the best weights by validation are kept.

    A training that was killed goes on from its checkpoint with `resume` and ends, on a CPU, in the same weights as one
    that was not. A finished run is left as it is. `before` is the finished run that the recipe starts from.
    """
    run, settings = Run(folder), recipe.training
    if _already_there(run, recipe, resume):
        return run
    where = pick_device(device)
    precision = pick_precision(settings.precision, where)
    system = systems.of(recipe)
    earlier = None if before is None else load_earlier(before, device)
    if earlier is not None:
        system.follow(earlier)
    dataset = system.material(dataset)
    judging = system.task == "entailment" and dataset.corpus.statements is not None
    train_set, dev_set = dataset.split("train"), dataset.split("dev")
    check_languages(train_set.corpus, dev_set.corpus, "statements" if judging else "captions")

    torch.manual_seed(settings.seed)
    system.seed, system.device = settings.seed, where
    system.prepare(dataset, recipe.text)
    if run.checkpoint_file.exists():
        tokeniser = system.resumed_tokeniser(train_set.corpus, recipe.text, read_json(run.tokeniser_file))
    else:
        tokeniser = system.tokeniser(train_set.corpus, recipe.text)
    towers = system.towers(tokeniser, train_set.features.shape[1]).to(where)
    classes = classes_of(train_set.corpus) if judging else None
    data = TrainingData.build(train_set.corpus, train_set.features, tokeniser, where, classes)
    validate = validation(system, dev_set, recipe, tokeniser, where, precision)
    sampler = system.sampler(data, settings)
    optimiser = make_optimiser(towers, settings, where)
    at = checkpoint.Progress(sampler=sampler.state)
    if run.checkpoint_file.exists():
        at = checkpoint.load(run.checkpoint_file, towers, optimiser)
        sampler.state = at.sampler
    else:
        if earlier is not None:
            system.begin(towers, tokeniser, earlier)
        run.save_recipe(recipe)
        write_json(run.tokeniser_file, tokeniser.to_json())
        if dataset.unknown_backbone:
            write_json(run.unknown_backbone_file, {"why": "the features came with the corpus"})
    step = fastest(EagerStep(system, towers, data, optimiser, settings.clip, precision))

    epoch = max(1, len(data.lengths) // settings.batch_size)
    every = epoch if settings.validate_every == "epoch" else settings.validate_every
    started, saved = time.monotonic() - at.seconds, time.monotonic()
    logged, total_loss = at.step, torch.zeros((), device=where)
    rate = 0.0
    towers.train()
    with (
        bar(f"Training {recipe.name}", settings.maximum_steps, at.step) as progress,
        Metrics(folder, at.step) as metrics,
    ):
        while at.step < settings.maximum_steps and at.without_gain < settings.patience:
            if rate != (rate := learning_rate(settings, at.step, sampler.epoch())):
                set_learning_rate(optimiser, rate)
            total_loss += step(sampler.batch(at.step), at.step)
            at.step += 1
            validating = at.step % every == 0 or at.step == settings.maximum_steps

            if at.step % LOG_EVERY == 0 or validating:
                loss = float(total_loss) / (at.step - logged)
                if not math.isfinite(loss):
                    raise UserError(f"{folder}: the loss is {loss} at step {at.step}; lower training.learning_rate")
                metrics.write(at.step, loss=loss, epoch=sampler.epoch(), learning_rate=rate)
                best = f"  best {at.best_score:.4g} at {at.best_step}" if at.best_step else ""
                progress.advance(at.step - logged, f"loss {loss:.2f}{best}")
                logged, total_loss = at.step, torch.zeros((), device=where)

            if validating:
                found = validate(towers)
                at.without_gain += 1
                if found.score > at.best_score:
                    at.best_score, at.best_step, at.without_gain = found.score, at.step, 0
                    checkpoint.save_weights(run.weights_file, towers)
                metrics.write(at.step, validation=found.score, **found.also, languages=found.languages)

            if logged == at.step and time.monotonic() - saved >= checkpoint_seconds:
                at.sampler, at.seconds = sampler.state, time.monotonic() - started
                checkpoint.save(run.checkpoint_file, towers, optimiser, at)
                saved = time.monotonic()

    at.seconds = time.monotonic() - started
    told = facts(recipe, system, towers, train_set.corpus, data, tokeniser, where, precision, at)
    if system.task == "entailment":
        told |= temperature_facts(run, dataset, judging, before, device)
    write_json(run.facts_file, {**told, "score": score_name(system, recipe)})
    run.checkpoint_file.unlink(missing_ok=True)
    return run


def load_earlier(folder: Path, device: str) -> systems.Earlier:
    """A finished run, for the training that starts from it."""
    model = TrainedModel.load(folder, device)
    languages = trained_languages(Run(folder), model)
    return systems.Earlier(model.system, model.tokeniser, model.towers, tuple(languages))


def _already_there(run: Run, recipe: Recipe, resume: bool) -> bool:
    """True where the run is finished. A folder with another recipe, or one not to be resumed, is left untouched."""
    if run.folder.exists() and not run.folder.is_dir():
        raise UserError(f"{run.folder}: is a file, where a run needs a folder; choose another name")
    if not run.recipe_file.exists():
        if run.folder.exists() and any(not path.name.endswith(".part") for path in run.folder.iterdir()):
            raise UserError(f"{run.folder}: not empty and not a run; choose another folder")
        return False
    if not resume:
        raise UserError(f"{run.folder}: a run is there already; go on with --resume or choose another folder")
    if systems.meaning(run.recipe()) != systems.meaning(recipe):
        raise UserError(f"{run.folder}: holds a run of another recipe; choose another folder")
    return run.finished
