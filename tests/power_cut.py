"""A training that stops dead after one of its checkpoints, for tests that it goes on exactly."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from groundling.training import checkpoint


class PowerCut(Exception):
    pass


@contextmanager
def power_cut(monkeypatch: pytest.MonkeyPatch, after: int = 1) -> Iterator[None]:
    """What is trained inside ends as soon as so many checkpoints are written; it is an error if it gets further."""
    save, written = checkpoint.save, []

    def save_then_stop(*arguments: Any) -> None:
        save(*arguments)
        written.append(arguments)
        if len(written) == after:
            raise PowerCut

    with monkeypatch.context() as patch, pytest.raises(PowerCut):
        patch.setattr(checkpoint, "save", save_then_stop)
        yield
