"""A classifier that guesses the language, and an embedding that learns to leave it guessing.

Gradient reversal: Ganin and Lempitsky 2015, "Unsupervised domain adaptation by backpropagation",
https://arxiv.org/abs/1409.7495; as the language classifier of MULE (Kim et al. 2020, https://arxiv.org/abs/1909.03493)
and SMALR (Burns et al. 2020, https://arxiv.org/abs/2004.04312, section 3.3).

>>> values = torch.ones(2, requires_grad=True)
>>> reversed_gradient(values, torch.tensor(0.5)).sum().backward()
>>> values.grad
tensor([-0.5000, -0.5000])
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.nn.functional import cross_entropy


def strength(step: Tensor, steps: int, most: float = 1e-6) -> Tensor:
    """(2 / (1 + e^(−10p)) − 1)·`most`, where p is the share of `steps` that is over: from 0 to almost `most`."""
    over = (step / steps).clamp(max=1)
    return (2 / (1 + torch.exp(-10 * over)) - 1) * most


def reversed_gradient(values: Tensor, factor: Tensor) -> Tensor:
    """The values as they are; on the way back, the gradient times −`factor`."""
    result: Tensor = _Reverse.apply(values, factor)  # type: ignore[no-untyped-call]
    return result


def language_guess(logits: Tensor, languages: Tensor, real: Tensor) -> Tensor:
    """The mean cross-entropy of the captions that are there.

    Args:
        logits: [captions, languages] of the classifier.
        languages: [captions] the number of the right one.
        real: [captions] which captions are there.
    """
    costs = cross_entropy(logits, languages, reduction="none")
    return torch.where(real, costs, 0).sum() / real.sum().clamp(min=1)


class _Reverse(Function):
    @staticmethod
    def forward(context: Any, values: Tensor, factor: Tensor) -> Tensor:
        context.save_for_backward(factor)
        return values.view_as(values)

    @staticmethod
    def backward(context: Any, upstream: Tensor) -> tuple[Tensor, None]:
        (factor,) = context.saved_tensors
        return -factor * upstream, None
