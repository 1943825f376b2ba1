"""Trainings in processes of their own: one that fails or dies is lost alone, and the end of the time stops the rest."""

import os
import signal
import time
from functools import partial
from pathlib import Path

from test_training_queue import tasks_of

from groundling.errors import UserError
from groundling.experiments.training_queue import Failure, Task, TrainingQueue
from groundling.experiments.workers import train_here, train_in_workers
from groundling.files import atomic_path


def train(task: Task, out: Path) -> None:
    """What a system is called says what becomes of its training."""
    end = task.entry.recipe.system["name"]
    if end == "dies":
        os.kill(os.getpid(), signal.SIGKILL)
    if end == "breaks":
        raise RuntimeError("of all\nkinds")
    if end == "mistake":
        raise UserError("mend this")
    (out / task.folder).touch()
    if end == "long":
        with atomic_path(out / "whole") as half:
            half.write_text("half")
            (out / "begun").touch()
            time.sleep(600)


def run_all(out: Path, count: int | None, *ends: str) -> TrainingQueue:
    queue = TrainingQueue(tasks_of(*ends))
    if count is None:
        train_here(queue, partial(train, out=out))
    else:
        train_in_workers(queue, partial(train, out=out), count)
    return queue


def test_a_training_that_fails_and_a_process_that_dies_lose_that_training_only(tmp_path: Path) -> None:
    queue = run_all(tmp_path, 1, "dies", "mistake", "well", "breaks", "well")
    assert {task.folder: failure for task, failure in queue.failed} == {
        "dies-0": Failure("its process died (exit code -9)"),
        "mistake-1": Failure("mend this", expected=True),
        "breaks-3": Failure("RuntimeError: of all kinds"),
    }
    assert queue.done == {path.name for path in tmp_path.iterdir()} == {"well-2", "well-4"}


def test_the_same_in_this_process(tmp_path: Path) -> None:
    queue = run_all(tmp_path, None, "mistake", "breaks", "well")
    assert [task.folder for task, _ in queue.failed] == ["mistake-0", "breaks-1"] and queue.done == {"well-2"}


def test_the_end_of_the_time_stops_what_is_under_way_and_leaves_nothing_half_written(tmp_path: Path) -> None:
    def clock() -> float:
        return 1.0 if (tmp_path / "begun").exists() else 0.9

    queue = TrainingQueue(tasks_of("long", "well"), until=1.0, clock=clock)
    train_in_workers(queue, partial(train, out=tmp_path), 1)
    assert list(queue.under_way) == ["long-0"] and [task.folder for task in queue.waiting] == ["well-1"]
    assert {path.name for path in tmp_path.iterdir()} == {"long-0", "begun"}
