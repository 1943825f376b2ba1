"""One training in several processes: the same batches, the same loss, the same weights up to the order of sums."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import nn

from conftest import make_recipe, make_world
from groundling.run import Run
from groundling.training import train
from groundling.training.encoding_in_parts import encoded_in_parts
from groundling.training.launch import launch
from groundling.training.metrics import read_metrics

# Nothing is drawn in a step; liwe normalises by the statistics of a batch, and so reads it whole in every process.
SYSTEMS = {
    "lessons": {"name": "lessons", "dimensions": 24, "word_dimensions": 12, "caption_pairs_after": 10},
    "polyglot": {
        "name": "polyglot",
        "dimensions": 16,
        "hidden": 12,
        "buckets": 100,
        "dropout": 0.0,
        "picture_dropout": 0.0,
        "noise": 0.0,
        "word_dropout": 0.0,
    },
    "liwe": {"name": "liwe", "dimensions": 16},
}
STEPS = 30

CHILD = """
import sys, pathlib, json
sys.path.insert(0, sys.argv[1])
from conftest import make_recipe, make_world
from groundling.batches import packing
from groundling.training import processes, train
processes.LARGE = 100  # so that some gradients are messages of their own here, too
packing.AT_ONCE = 16  # so that there are groups of captions to deal out
system, steps, folder, stop = json.loads(sys.argv[2]), int(sys.argv[3]), pathlib.Path(sys.argv[4]), int(sys.argv[5])
recipe = make_recipe(system=system, training={"maximum_steps": steps, "validate_every": 10, "precision": "float32"})
if stop:
    from groundling.training import checkpoint
    save = checkpoint.save
    def save_and_stop(path, encoders, optimiser, progress, average=None):
        save(path, encoders, optimiser, progress, average)
        if progress.step >= stop:
            sys.exit(7)
    checkpoint.save = save_and_stop
with processes.joined("cpu"):
    train(recipe, make_world(), folder, resume=folder.exists() and not stop, device="cpu", checkpoint_seconds=0)
"""


def in_processes(count: int, system: str, folder: Path, stop: int = 0) -> list[int]:
    """Trains in so many processes; gives their exit codes."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = [str(Path(__file__).parent.parent), json.dumps(SYSTEMS[system]), str(STEPS), str(folder), str(stop)]
    common = {**os.environ, "WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", CHILD, *arguments],
            env={**common, "RANK": str(number), "OMP_NUM_THREADS": "1"},
            stderr=subprocess.DEVNULL if stop else None,
        )
        for number in range(count)
    ]
    codes = [children[0].wait(timeout=300)]
    for child in children[1:]:
        if codes[0]:
            child.kill()
        codes.append(child.wait(timeout=300))
    return codes


def assert_the_same_training(one: Run, two: Run) -> None:
    """Losses and validations step by step, and the weights; in one log.

    What stands before a normalisation has a gradient of zero, whose rounding Adam makes as large as any other: such
    weights say nothing, and a system that has them is compared by its losses alone.
    """
    rows, others = (read_metrics(run.metrics_file) for run in (one, two))
    assert [row["step"] for row in rows] == [row["step"] for row in others]
    for row, other in zip(rows, others, strict=True):
        assert row.get("loss", 0.0) == pytest.approx(other.get("loss", 0.0), rel=1e-3)
    first, second = load_file(one.weights_file), load_file(two.weights_file)
    assert first.keys() == second.keys()
    if not any("running_mean" in name for name in first):
        for name, values in first.items():
            torch.testing.assert_close(values, second[name], atol=2e-4, rtol=0)


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    runs = {}
    for name, system in SYSTEMS.items():
        training = {"maximum_steps": STEPS, "validate_every": 10, "precision": "float32"}
        folder = tmp_path_factory.mktemp("alone") / name
        runs[name] = train(make_recipe(system=system, training=training), make_world(), folder, device="cpu")
    return runs


@pytest.mark.parametrize(
    ("system", "count"), [("lessons", 2), ("polyglot", 2), ("polyglot", 3), ("polyglot", 4), ("liwe", 2)]
)
def test_any_number_of_processes_takes_the_same_steps(
    system: str, count: int, alone: dict[str, Run], tmp_path: Path
) -> None:
    assert in_processes(count, system, tmp_path / "run") == [0] * count
    assert_the_same_training(alone[system], Run(tmp_path / "run"))


def test_goes_on_with_another_number_of_processes_or_with_one(alone: dict[str, Run], tmp_path: Path) -> None:
    folder = tmp_path / "run"
    assert in_processes(2, "polyglot", folder, stop=10)[0] == 7
    assert Run(folder).checkpoint_file.exists() and not Run(folder).finished
    here = Run(Path(shutil.copytree(folder, tmp_path / "copy")))
    assert in_processes(3, "polyglot", folder) == [0, 0, 0]
    assert_the_same_training(alone["polyglot"], Run(folder))
    train(here.recipe(), make_world(), here.folder, resume=True, device="cpu")
    assert_the_same_training(alone["polyglot"], here)
    assert not list(folder.glob("*.tmp")) and not Run(folder).checkpoint_file.exists()


def test_the_command_starts_processes_and_says_one_sentence_if_it_cannot() -> None:
    """A recipe that is not there: each process finds that out, one of them says it, and the exit code is 2."""
    code = """
import sys
from groundling.training.launch import launch
sys.exit(launch(2, ["train", "no-such-recipe"]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 2
    assert done.stderr.count("no-such-recipe") == 1, done.stderr


@pytest.mark.parametrize("started", [1, 2], ids=["while they are started", "afterwards"])
def test_all_are_ended_where_the_command_is(started: int) -> None:
    code = """
import sys, time
last = int(sys.argv[1])
started = []
from groundling.training import launch as module
real = module.subprocess.Popen
def start(command, env, **more):
    child = real([sys.executable, "-c", "import time; time.sleep(600)"], env=env, **more)
    started.append(child)
    print(child.pid, flush=True)
    if len(started) == last:
        time.sleep(3 if last == 1 else 0)
    return child
module.subprocess.Popen = start
sys.exit(module.launch(2, []))
"""
    command = subprocess.Popen([sys.executable, "-c", code, str(started)], stdout=subprocess.PIPE, text=True)
    assert command.stdout is not None
    pids = [int(command.stdout.readline()) for _ in range(started)]
    command.send_signal(signal.SIGTERM)
    assert command.wait(timeout=60) == 128 + signal.SIGTERM
    for _ in range(100):
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            break
        time.sleep(0.1)
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_one_process_that_fails_ends_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    real = subprocess.Popen

    def start(command: list[str], env: dict[str, str], **more: object) -> "subprocess.Popen[bytes]":
        does = "import time; time.sleep(600)" if env["RANK"] == "0" else "import sys; sys.exit(3)"
        return real([sys.executable, "-c", does], env=env)

    monkeypatch.setattr("groundling.training.launch.subprocess.Popen", start)
    assert launch(2, []) == 3


@pytest.mark.parametrize("system", ["lessons", "polyglot", "liwe"])
@pytest.mark.parametrize("at_once", [5, 1000])
def test_encoding_in_parts_takes_the_same_steps(
    system: str, at_once: int, alone: dict[str, Run], tmp_path: Path
) -> None:
    training = {"maximum_steps": STEPS, "validate_every": 10, "precision": "float32", "encode_at_once": at_once}
    recipe = make_recipe(system=SYSTEMS[system], training=training)
    assert_the_same_training(alone[system], train(recipe, make_world(), tmp_path / "run", device="cpu"))


def test_encoding_in_parts_keeps_less_for_the_gradient() -> None:
    """What autograd keeps between forward and backward is that of the vectors, not that of what made them."""

    class Pair(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.text = nn.Sequential(nn.Linear(8, 512), nn.ReLU(), nn.Dropout(0.5), nn.Linear(512, 4))

    pair, rows = Pair(), torch.randn(64, 8)

    def kept() -> int:
        sizes: list[int] = []

        def keep(value: torch.Tensor) -> torch.Tensor:
            sizes.append(value.numel())
            return value

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda value: value):
            pair.text(rows).sum()
        return sum(sizes)

    whole = kept()
    with encoded_in_parts(pair, 8):
        parts = kept()
    assert parts < whole / 20
    assert "forward" not in pair.text.__dict__  # as it was before


def test_encoding_in_parts_draws_the_same_dropout_again() -> None:
    """The gradient is that of the vectors that were computed: with another mask it would not be."""

    class Pair(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.text = nn.Dropout(0.5)

    pair, rows = Pair(), torch.ones(64, 8, requires_grad=True)
    with encoded_in_parts(pair, 8):
        vectors = pair.text(rows)
        vectors.sum().backward()
    assert torch.equal(rows.grad, vectors.detach())  # type: ignore[arg-type]
    assert 0 < int((vectors == 0).sum()) < vectors.numel()


@pytest.mark.parametrize("given", [["--processes", "2"], ["--processes=2"], []])
def test_processes_are_not_started_by_processes(given: list[str]) -> None:
    from groundling.cli.train import without_option

    assert without_option(["train", "a", *given, "--out", "b"], "--processes") == ["train", "a", "--out", "b"]
