"""A training that is set up and not run: for benchmarks and tests, and for those who write a loop of their own."""

import math
from pathlib import Path

import torch

from groundling import systems
from groundling.batches.stage import Stage
from groundling.dataset import Dataset
from groundling.run import Run
from groundling.settings import Recipe
from groundling.systems import Context, Plan, Start
from groundling.training.checkpoint import Due
from groundling.training.loop import fit


def planned(
    recipe: Recipe, train: Dataset, device: torch.device = torch.device("cpu"), start: Start | None = None
) -> Plan:
    """The plan of a recipe on a training split; what has to be learned before the encoders can be made is learned."""
    return systems.make(recipe.system).setup(context_of(recipe, train, device, start))


def context_of(
    recipe: Recipe, train: Dataset, device: torch.device = torch.device("cpu"), start: Start | None = None
) -> Context:
    """What a training works with that writes no file."""

    def learn(stage: Stage) -> None:
        fit(Run(Path()), stage, Path("no checkpoint"), Due(math.inf))

    return Context(recipe, train, train, device, learn, start)
