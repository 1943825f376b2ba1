"""Encoders that read the rows of a batch by other ways than all at once, while somebody asks them to."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

Forward = Callable[..., Tensor]
#: (how the encoder reads, how many rows there are, what it is given) → [rows, …]
Way = Callable[[Forward, int, Sequence[Any]], Tensor]

ENCODERS = ("text", "picture", "network")


@contextmanager
def by_rows(module: nn.Module, way: Way) -> Iterator[None]:
    """Inside, the encoders of a module read [n, …] in this way, in training.

    Encoders that normalise by the statistics of a batch read it as a whole: the statistics of a part are others.
    """
    encoders = [encoder for name in ENCODERS if isinstance(encoder := getattr(module, name, None), nn.Module)]
    before = [encoder.__dict__.get("forward") for encoder in encoders]
    for encoder in encoders:
        encoder.forward = _other_way(encoder, encoder.forward, way)
    try:
        yield
    finally:
        for encoder, forward in zip(encoders, before, strict=True):
            if forward is None:
                del encoder.forward
            else:
                encoder.forward = forward


def _other_way(encoder: nn.Module, forward: Forward, way: Way) -> Forward:
    def read(*given: Any, **named: Any) -> Tensor:
        rows = given[0].shape[0] if given and isinstance(given[0], Tensor) else 0
        if named or not rows or not torch.is_grad_enabled() or not encoder.training or _normalises(encoder):
            return forward(*given, **named)
        return way(forward, rows, given)

    return read


def _normalises(encoder: nn.Module) -> bool:
    return any(part.training and hasattr(part, "running_mean") for part in encoder.modules())


def of_rows(given: Sequence[Any], rows: int, chosen: Tensor | slice) -> list[Any]:
    """What an encoder is given, for some of the rows only."""
    return [part[chosen] if isinstance(part, Tensor) and part.shape[:1] == (rows,) else part for part in given]
