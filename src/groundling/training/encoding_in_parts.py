"""Contrastive batches that are larger than memory: encoded part by part, and once more for the gradient of each part.

Gao et al. 2021, "Scaling deep contrastive learning batch size under memory limited setup",
https://arxiv.org/abs/2101.06983: the loss is computed from the vectors of the whole batch, with all its negatives; only
vectors are kept until their gradients are known. Then one part after the other is encoded again, with the same draws of
dropout, and its gradient goes on into the weights. The step is that of the whole batch, up to the order of sums.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from groundling.training.by_rows import Forward, by_rows, of_rows


@contextmanager
def encoded_in_parts(module: nn.Module, at_once: int | None) -> Iterator[None]:
    """Inside, the encoders of a module keep what a gradient needs of so many rows only; None: of all."""

    def in_parts(forward: Forward, rows: int, given: Sequence[Any]) -> Tensor:
        size = cast(int, at_once)
        parts = [of_rows(given, rows, slice(begin, begin + size)) for begin in range(0, rows, size)]
        return torch.cat([checkpoint(forward, *part, use_reentrant=False) for part in parts])

    with nullcontext() if at_once is None else by_rows(module, in_parts):
        yield
