"""The moving average of a module's weights over the steps of its training, which is what is validated and kept.

Polyak and Juditsky 1992, "Acceleration of stochastic approximation by averaging"; as an exponential average of the
weights of deep networks: Izmailov et al. 2018, https://arxiv.org/abs/1803.05407, and many before.

    a ← a + (1 − d) · (w − a),   d = min(decay, t / (t + 1)) at the t-th step, counted from 0:

at first the plain mean of all weights so far, so that the random ones at the start are forgotten at once, then an
average over the last 1 / (1 − decay) steps.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class MovingAverage:
    """Of all parameters that are trained; whatever else belongs to the module has no average."""

    def __init__(self, module: nn.Module, decay: float) -> None:
        self.decay = decay
        named = [(name, value) for name, value in module.named_parameters() if value.requires_grad]
        self.names = [name for name, _ in named]
        self._weights = [value.data for _, value in named]
        self._average = [value.clone() for value in self._weights]

    @torch.no_grad()
    def update(self, step: Tensor) -> None:
        """After a step, `step` others of which were taken before; a tensor, so that a recorded step reads it anew."""
        share = 1 - torch.clamp(step / (step + 1), max=self.decay)
        apart = torch._foreach_sub(self._weights, self._average)
        torch._foreach_mul_(apart, share)
        torch._foreach_add_(self._average, apart)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """The module has the average in the place of its weights inside; its own again after, bit for bit."""
        own = [value.clone() for value in self._weights]
        torch._foreach_copy_(self._weights, self._average)
        try:
            yield
        finally:
            torch._foreach_copy_(self._weights, own)

    def state(self) -> dict[str, Tensor]:
        return dict(zip(self.names, self._average, strict=True))

    def load(self, state: Mapping[str, Tensor]) -> None:
        torch._foreach_copy_(self._average, [state[name].to(value.device) for name, value in self.state().items()])
