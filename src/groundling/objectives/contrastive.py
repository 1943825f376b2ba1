"""Cross-entropy over a batch of matching pairs (InfoNCE: van den Oord et al. 2018; as in CLIP, Radford et al. 2021)."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy


def contrastive(scores: Tensor, temperature: float = 0.05, spared: Tensor | None = None) -> Tensor:
    """Each row picks its column and each column its row: −log softmax of the diagonal, mean over rows and columns.

    `spared` marks wrong pairs that are right in truth; they leave the denominator.
    """
    logits = scores / temperature
    if spared is not None:
        matching = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
        logits = logits.masked_fill(spared & ~matching, float("-inf"))
    target = torch.arange(len(scores), device=scores.device)
    return (cross_entropy(logits, target) + cross_entropy(logits.T, target)) / 2
