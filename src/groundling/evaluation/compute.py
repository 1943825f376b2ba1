"""Full precision and all threads, for the ranking of tiles."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import torch

Each = Callable[..., Iterable[Any]]  # the built-in `map`, or one that works on several parts at a time


@contextmanager
def full_precision(device: torch.device) -> Iterator[None]:
    """Float32 products in float32, whatever training has set: neither autocast nor TF32 nor bfloat16 inside."""
    parts = [getattr(backend, "matmul", None) for backend in (torch.backends.cuda, torch.backends.mkldnn)]
    with torch.autocast(device.type, enabled=False):
        if all(hasattr(part, "fp32_precision") for part in parts):
            before = [part.fp32_precision for part in parts]  # type: ignore[union-attr]
            try:
                for part in parts:
                    part.fp32_precision = "ieee"  # type: ignore[union-attr]
                yield
            finally:
                for part, value in zip(parts, before, strict=True):
                    part.fp32_precision = value  # type: ignore[union-attr]
        else:  # before torch 2.9 there is one setting for all
            legacy = torch.get_float32_matmul_precision()
            try:
                torch.set_float32_matmul_precision("highest")
                yield
            finally:
                torch.set_float32_matmul_precision(legacy)


@contextmanager
def workers(device: torch.device) -> Iterator[Each]:
    """A `map` that keeps all of torch's threads busy, each with a part of its own.

    Torch would rather share out every single operation; the threads then wait for each other thousands of times, and
    on a machine that has other work to do each wait is long.
    """
    threads = torch.get_num_threads()
    if device.type != "cpu" or threads == 1:
        yield map
        return

    def work_alone() -> None:
        torch.set_num_threads(1)
        torch.set_grad_enabled(False)

    with ThreadPoolExecutor(threads, initializer=work_alone) as pool:
        try:
            yield pool.map
        finally:
            torch.set_num_threads(threads)  # what threads that start later go by
