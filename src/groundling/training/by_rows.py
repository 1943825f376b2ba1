"""Encoders that read the rows of a batch by other ways than all at once, while somebody asks them to."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

Forward = Callable[..., Tensor]
#: (how the encoder reads, how many rows there are, what it is given) → [rows, …]
Way = Callable[[Forward, int, Sequence[Any]], Tensor]
#: (how the encoder reads, what it is given for each group of rows) → [rows, …] of each group
GroupWay = Callable[[Forward, Sequence[Sequence[Any]]], list[Tensor]]

ENCODERS = ("text", "picture", "network")


@contextmanager
def by_rows(module: nn.Module, way: Way, group_way: GroupWay | None = None) -> Iterator[None]:
    """Inside, the encoders of a module read [n, …] in this way, in training; and groups of rows (see
    `TextEncoder.read_groups`) one after another, unless there is another way for them.

    Encoders that normalise by the statistics of a batch read it as a whole: the statistics of a part are others.
    """
    encoders = [encoder for name in ENCODERS if isinstance(encoder := getattr(module, name, None), nn.Module)]
    before = [dict(encoder.__dict__) for encoder in encoders]
    for encoder in encoders:
        forward = encoder.forward
        encoder.forward = _other_way(encoder, forward, way)
        if group_way is not None and hasattr(encoder, "read_groups"):
            encoder.__dict__["read_groups"] = _other_group_way(encoder, forward, group_way)
    try:
        yield
    finally:
        for encoder, attributes in zip(encoders, before, strict=True):
            for name in ("forward", "read_groups"):
                encoder.__dict__.pop(name, None)
                encoder.__dict__.update({name: attributes[name]} if name in attributes else {})


def _other_way(encoder: nn.Module, forward: Forward, way: Way) -> Forward:
    def read(*given: Any, **named: Any) -> Tensor:
        rows = given[0].shape[0] if given and isinstance(given[0], Tensor) else 0
        return forward(*given, **named) if named or not rows or _whole(encoder) else way(forward, rows, given)

    return read


def _other_group_way(encoder: nn.Module, forward: Forward, way: GroupWay) -> Callable[..., list[Tensor]]:
    def read(groups: Sequence[Sequence[Any]]) -> list[Tensor]:
        return [forward(*group) for group in groups] if _whole(encoder) else way(forward, groups)

    return read


def _whole(encoder: nn.Module) -> bool:
    """Whether an encoder must read all at once: no training, or it normalises by what it reads."""
    normalises = any(part.training and hasattr(part, "running_mean") for part in encoder.modules())
    return not torch.is_grad_enabled() or not encoder.training or normalises


def of_rows(given: Sequence[Any], rows: int, chosen: Tensor | slice) -> list[Any]:
    """What an encoder is given, for some of the rows only."""
    return [part[chosen] if isinstance(part, Tensor) and part.shape[:1] == (rows,) else part for part in given]
