"""Losses over the similarities of a batch, each found by its name."""

from collections.abc import Callable

from torch import Tensor

from groundling.objectives.contrastive import contrastive
from groundling.objectives.hardening import hardening_hinges
from groundling.objectives.hinge import max_of_hinges, sum_of_hinges

#: (scores, margin or temperature, pairs to spare) → loss
OBJECTIVES: dict[str, Callable[[Tensor, float, Tensor | None], Tensor]] = {
    "max_of_hinges": max_of_hinges,
    "sum_of_hinges": sum_of_hinges,
    "contrastive": contrastive,
}

__all__ = ["OBJECTIVES", "contrastive", "hardening_hinges", "max_of_hinges", "sum_of_hinges"]
