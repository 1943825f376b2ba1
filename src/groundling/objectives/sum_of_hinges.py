"""The hinges of all wrong pairs, added up.

Kiros, Salakhutdinov and Zemel 2014, "Unifying visual-semantic embeddings with multimodal neural language models",
https://arxiv.org/abs/1411.2539.

>>> import torch
>>> objective = SumOfHinges(margin=0.2)
>>> round(objective(torch.tensor([[0.5, 0.4], [0.1, 0.9]])).item(), 4)
0.1
"""

from typing import ClassVar

from pydantic import Field, PositiveFloat
from torch import Tensor

from groundling.objectives.hinge import hinge_costs
from groundling.objectives.objective import Objective, register


@register
class SumOfHinges(Objective):
    """Σ over all wrong pairs of [margin − s(matching) + s(wrong)]₊, both directions, summed over the batch."""

    name: ClassVar = "sum_of_hinges"
    paper: ClassVar = "Kiros et al. 2014"
    margin: PositiveFloat = Field(0.2, description="by which matching pairs shall score higher than wrong ones")

    def __call__(self, scores: Tensor, positives: Tensor | None = None, step: Tensor | None = None) -> Tensor:
        by_row, by_column = hinge_costs(scores, self.margin, positives)
        return by_row.sum() + by_column.sum()
