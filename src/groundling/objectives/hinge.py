"""Hinges: what a wrong pair costs that scores nearly as high as a matching one, or higher."""

import torch
from torch import Tensor


def hinge_costs(scores: Tensor, margin: float, positives: Tensor | None = None) -> tuple[Tensor, Tensor]:
    """[margin − s(matching) + s(wrong)]₊ of every wrong pair, by row and by column; matching pairs cost nothing.

    `positives` marks further pairs that match in truth, such as two captions of one picture, and cost nothing either.

    >>> by_row, by_column = hinge_costs(torch.tensor([[0.5, 0.4], [0.1, 0.9]]), margin=0.2)
    >>> by_row.round(decimals=2).tolist()  # 0.2 − 0.5 + 0.4, and nothing: 0.2 − 0.9 + 0.1 is below zero
    [[0.0, 0.10000000149011612], [0.0, 0.0]]
    """
    matching = scores.diagonal()
    right = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    if positives is not None:
        right = right | positives
    by_row = (margin + scores - matching[:, None]).clamp(min=0).masked_fill(right, 0)
    by_column = (margin + scores - matching[None, :]).clamp(min=0).masked_fill(right, 0)
    return by_row, by_column
