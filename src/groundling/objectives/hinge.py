"""Hinge ranking losses over a batch of matching pairs.

Sum of hinges: Kiros et al. 2014. Hardest negative only: VSE++, Faghri et al. 2018.
`scores[i, j]` is the similarity of item i of one side and item j of the other; the diagonal holds the matching pairs.
"""

import torch
from torch import Tensor


def hinge_costs(scores: Tensor, margin: float, spared: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """Cost of every wrong pair, by row and by column; matching pairs (the diagonal) cost nothing.

    `spared` marks further pairs that are right in truth, such as two captions of one picture, and cost nothing either.
    """
    matching = scores.diagonal()
    right = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    if spared is not None:
        right = right | spared
    by_row = (margin + scores - matching[:, None]).clamp(min=0).masked_fill(right, 0)
    by_column = (margin + scores - matching[None, :]).clamp(min=0).masked_fill(right, 0)
    return by_row, by_column


def sum_of_hinges(scores: Tensor, margin: float = 0.2, spared: Tensor | None = None) -> Tensor:
    """Σ over all wrong pairs of [margin − s(matching) + s(wrong)]₊, both directions, summed over the batch."""
    by_row, by_column = hinge_costs(scores, margin, spared)
    return by_row.sum() + by_column.sum()


def max_of_hinges(scores: Tensor, margin: float = 0.2, spared: Tensor | None = None) -> Tensor:
    """The costliest wrong pair of each row and of each column, summed over the batch."""
    by_row, by_column = hinge_costs(scores, margin, spared)
    return by_row.amax(dim=1).sum() + by_column.amax(dim=0).sum()
