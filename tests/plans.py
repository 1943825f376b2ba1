"""A system's plan for a small corpus, as a training would make it, and its loss on batches of one's own."""

from typing import Any

import numpy as np
import torch

from conftest import make_recipe
from groundling.corpus import Corpus
from groundling.dataset import Dataset
from groundling.systems import Context, Plan, Start
from groundling.training.planned import context_of

CPU = torch.device("cpu")


def dataset_of(corpus: Corpus, features: int = 5) -> Dataset:
    """With features at random."""
    draw = np.random.default_rng(0).standard_normal((len(corpus.pictures), features))
    return Dataset(corpus, draw.astype(np.float32))


def context(
    values: dict[str, Any],
    part: Dataset,
    training: dict[str, Any] | None = None,
    device: torch.device = CPU,
    start: Start | None = None,
    text: dict[str, Any] | None = None,
    features: dict[str, Any] | None = None,
) -> Context:
    recipe = make_recipe(training={"batch_size": 128, **(training or {})}, text=text or {}, features=features or {})
    return context_of(recipe.model_copy(update={"system": values}), part, device, start)


def plan(values: dict[str, Any], part: Dataset, *arguments: Any, **options: Any) -> Plan:
    from groundling import systems

    made = context(values, part, *arguments, **options)
    system = systems.make(values)
    return (system if made.start is None else system.taught_by(made.start.system)).setup(made)
