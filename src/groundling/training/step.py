"""One step of training: forward, backward, clip, update."""

from collections.abc import Callable

import torch
from torch import Tensor

from groundling.batches import Batch, TrainingData
from groundling.devices import autocast
from groundling.systems import System, Towers

Step = Callable[[Batch], Tensor]


class EagerStep:
    """The plain step; runs anywhere."""

    def __init__(
        self,
        system: System,
        towers: Towers,
        data: TrainingData,
        optimiser: torch.optim.Optimizer,
        clip: float,
        precision: str,
    ) -> None:
        self.system, self.towers, self.data, self.optimiser = system, towers, data, optimiser
        self.clip, self.precision = clip, precision
        self.device = data.features.device

    def __call__(self, batch: Batch) -> Tensor:
        captions = torch.from_numpy(batch.captions).to(self.device, non_blocking=True)
        partners = torch.from_numpy(batch.partners).to(self.device, non_blocking=True)
        with autocast(self.device, self.precision):
            loss = self.system.loss(self.towers, self.data, batch.kind, captions, partners, batch.longest)
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.towers.parameters(), self.clip)
        self.optimiser.step()
        return loss.detach()


def make_step(
    system: System,
    towers: Towers,
    data: TrainingData,
    optimiser: torch.optim.Optimizer,
    clip: float,
    precision: str,
) -> Step:
    return EagerStep(system, towers, data, optimiser, clip, precision)
