"""A pull towards where weights started: pretrained word vectors are tuned, not forgotten (MULE; seed 001)."""

from torch import Tensor


def pull(weights: Tensor, start: Tensor) -> Tensor:
    """½‖E − E₀‖²"""
    return (weights - start).square().sum() / 2
