"""A student learns how similar its teachers find things: their similarity distributions, not their vectors.

Tian et al. 2021, "SEED: Self-supervised distillation for visual representation", https://arxiv.org/abs/2101.04731
(one teacher, a queue in place of the batch); several teachers are one whose similarities are the mean of theirs.
For each picture the teachers spread one over the captions of the batch, and for each caption one over the pictures;

    L = ½ · KL(softmax(t_i· / τ) ‖ softmax(s_i· / τ))  +  ½ · KL(softmax(t_·i / τ) ‖ softmax(s_·i / τ)).
"""

import math

import torch
from torch import Tensor
from torch.nn.functional import normalize


def similarity_distillation(
    scores: Tensor, teacher: Tensor, temperature: float = 0.05, real: Tensor | None = None
) -> Tensor:
    """The mean over all rows and columns that are there. No gradient reaches the teacher.

    Args:
        scores, teacher: […, n, n] similarities.
        real: […, n] which rows and columns are there.
    """
    if real is None:
        real = torch.ones(scores.shape[:-1], dtype=torch.bool, device=scores.device)
    both = real[..., None] & real[..., None, :]
    total = scores.new_zeros(())
    for dim in (-1, -2):
        target = _log_shares(teacher.detach() / temperature, both, dim)
        own = _log_shares(scores / temperature, both, dim)
        total = total + torch.where(both, target.exp() * (target - own), 0).sum() / 2
    return total / real.sum().clamp(min=1)


def _log_shares(logits: Tensor, both: Tensor, dim: int) -> Tensor:
    """Log softmax over what is there; 0 elsewhere, where it is not looked at and must have no gradient."""
    shares = logits.masked_fill(~both, -math.inf).log_softmax(dim=dim)
    return torch.where(both, shares, 0)


def joined(vectors: list[Tensor]) -> Tensor:
    """[n, d₁], [n, d₂], … unit vectors of several teachers → [n, Σ d], whose products are the mean of theirs."""
    return torch.cat([normalize(part.float(), dim=-1) for part in vectors], dim=-1) / math.sqrt(len(vectors))
