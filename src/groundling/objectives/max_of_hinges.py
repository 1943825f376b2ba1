"""The hinge of the hardest wrong pair only.

Faghri, Fleet, Kiros and Fidler 2018, "VSE++: Improving visual-semantic embeddings with hard negatives",
https://arxiv.org/abs/1707.05612.

>>> import torch
>>> objective = MaxOfHinges(margin=0.2)
>>> round(objective(torch.tensor([[0.5, 0.4, 0.6], [0.1, 0.9, 0.0], [0.1, 0.2, 0.8]])).item(), 4)  # of row 0: 0.3
0.3

From random weights the hardest pair is cheapest where everything is alike, at the margin each, and trainings can rest
there for thousands of steps. With `warm_up_steps` all wrong pairs count at first (Kiros et al. 2014), as much later
work begins. The turn is sudden: on F8K-7 with seven languages recall fell to less than a half there, and where
it came back it had taken thousands of steps, which early stopping must allow for (docs/results/lessons-f8k7.md):

>>> warmed = MaxOfHinges(margin=0.2, warm_up_steps=100)
>>> scores = torch.tensor([[0.5, 0.4, 0.6], [0.1, 0.9, 0.0], [0.1, 0.2, 0.8]])
>>> [round(warmed(scores, step=torch.tensor(step)).item(), 4) for step in (99, 100)]  # 0.1 + 0.3, then 0.3
[0.4, 0.3]
"""

from typing import ClassVar

import torch
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

    warm_up_steps: int = Field(
        0,
        ge=0,
        description="steps in which all wrong pairs count, added up; only then the hardest; 0 as published. Recall "
        "may fall at the turn and take thousands of steps to come back, as it did with seven languages of F8K-7: give "
        "early stopping as much patience",
    )

    def __call__(self, scores: Tensor, positives: Tensor | None = None, step: Tensor | None = None) -> Tensor:
        by_row, by_column = hinge_costs(scores, self.margin, positives)
        hardest = by_row.amax(dim=1).sum() + by_column.amax(dim=0).sum()
        if not self.warm_up_steps or step is None:
            return hardest
        return torch.where(step < self.warm_up_steps, by_row.sum() + by_column.sum(), hardest)
