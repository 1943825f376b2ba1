"""All cores on parts of their own."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import torch


@contextmanager
def workers(device: torch.device) -> Iterator[Callable[..., Iterable[Any]]]:
    """A `map` that keeps all of torch's threads busy, each with a part of its own.

    Torch would share out every single operation; its threads then wait for each other thousands of times, which takes
    long on a machine that has other work to do.
    """
    threads = torch.get_num_threads()
    if device.type != "cpu" or threads == 1:
        yield map
        return
    with ThreadPoolExecutor(threads, initializer=lambda: torch.set_num_threads(1)) as pool:
        try:
            yield pool.map
        finally:
            torch.set_num_threads(threads)  # what threads that start later go by
