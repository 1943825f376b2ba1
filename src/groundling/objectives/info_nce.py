"""Matching pairs against all others of a batch, with a temperature that is learned.

InfoNCE: van den Oord, Li and Vinyals 2018, "Representation learning with contrastive predictive coding",
https://arxiv.org/abs/1807.03748; both directions and the learned temperature: CLIP, Radford et al. 2021,
https://arxiv.org/abs/2103.00020.

    L = − ½ · mean over i of  log softmax over j of (s_ij / τ) at j = i  +  log softmax over i of (s_ij / τ) …

>>> import torch
>>> objective = InfoNCE(temperature=0.5)
>>> round(objective(torch.tensor([[1.0, 0.0], [0.0, 1.0]])).item(), 4)  # log(1 + exp(−2))
0.1269
"""

import math
from typing import ClassVar

import torch
from pydantic import Field, PositiveFloat
from torch import Tensor, nn

from groundling.objectives.objective import Objective, register

LARGEST_SCALE = 100.0  # 1 / τ, so that a batch of pairs that are told apart already does not sharpen for ever


@register
class InfoNCE(Objective):
    name: ClassVar = "info_nce"
    paper: ClassVar = "van den Oord et al. 2018 (InfoNCE); Radford et al. 2021 (CLIP)"
    temperature: PositiveFloat = Field(0.05, description="at the start; systems that train the objective learn it")

    def __call__(self, scores: Tensor, positives: Tensor | None = None, step: Tensor | None = None) -> Tensor:
        return info_nce(scores, 1 / self.temperature, positives)

    def module(self) -> nn.Module:
        return LearnedInfoNCE(self.temperature)


class LearnedInfoNCE(nn.Module):
    """The loss with its one parameter, the logarithm of 1 / τ."""

    def __init__(self, temperature: float = 0.05) -> None:
        super().__init__()
        self.log_scale = nn.Parameter(torch.tensor(math.log(1 / temperature)))

    def forward(
        self, scores: Tensor, positives: Tensor | None = None, real: Tensor | None = None, step: Tensor | None = None
    ) -> Tensor:
        return info_nce(scores, self.log_scale.exp().clamp(max=LARGEST_SCALE), positives, real)


def info_nce(
    scores: Tensor, scale: Tensor | float, positives: Tensor | None = None, real: Tensor | None = None
) -> Tensor:
    """The mean over all pairs that are there, both directions averaged; 0 where there is none.

    Args:
        scores: […, n, n] similarities; the diagonal holds the matching pairs of each batch.
        scale: 1 / τ.
        positives: […, n, n] further pairs that match in truth (false negatives): they leave the denominator.
        real: […, n] which pairs are there; the others take no part, neither as pairs nor as strangers.
    """
    n = scores.shape[-1]
    own = torch.eye(n, dtype=torch.bool, device=scores.device)
    absent = torch.zeros_like(scores, dtype=torch.bool) if positives is None else positives
    if real is not None:
        absent = absent | ~(real[..., None] & real[..., None, :])
    logits = (scores * scale).masked_fill(absent & ~own, -math.inf)
    costs = -(_diagonal(logits.log_softmax(dim=-1)) + _diagonal(logits.log_softmax(dim=-2))) / 2  # […, n]
    return costs.mean() if real is None else (costs * real).sum() / real.sum().clamp(min=1)


def _diagonal(matrices: Tensor) -> Tensor:
    return matrices.diagonal(dim1=-2, dim2=-1)
