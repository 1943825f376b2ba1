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
    if distance == "euclidean":
        squares = 2 - 2 * one @ other.mT
        return squares.clamp(min=1e-8).sqrt()  # a vector and itself have no gradient rather than an infinite one
    if one.dim() == other.dim() == 2:  # in one pass: on a CPU, writing many distances once more costs as much
        return torch.addmm(one.new_ones(()), one, other.mT, alpha=-1)
    return 1 - one @ other.mT


def worst_triplets(
    apart: Tensor,
    right: Tensor,
    wrong: Tensor,
    margin: float = 0.05,
    most: int = 10,
    partners: int = 2,
    places: Tensor | None = None,
) -> Tensor:
    """The mean cost of each anchor's `most` costliest triplets, over all anchors.

    Args:
        apart: […, anchors, others] distances.
        right: which others belong to an anchor (broadcastable to `apart`).
        wrong: which do not; an other that is neither takes no part.
        partners: others that belong to one anchor, at the most.
        places: [anchors, partners] the others that may belong to an anchor, where they are known: nobody else is then
            asked for.

    All triplets of an anchor count, but the costliest are made of its farthest partners and its nearest strangers, so
    that no more than `most` of each need to be looked at. Those kept count in the mean whether they cost something or
    not; an anchor with fewer triplets keeps what it has. Shapes do not depend on the masks. Nothing is sorted where
    nothing is left out.

    Which they are is found first, and gradients go through these few alone: where there are many distances, a CPU
    spends its time on writing all of them anew for each operation that a gradient comes back through.
    """
    others = apart.shape[-1]
    with torch.no_grad():
        belong = _chosen(apart, right, min(partners, most, others), math.inf, places)
        strangers = _chosen(apart, wrong, min(most, others), -math.inf)
    picked = apart.gather(-1, torch.cat([belong, strangers], dim=-1))
    far, near = picked.split([belong.shape[-1], strangers.shape[-1]], dim=-1)
    far = torch.where(right.expand_as(apart).gather(-1, belong), far, -math.inf)
    near = torch.where(wrong.expand_as(apart).gather(-1, strangers), near, math.inf)
    kept = (margin + far[..., :, None] - near[..., None, :]).flatten(-2)
    if most < kept.shape[-1]:
        kept = kept.topk(most).values
    real = kept > -math.inf
    return torch.where(real, kept, 0).clamp(min=0).sum() / real.sum().clamp(min=1)


def _chosen(apart: Tensor, wanted: Tensor, count: int, side: float, places: Tensor | None = None) -> Tensor:
    """[…, anchors, count] which others are farthest (`side` > 0) or nearest, those that are wanted first."""
    if places is not None:
        known = places.expand(*apart.shape[:-1], -1)
        if count == places.shape[-1]:
            return known
        best = _chosen(apart.gather(-1, known), wanted.expand_as(apart).gather(-1, known), count, side)
        return known.gather(-1, best)
    if count == apart.shape[-1]:
        return torch.arange(count, device=apart.device).expand_as(apart)
    return apart.masked_fill(~wanted, -side).topk(count, largest=side > 0).indices
