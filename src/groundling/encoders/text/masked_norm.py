"""Batch normalisation over the real entries of a padded batch.

Ioffe and Szegedy 2015, https://arxiv.org/abs/1502.03167; renormalised: Ioffe 2017, https://arxiv.org/abs/1702.03275

Padding has no say in the statistics, so that a word is normalised the same whatever stands beside it. Shapes do not
depend on how much is real, which a recorded step on a GPU needs.
"""

import torch
from torch import Tensor, nn

WARM_UP = 1000  # steps until renormalisation may correct as much as it ever may
LARGEST_SCALE, LARGEST_SHIFT = 3.0, 5.0  # as in Ioffe 2017


class MaskedBatchNorm(nn.Module):
    """`nn.BatchNorm1d` of the entries that are real. Statistics are computed in float32 whatever comes in.

    With `renormalise` (batch renormalisation, Ioffe 2017) entries are normalised in training as they will be later, by
    the running statistics, while gradients still flow through those of the batch. It is for batches that are not all
    alike: one language each, say, whose letters have statistics of their own. Corrections grow with the first steps,
    until the running statistics mean something; these change slowly, so as not to be those of the last few languages.
    """

    running_mean: Tensor
    running_variance: Tensor
    steps: Tensor

    def __init__(
        self, dimensions: int, momentum: float | None = None, epsilon: float = 1e-5, renormalise: bool = False
    ) -> None:
        super().__init__()
        self.momentum = (0.01 if renormalise else 0.1) if momentum is None else momentum
        self.epsilon, self.renormalise = epsilon, renormalise
        self.weight = nn.Parameter(torch.ones(dimensions))
        self.bias = nn.Parameter(torch.zeros(dimensions))
        self.register_buffer("running_mean", torch.zeros(dimensions))
        self.register_buffer("running_variance", torch.ones(dimensions))
        if renormalise:
            self.register_buffer("steps", torch.zeros(()))

    def forward(self, values: Tensor, real: Tensor) -> Tensor:
        """[…, dimensions] values and […] which of them are real → the same shape, normalised, in float32."""
        with torch.autocast(values.device.type, enabled=False):
            values = values.float()
            if not self.training:
                scale = self.weight * (self.running_variance + self.epsilon).rsqrt()
                return (values - self.running_mean) * scale + self.bias
            weight = real.float()[..., None]
            others = tuple(range(values.dim() - 1))
            count = weight.sum().clamp(min=1)
            mean = (values * weight).sum(others) / count
            variance = ((values - mean).square() * weight).sum(others) / count
            normal = (values - mean) * (variance + self.epsilon).rsqrt()
            if self.renormalise:
                scale, shift = self._corrections(mean, variance)
                normal = normal * scale + shift
            with torch.no_grad():  # what is kept is the unbiased variance, as in nn.BatchNorm1d
                self.running_mean.lerp_(mean, self.momentum)
                self.running_variance.lerp_(variance * count / (count - 1).clamp(min=1), self.momentum)
            return normal * self.weight + self.bias

    @torch.no_grad()
    def _corrections(self, mean: Tensor, variance: Tensor) -> tuple[Tensor, Tensor]:
        """r = σ of the batch / running σ and d = (μ of the batch − running μ) / running σ, so far as allowed by now."""
        allowed = (self.steps / WARM_UP).clamp(max=1)
        self.steps += 1
        running = (self.running_variance + self.epsilon).sqrt()
        scale = (variance + self.epsilon).sqrt() / running
        largest = 1 + (LARGEST_SCALE - 1) * allowed
        shift = (mean - self.running_mean) / running
        most = LARGEST_SHIFT * allowed
        return torch.minimum(torch.maximum(scale, 1 / largest), largest), torch.minimum(
            torch.maximum(shift, -most), most
        )
