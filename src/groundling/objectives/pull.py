"""A pull towards where weights started: pretrained word vectors are tuned, not forgotten.

MULE, Kim et al. 2020 (https://arxiv.org/abs/1909.03493); SMALR, Burns et al. 2020 (https://arxiv.org/abs/2004.04312).

>>> import torch
>>> pull(torch.tensor([[3.0, 0.0]]), torch.tensor([[1.0, 1.0]])).item()  # (4 + 1) / 2
2.5
"""

from torch import Tensor


def pull(weights: Tensor, start: Tensor) -> Tensor:
    """½‖E − E₀‖²"""
    return (weights - start).square().sum() / 2
