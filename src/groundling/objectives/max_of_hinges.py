"""The hinge of the hardest wrong pair only.

Faghri, Fleet, Kiros and Fidler 2018, "VSE++: Improving visual-semantic embeddings with hard negatives",
https://arxiv.org/abs/1707.05612.

>>> import torch
>>> objective = MaxOfHinges(margin=0.2)
>>> round(objective(torch.tensor([[0.5, 0.4, 0.6], [0.1, 0.9, 0.0], [0.1, 0.2, 0.8]])).item(), 4)  # of row 0: 0.3
0.3
"""

from typing import ClassVar

from pydantic import Field, PositiveFloat
from torch import Tensor

from groundling.objectives.hinge import hinge_costs
from groundling.objectives.objective import Objective, register


@register
class MaxOfHinges(Objective):
    """The costliest wrong pair of each row and of each column, summed over the batch."""

    name: ClassVar = "max_of_hinges"
    paper: ClassVar = "Faghri et al. 2018 (VSE++)"
    margin: PositiveFloat = Field(0.2, description="by which matching pairs shall score higher than wrong ones")

    def __call__(self, scores: Tensor, positives: Tensor | None = None, step: Tensor | None = None) -> Tensor:
        by_row, by_column = hinge_costs(scores, self.margin, positives)
        return by_row.amax(dim=1).sum() + by_column.amax(dim=0).sum()
