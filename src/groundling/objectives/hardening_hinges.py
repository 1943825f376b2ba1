"""Hinges that turn from all wrong pairs to the hardest ones while training goes on.

Wehrmann, Souza, Lopes and Barros 2019, "Language-agnostic visual-semantic embeddings" (LIWE),
https://doi.org/10.1109/ICCV.2019.00590, section 1 of the supplement:

    J = (1 − k)·sum of hinges + k·max of hinges,   k = 1 − εᵗ at the t-th step

>>> import torch
>>> objective, scores = HardeningHinges(margin=0.2), torch.tensor([[0.5, 0.4], [0.1, 0.9]])
>>> round(objective(scores, step=torch.tensor(0.0)).item(), 4)
0.1
"""

from typing import ClassVar

import torch
from pydantic import Field, PositiveFloat
from torch import Tensor

from groundling.objectives.hinge import hinge_costs
from groundling.objectives.objective import Objective, register


@register
class HardeningHinges(Objective):
    """(1 − k)·sum of hinges + k·max of hinges; without a step, as at the first one."""

    name: ClassVar = "hardening_hinges"
    paper: ClassVar = "Wehrmann et al. 2019 (LIWE)"
    margin: PositiveFloat = Field(0.2, description="by which matching pairs shall score higher than wrong ones")
    rate: float = Field(0.991, ge=0, le=1, description="ε: the hardest pairs weigh 1 − εᵗ at step t")

    def __call__(self, scores: Tensor, positives: Tensor | None = None, step: Tensor | None = None) -> Tensor:
        by_row, by_column = hinge_costs(scores, self.margin, positives)
        k = hardness(self.rate, torch.zeros((), device=scores.device) if step is None else step)
        everything = by_row.sum() + by_column.sum()
        hardest = by_row.amax(dim=1).sum() + by_column.amax(dim=0).sum()
        return (1 - k) * everything + k * hardest


def hardness(rate: float, step: Tensor) -> Tensor:
    """k = 1 − rateᵗ at the t-th step of training, of which `step` (a tensor) are over: t = step + 1.

    With the rate .991 the hardest pairs weigh half at t = 77 and .99 at t = 509. The step belongs to training, so that
    evaluation does not advance it and a resumed training goes on where it was.
    """
    return 1 - rate ** (step + 1)
