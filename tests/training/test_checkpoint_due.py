"""When a checkpoint is saved: now and then, and once before the moment when the training will be stopped."""

import math
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import make_world
from groundling.run import Run
from groundling.settings import Recipe
from groundling.training import checkpoint, train


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [0.0]
    monkeypatch.setattr(checkpoint.time, "monotonic", lambda: now[0])
    return now


def moments(due: checkpoint.Due, clock: list[float], step: float, end: float) -> list[float]:
    """When it says yes, asked every so many seconds; saving takes none."""
    found = []
    while clock[0] < end:
        clock[0] += step
        if due.now():
            found.append(clock[0])
            due.restart()
    return found


@pytest.mark.parametrize(
    ("seconds", "until", "step", "expected"),
    [
        (60.0, math.inf, 20.0, [60.0, 120.0, 180.0]),
        (math.inf, 100.0, 20.0, []),  # whoever saves none has none in the end
        (60.0, 200.0, 20.0, [60.0, 120.0, 160.0]),  # from 160, two more rounds and 5 seconds to save end too late
        (1e9, 150.0, 1.0, [144.0]),  # once, two rounds and 5 seconds before the end
    ],
)
def test_every_so_often_and_once_before_the_end(
    seconds: float, until: float, step: float, expected: list[float], clock: list[float]
) -> None:
    assert moments(checkpoint.Due(seconds, until), clock, step, 180.0) == expected


def test_a_training_that_will_be_stopped_soon_has_a_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = Recipe.model_validate(
        {
            "corpus": {"name": "world"},
            "text": {"minimum_count": 1},
            "system": {"name": "bag", "dimensions": 8, "word_dimensions": 8},
            "training": {"batch_size": 16, "validate_every": 10, "maximum_steps": 30},
        }
    )
    saved: list[int] = []
    monkeypatch.setattr(checkpoint, "save", lambda path, module, optimiser, at, average: saved.append(at.step))
    options: dict[str, Any] = {"device": "cpu"}
    train(recipe, make_world(), tmp_path / "one", **options)
    assert saved == []  # the first comes after a minute
    train(recipe, make_world(), tmp_path / "two", **options, until=time.monotonic() + checkpoint.TO_SAVE)
    assert saved == [10]
    assert Run(tmp_path / "two").finished  # nobody has stopped it
