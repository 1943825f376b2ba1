"""The loss of judging statements about pictures: cross-entropy of three classes.

Xie, Lai, Doran and Kadav 2019, "Visual entailment: A novel task for fine-grained image understanding",
https://arxiv.org/abs/1901.06706; as in CLIP-VE (Xu 2024, section 3.1).

>>> round(entailment_loss(torch.zeros(2, 3), torch.tensor([0, 2])).item(), 4)  # three classes, no idea: log 3
1.0986
"""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy


def entailment_loss(logits: Tensor, classes: Tensor) -> Tensor:
    """[n, 3] logits and [n] classes → the mean of −log p(class), in float32 whatever the precision of the step."""
    with torch.autocast(logits.device.type, enabled=False):
        return cross_entropy(logits.float(), classes)
