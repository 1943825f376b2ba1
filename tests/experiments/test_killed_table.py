"""A table whose process is killed, at any moment and more than once, ends in the numbers of one that was not."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import small_tables
from small_tables import make_table, on_disk, run_table

import groundling
from power_cut import kill_9_at_any_moment

forget_datasets = small_tables.forget_datasets

CHILD = """
import functools, pathlib, sys
sys.path[:0] = sys.argv[2:]
import torch
from groundling import training
from small_tables import run_table
from test_killed_table import small_table
torch.set_num_threads(1)
training.train = functools.partial(training.train, checkpoint_seconds=0)
folder = pathlib.Path(sys.argv[1])
run_table(small_table(folder), folder / "killed")
"""


def small_table(folder: Path) -> small_tables.TableSettings:
    """Two trainings, each of five checkpoints."""
    base = on_disk(folder / "world") if not (folder / "world").exists() else base_in(folder / "world")
    return make_table(base={**base, "training": {**base["training"], "maximum_steps": 50}}, rows=[{"name": "one"}])


def base_in(world: Path) -> dict[str, Any]:
    features = {"array": str(world / "features.npy"), "names": str(world / "names.txt")}
    return {**small_tables.BASE, "corpus": {"name": str(world / "corpus")}, "features": features}


def progress_of(folder: Path) -> int:
    """Lines of metrics, and files that end a training."""
    lines = sum(file.read_bytes().count(b"\n") for file in folder.rglob("metrics.jsonl"))
    return lines + len(list(folder.rglob("run.json"))) + len(list(folder.rglob("evaluation.json")))


def test_kill_9_in_the_middle_of_a_table_then_going_on_gives_the_same_numbers(tmp_path: Path) -> None:
    table = small_table(tmp_path)
    whole = run_table(table, tmp_path / "whole")
    here = Path(__file__).parent
    command = [sys.executable, "-c", CHILD, str(tmp_path), str(here), str(here.parent)]
    environment = {**os.environ, "PYTHONPATH": str(Path(groundling.__file__).parent.parent)}
    kill_9_at_any_moment(
        lambda: subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL),
        lambda: progress_of(tmp_path / "killed"),
        times=2,
    )
    after = run_table(table, tmp_path / "killed")
    for folder, result in whole.items():
        assert after[folder].result == result.result
        facts = ("steps", "best_step", "best_score", "parameters")
        assert [getattr(after[folder].run, key) for key in facts] == [getattr(result.run, key) for key in facts]
    assert not list(tmp_path.rglob("checkpoint.safetensors"))
