"""What a training works with, from a recipe and its data: the same for a training and for a check that comes before."""

import os

import torch

from groundling.batches.stage import Learn, Stage
from groundling.corpus.pairs.source import PairSource
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.model import Model
from groundling.settings import Recipe
from groundling.systems import Context, Start, System
from groundling.training.validation import check_languages


def load_start(name: str | os.PathLike[str], device: str) -> Start:
    """A finished run, or a pretrained model, for the training that starts from it."""
    return Model.load(name, device).as_start()


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
    if material.pairs is not None:
        check_pairs(material.pairs)
        return Context(recipe, train, dev, device, learn, start, saved)
    judged = system.task == "entailment" and material.corpus.statements is not None
    check_languages(train.corpus, dev.corpus, "statements" if judged else "captions")
    return Context(recipe, train, dev, device, learn, start, saved)


def check_pairs(pairs: PairSource) -> None:
    """Every new language must be there to learn and to be asked."""
    for split in ("train", "dev"):
        there = pairs.split(split)
        missing = sorted(set(pairs.new) - set(there.languages))
        if missing:
            what = "learn from" if split == "train" else "be held out, by which the training is stopped"
            raise UserError(f"{there.name}: too few pairs in {', '.join(missing)}: none are left to {what}")


def learns_nothing(stage: Stage) -> None:
    """For a context that is only checked."""
    raise RuntimeError(f"{stage.name}: nothing is learned in a check")
