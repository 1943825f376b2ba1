"""The loss of verdicts: cross-entropy of three classes (seed 003, section 3.1)."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy


def verdict_loss(logits: Tensor, classes: Tensor) -> Tensor:
    """[n, 3] logits and [n] classes → the mean of −log p(class), in float32 whatever the precision of the step."""
    with torch.autocast(logits.device.type, enabled=False):
        return cross_entropy(logits.float(), classes)
