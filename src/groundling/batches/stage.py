"""Something to be learned, described so completely that the training loop has nothing more to ask."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from groundling.batches.data import TrainingData
from groundling.batches.sampler import Batch, DeviceBatch, Sampler
from groundling.settings import TrainingSettings

#: (what is trained, data, batch) → the loss of the batch
Loss = Callable[[Any, TrainingData, DeviceBatch], Tensor]


@dataclass(frozen=True)
class Stage:
    """A module with what it learns from and how: most trainings have one stage, some learn something else before.

    Attributes:
        name: what is learned, in words; a stage's checkpoint is named by it.
        settings: learning rate, optimiser, number of steps and the like.
        rates: how much faster or slower than the others some parameters learn, by the beginning of their names.
        bring: brings to the device what a batch needs beside its rows; called before each step.
        recordable: whether a step on a GPU can be recorded once and replayed, which needs shapes that do not depend on
            the values of a batch.
    """

    name: str
    module: nn.Module
    data: TrainingData
    sampler: Sampler
    loss: Loss
    settings: TrainingSettings
    recordable: bool = True
    rates: Mapping[str, float] = field(default_factory=dict)
    bring: Callable[[Batch], None] | None = None


#: Trains a stage to its end, in place; a training that was killed goes on where it was.
Learn = Callable[[Stage], None]
