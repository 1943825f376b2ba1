"""A GPU that need not wait: while it computes one batch, the next ones are put together and copied there, and the last
one comes back.

Threads put batches together. The network is called by one thread only, the caller's: cuDNN prepares each layer anew for
each thread that calls it and for each size of a batch (two seconds for EfficientNet-Lite0 on an H200, as long as 30,000
pictures take). So all batches have the same size, too: the last one is filled up.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from groundling.vision.backbones import Backbone
from groundling.vision.decoding import ahead, cancelled_on_error
from groundling.vision.preprocessing import Pixels, Preprocessing

HANDS = 3  # threads that put batches together
BEGUN = 2  # batches that the GPU has, so that there is a next one when one is done

Item = TypeVar("Item")
Ready = TypeVar("Ready")
Running = TypeVar("Running")
Result = TypeVar("Result")


def overlapped(
    put: Callable[[Item], Ready],
    begin: Callable[[Ready], Running],
    end: Callable[[Running], Result],
    batches: Iterable[Item],
) -> Iterator[Result]:
    """`end(begin(put(batch)))` of each batch, in order.

    `put` is called in threads, ahead of the others; `begin` and `end` here, `end` when the next batches have begun.
    """
    with ThreadPoolExecutor(HANDS) as pool, cancelled_on_error(pool):
        begun: deque[Running] = deque()
        for ready in ahead(pool, put, batches, limit=HANDS + 1):
            begun.append(begin(ready))
            if len(begun) > BEGUN:
                yield end(begun.popleft())
        while begun:
            yield end(begun.popleft())


class Copied(NamedTuple):
    """A batch on its way to the GPU: so many `real` pictures, then what it is filled up with."""

    real: int
    pixels: Tensor
    there: torch.cuda.Event


class Computed(NamedTuple):
    """Features on their way back."""

    real: int
    features: Tensor
    here: torch.cuda.Event


class GPUEncoding:
    """Features of batches of pictures by a backbone that is on a GPU; `size`: pictures of a batch."""

    def __init__(self, backbone: Backbone, preprocessing: Preprocessing, size: int) -> None:
        self.backbone, self.preprocessing, self.size = backbone, preprocessing, size
        self._own = threading.local()

    def __call__(self, batches: Iterable[list[Pixels]]) -> Iterator[npt.NDArray[np.float32]]:
        torch.cuda.synchronize(self.backbone.device)  # what was begun by others, such as moving the network, is done
        return overlapped(self.put, self.begin, self.end, batches)

    def put(self, pixels: list[Pixels]) -> Copied:
        full = [*pixels, *pixels[-1:] * (self.size - len(pixels))]
        if not hasattr(self._own, "stream"):
            self._own.stream = torch.cuda.Stream(self.backbone.device)
        with torch.cuda.stream(self._own.stream):
            pictures = self.backbone.together(full).to(self.backbone.device, non_blocking=True)
            there = torch.cuda.Event()
            there.record()
        return Copied(len(pixels), pictures, there)

    def begin(self, batch: Copied) -> Computed:
        with torch.cuda.device(self.backbone.device):
            stream = torch.cuda.current_stream()
            stream.wait_event(batch.there)
            batch.pixels.record_stream(stream)
            features = self.backbone.look(batch.pixels, self.preprocessing).to("cpu", non_blocking=True)
            here = torch.cuda.Event()
            here.record()
        return Computed(batch.real, features, here)

    def end(self, batch: Computed) -> npt.NDArray[np.float32]:
        batch.here.synchronize()
        return self.backbone.finite(batch.features[: batch.real].clone())  # what is pinned is for the next batch
