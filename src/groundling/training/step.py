"""One step of training: forward, backward, clip, update."""

from collections.abc import Callable, Mapping

import torch
from torch import Tensor, nn

from groundling.batches import Batch, DeviceBatch
from groundling.batches.stage import Stage
from groundling.devices import autocast
from groundling.settings import TrainingSettings
from groundling.training import processes
from groundling.training.average import MovingAverage

Step = Callable[[Batch, int], Tensor]


class EagerStep:
    """The plain step; runs anywhere."""

    def __init__(
        self, stage: Stage, optimiser: torch.optim.Optimizer, precision: str, average: MovingAverage | None = None
    ) -> None:
        self.stage, self.optimiser, self.precision, self.average = stage, optimiser, precision, average
        self.device = stage.data.features.device
        self.step = torch.zeros((), device=self.device)

    def __call__(self, batch: Batch, step: int) -> Tensor:
        """Takes the step, the one after `step` others, and returns the loss before it."""
        if self.stage.bring is not None:
            self.stage.bring(batch)
        self.step.fill_(step)
        self.optimiser.zero_grad(set_to_none=True)
        return self.compute(batch, torch.from_numpy(batch.rows).to(self.device, non_blocking=True))

    def compute(self, batch: Batch, rows: Tensor) -> Tensor:
        """From rows on the device to updated weights; gradients must be absent."""
        with autocast(self.device, self.precision):
            placed = DeviceBatch(batch.kind, rows, batch.longest, self.step, batch.packing)
            loss = self.stage.loss(self.stage.module, self.stage.data, placed)
        if loss.requires_grad:  # a batch may have nothing to learn from
            loss.backward()
            processes.average_gradients(self.stage.module)
            if self.stage.settings.clip is not None:
                torch.nn.utils.clip_grad_norm_(self.stage.module.parameters(), self.stage.settings.clip)
            self.optimiser.step()
        if self.average is not None:
            self.average.update(self.step)
        return loss.detach()


class GraphStep:
    """The same step recorded once per kind, length and packing of batch as a CUDA graph, then replayed.

    A small recurrent model spends most of an eager step launching kernels; a replay launches all of them at once. The
    first batch of such a kind runs eagerly (it warms up the libraries), the second is recorded, all later ones
    are replayed from the same buffers. Gradients are made anew in every step, as in the plain one: what a batch does
    not touch, such as pictures in a batch of caption pairs, has none and stays as it is.
    """

    def __init__(self, eager: EagerStep) -> None:
        self.eager = eager
        self.seen: set[tuple[object, ...]] = set()
        self.graphs: dict[tuple[object, ...], tuple[torch.cuda.CUDAGraph, Tensor, Tensor]] = {}
        self.pool = torch.cuda.graph_pool_handle()
        self.stream = torch.cuda.Stream()

    def __call__(self, batch: Batch, step: int) -> Tensor:
        key = (batch.kind, batch.longest, batch.packing, *batch.rows.shape)
        host = torch.from_numpy(batch.rows)
        if self.eager.stage.bring is not None:
            self.eager.stage.bring(batch)
        self.eager.step.fill_(step)
        if key not in self.seen:
            self.seen.add(key)
            return self._eagerly(batch, host)
        if key not in self.graphs:
            self.graphs[key] = self._record(batch, host)
        graph, rows, loss = self.graphs[key]
        rows.copy_(host, non_blocking=True)
        graph.replay()
        return loss

    def _eagerly(self, batch: Batch, host: Tensor) -> Tensor:
        # On a side stream, as recording will be: autograd remembers the stream that gradients were first made on.
        self.stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self.stream):
            rows = host.to(self.eager.device)
            self.eager.optimiser.zero_grad(set_to_none=True)
            loss = self.eager.compute(batch, rows)
        torch.cuda.current_stream().wait_stream(self.stream)
        return loss

    def _record(self, batch: Batch, host: Tensor) -> tuple[torch.cuda.CUDAGraph, Tensor, Tensor]:
        rows = host.to(self.eager.device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self.pool, stream=self.stream):
            self.eager.optimiser.zero_grad(set_to_none=True)
            loss = self.eager.compute(batch, rows)
        return graph, rows, loss


def make_optimiser(
    module: nn.Module, settings: TrainingSettings, device: torch.device, rates: Mapping[str, float] | None = None
) -> torch.optim.Optimizer:
    """Adam in one kernel; on a GPU its learning rate is a tensor, which a recorded step reads anew each time.

    Parameters that learn faster or slower (`rates`, see `Stage`) are groups of their own, with their `factor`.
    """
    factors = {"": 1.0, **(rates or {})}
    groups: dict[str, list[nn.Parameter]] = {prefix: [] for prefix in factors}
    for name, parameter in module.named_parameters():
        groups[max((prefix for prefix in factors if name.startswith(prefix)), key=len)].append(parameter)
    on_gpu = device.type == "cuda"
    described = [
        {
            "params": parameters,
            "factor": factors[prefix],
            "lr": torch.tensor(settings.learning_rate, device=device) if on_gpu else settings.learning_rate,
        }
        for prefix, parameters in groups.items()
        if parameters
    ]
    kind = torch.optim.AdamW if settings.optimiser == "adamw" else torch.optim.Adam
    return kind(described, weight_decay=settings.weight_decay, fused=device.type in ("cpu", "cuda"), capturable=on_gpu)


def set_learning_rate(optimiser: torch.optim.Optimizer, rate: float) -> None:
    for group in optimiser.param_groups:
        if isinstance(group["lr"], Tensor):
            group["lr"].fill_(rate * group["factor"])
        else:
            group["lr"] = rate * group["factor"]


def fastest(eager: EagerStep) -> Step:
    """The same step in the fastest form that its device has."""
    recordable = eager.device.type == "cuda" and eager.stage.recordable and processes.count() == 1
    return GraphStep(eager) if recordable else eager
