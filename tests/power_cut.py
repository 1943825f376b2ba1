"""Work that stops dead, by an exception or by kill −9, for tests that it goes on as if nothing had happened."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from groundling.dataset import Dataset
from groundling.run import Run
from groundling.settings import Recipe
from groundling.training import checkpoint, loop, train
from groundling.training.metrics import read_metrics


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


def assert_goes_on_exactly(
    recipe: Recipe,
    dataset: Dataset,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    after: int = 1,
    start: Path | None = None,
    meanwhile: Callable[[], None] = lambda: None,
) -> Run:
    """Trained in one go and with a power cut after so many checkpoints, it ends in the same weights by the same way.

    Checkpoints come every 15 steps and at validations; `start` is the run that it starts from. Returns the run that
    was cut.
    """
    monkeypatch.setattr(loop, "LOG_EVERY", 15)
    whole = train(recipe, dataset, folder / "whole", device="cpu", start=start)
    with power_cut(monkeypatch, after):
        train(recipe, dataset, folder / "cut", device="cpu", checkpoint_seconds=0, start=start)
    torch.manual_seed(999)  # what happened to the random state meanwhile must not matter
    meanwhile()
    resumed = train(recipe, dataset, folder / "cut", resume=True, device="cpu", start=start)
    assert same_weights(whole, resumed)
    assert read_metrics(whole.metrics_file) == read_metrics(resumed.metrics_file)
    assert not resumed.checkpoint_file.exists()
    return resumed


def same_weights(one: Run, other: Run) -> bool:
    first, second = load_file(one.weights_file), load_file(other.weights_file)
    return first.keys() == second.keys() and all(torch.equal(first[key], second[key]) for key in first)


def kill_9(child: "Popen[Any]", reached: Callable[[], bool]) -> None:
    """Kills a process that has come so far; it is an error if it ends before that."""
    deadline = time.monotonic() + 120
    while not reached():
        assert child.poll() is None, "ended before it could be killed"
        assert time.monotonic() < deadline
        time.sleep(0.002)
    child.kill()
    child.wait()


def kill_9_at_any_moment(start: Callable[[], "Popen[Any]"], progress: Callable[[], int], times: int) -> None:
    """Starts something again and again, and kills it at a random moment after it has got further than before."""
    draw, kills = np.random.default_rng(), 0
    for _ in range(times):
        before, child = progress(), start()
        while child.poll() is None and progress() <= before:
            time.sleep(0.005)
        time.sleep(float(draw.uniform(0, 0.2)))
        if child.poll() is None:
            child.kill()
            kills += 1
        child.wait()
    assert kills >= 1
