"""The most violated triplets of a batch.

Wang, Li, Huang and Lazebnik 2018, "Learning two-branch neural networks for image-text matching tasks",
https://arxiv.org/abs/1704.03470; the triplet loss of MULE (https://arxiv.org/abs/1909.03493) and of SMALR
(https://arxiv.org/abs/2004.04312, equation 1).

A triplet is an anchor x, something that belongs to it y⁺ and something that does not y⁻; it costs

    max(0, margin + d(x, y⁺) − d(x, y⁻)).

>>> apart, right = torch.tensor([[0.3, 0.32, 0.9]]), torch.tensor([[True, False, False]])
>>> round(worst_triplets(apart, right, ~right, margin=0.05, most=1, partners=1).item(), 4)  # 0.05 + 0.3 − 0.32
0.03
"""

import math
from typing import Literal

import torch
from torch import Tensor

Distance = Literal["cosine", "euclidean"]


def distances(one: Tensor, other: Tensor, distance: Distance = "cosine") -> Tensor:
    """[…, a, b] distances of unit vectors […, a, d] and […, b, d]: 1 − cosine (the paper) or Euclidean (the code)."""
    cosines = one @ other.transpose(-1, -2)
    if distance == "cosine":
        return 1 - cosines
    return (2 - 2 * cosines).clamp(min=1e-8).sqrt()  # a vector and itself have no gradient rather than an infinite one


def worst_triplets(
    apart: Tensor, right: Tensor, wrong: Tensor, margin: float = 0.05, most: int = 10, partners: int = 2
) -> Tensor:
    """The mean cost of each anchor's `most` costliest triplets, over all anchors.

    Args:
        apart: […, anchors, others] distances.
        right: which others belong to an anchor (broadcastable to `apart`).
        wrong: which do not; an other that is neither takes no part.
        partners: others that belong to one anchor, at the most.

    All triplets of an anchor count, but the costliest are made of its farthest partners and its nearest strangers, so
    that no more than `most` of each need to be looked at. Those kept count in the mean whether they cost something or
    not; an anchor with fewer triplets keeps what it has. Shapes do not depend on the masks. Nothing is sorted where
    nothing is left out.
    """
    others = apart.shape[-1]
    far = apart.masked_fill(~right, -math.inf).topk(min(partners, most, others)).values
    near = apart.masked_fill(~wrong, math.inf)
    if most < others:
        near = near.topk(most, largest=False).values
    kept = (margin + far[..., :, None] - near[..., None, :]).flatten(-2)
    if most < kept.shape[-1]:
        kept = kept.topk(most).values
    real = kept > -math.inf
    return torch.where(real, kept, 0).clamp(min=0).sum() / real.sum().clamp(min=1)
