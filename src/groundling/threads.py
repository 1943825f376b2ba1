"""All cores at work, each on a part of its own."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import torch

Each = Callable[..., Iterable[Any]]  # the built-in `map`, or one that works on several parts at a time


@contextmanager
def workers(device: torch.device) -> Iterator[Each]:
    """A `map` that keeps all of torch's threads busy, each with a part of its own. Nothing in it is differentiated.

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
