"""Losses over the similarities of a batch, each found by its name."""

from collections.abc import Callable

from torch import Tensor

from groundling.objectives.adversary import language_guess, reversed_gradient, strength
from groundling.objectives.contrastive import contrastive
from groundling.objectives.hardening import hardening_hinges
from groundling.objectives.hinge import max_of_hinges, sum_of_hinges
from groundling.objectives.neighbourhood import neighbourhood
from groundling.objectives.pull import pull
from groundling.objectives.triplets import distances, worst_triplets

#: (scores, margin or temperature, pairs to spare) → loss
OBJECTIVES: dict[str, Callable[[Tensor, float, Tensor | None], Tensor]] = {
    "max_of_hinges": max_of_hinges,
    "sum_of_hinges": sum_of_hinges,
    "contrastive": contrastive,
}

__all__ = [
    "OBJECTIVES",
    "contrastive",
    "distances",
    "hardening_hinges",
    "language_guess",
    "max_of_hinges",
    "neighbourhood",
    "pull",
    "reversed_gradient",
    "strength",
    "sum_of_hinges",
    "worst_triplets",
]
