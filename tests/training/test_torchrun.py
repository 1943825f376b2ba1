"""`groundling train` as `torchrun` starts it, on two machines of one process, and with `--processes`: one training."""

import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from test_processes import assert_the_same_training

sys.path.append(str(Path(__file__).parent.parent / "cli"))

import commands
from commands import call

import groundling
from groundling.run import Run
from groundling.training.metrics import read_metrics

own_ground, world_files, train_world = commands.own_ground, commands.world_files, commands.train_world


@pytest.fixture
def training(train_world: list[str]) -> list[str]:
    return [*train_world, "--set", "training.precision=float32", "--device", "cpu"]


def started(*command: str) -> "subprocess.Popen[str]":
    """Python with these arguments."""
    source = str(Path(groundling.__file__).parent.parent)
    environment = {**os.environ, "PYTHONPATH": source, "OMP_NUM_THREADS": "1"}
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen([sys.executable, *command], env=environment, **pipes)


def test_two_machines_and_two_processes_train_as_one_does(training: list[str], own_ground: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        meeting = f"127.0.0.1:{free.getsockname()[1]}"
    torchrun = ["--nnodes", "2", "--nproc-per-node", "1", "--rdzv-backend", "c10d", "--rdzv-endpoint", meeting]
    in_parts = ["--set", "training.encode_at_once=5"]
    by_torchrun = ["-m", "torch.distributed.run", *torchrun, "-m", "groundling", *training, *in_parts]
    nodes = [started(*by_torchrun, "--out", "runs/nodes") for _ in range(2)]
    processes = started("-m", "groundling", *training, "--out", "runs/processes", "--processes", "2")
    said = call(*training, "--out", "runs/alone")
    assert said.code == 0, said.err
    talked = [child.communicate(timeout=300) for child in (*nodes, processes)]
    assert [child.returncode for child in (*nodes, processes)] == [0, 0, 0], talked
    assert sorted(out.startswith("runs/nodes: 10 steps") for out, _ in talked[:2]) == [False, True]  # one talks
    assert talked[2][0].startswith("runs/processes: 10 steps")
    assert sorted(path.name for path in Path("runs").iterdir()) == ["alone", "nodes", "processes"]
    alone = Run(Path("runs/alone"))
    assert [row["step"] for row in read_metrics(alone.metrics_file) if "loss" in row]
    for name in ("nodes", "processes"):
        run = Run(Path("runs", name))
        assert run.finished and {path.name for path in run.folder.iterdir()} == {
            path.name for path in alone.folder.iterdir()
        }
        assert_the_same_training(alone, run)
