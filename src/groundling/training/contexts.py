"""What a training works with, from a recipe and its data: the same for a training and for a check that comes before."""

from pathlib import Path

import torch

from groundling.batches.stage import Learn, Stage
from groundling.dataset import Dataset
from groundling.model.trained import TrainedModel
from groundling.settings import Recipe
from groundling.systems import Context, Start, System
from groundling.training.validation import check_languages


def load_start(folder: Path, device: str) -> Start:
    """A finished run, for the training that starts from it."""
    model = TrainedModel.load(folder, device)
    return Start(model.system, model.tokeniser, model.encoders, tuple(model.languages))


def make_context(
    recipe: Recipe,
    system: System,
    dataset: Dataset,
    device: torch.device,
    learn: Learn,
    start: Start | None = None,
    saved: dict[str, object] | None = None,
) -> Context:
    """Every language must be there to train on and to validate on."""
    material = system.material(dataset, start)
    train, dev = material.split("train"), material.split("dev")
    judged = system.task == "entailment" and material.corpus.statements is not None
    check_languages(train.corpus, dev.corpus, "statements" if judged else "captions")
    return Context(recipe, train, dev, device, learn, start, saved)


def learns_nothing(stage: Stage) -> None:
    """For a context that is only checked."""
    raise RuntimeError(f"{stage.name}: nothing is learned in a check")
