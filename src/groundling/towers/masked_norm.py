"""Batch normalisation over the real entries of a padded batch (Ioffe and Szegedy 2015).

Padding has no say in the statistics, so that a word is normalised the same whatever stands beside it. Shapes do not
depend on how much is real, which a recorded step on a GPU needs.
"""

import torch
from torch import Tensor, nn


class MaskedBatchNorm(nn.Module):
    """`nn.BatchNorm1d` of the entries that are real. Statistics are computed in float32 whatever comes in."""

    running_mean: Tensor
    running_variance: Tensor

    def __init__(self, dimensions: int, momentum: float = 0.1, epsilon: float = 1e-5) -> None:
        super().__init__()
        self.momentum, self.epsilon = momentum, epsilon
        self.weight = nn.Parameter(torch.ones(dimensions))
        self.bias = nn.Parameter(torch.zeros(dimensions))
        self.register_buffer("running_mean", torch.zeros(dimensions))
        self.register_buffer("running_variance", torch.ones(dimensions))

    def forward(self, values: Tensor, real: Tensor) -> Tensor:
        """[…, dimensions] values and […] which of them are real → the same shape, normalised, in float32."""
        with torch.autocast(values.device.type, enabled=False):
            values = values.float()
            if not self.training:
                mean, variance = self.running_mean, self.running_variance
            else:
                weight = real.float()[..., None]
                others = tuple(range(values.dim() - 1))
                count = weight.sum().clamp(min=1)
                mean = (values * weight).sum(others) / count
                variance = ((values - mean).square() * weight).sum(others) / count
                with torch.no_grad():  # what is kept is the unbiased variance, as in nn.BatchNorm1d
                    self.running_mean.lerp_(mean, self.momentum)
                    self.running_variance.lerp_(variance * count / (count - 1).clamp(min=1), self.momentum)
            scale = self.weight * (variance + self.epsilon).rsqrt()
            return (values - mean) * scale + self.bias
