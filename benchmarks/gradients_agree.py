"""Do 1, 2 and 4 processes compute the same gradients? And do plain steps along them lead to the same weights?

`processes_agree.py` compares whole trainings, whose optimiser is Adam: it divides each gradient by its own size, so
that one which is nothing but rounding moves its weight as far as any other. Here the same step (`EagerStep`, float32,
on the CPU, by gloo) is taken without Adam, with small encoders. Told are the gradients of the first step: how far they
are apart at most, as a share of the largest one of the same weights; and then the weights after some steps of plain
gradient descent, as a share of how far these have moved them. For comparison, the weights after as many steps of Adam,
and how large the first gradient was, as such a share, of the weight that is then the furthest apart. Rounding of
float32 is 1.2e-07.

    python benchmarks/gradients_agree.py [--counts 1 2 4] [--steps 10] [--systems polyglot] [--json]
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

# Nothing is drawn in a step.
SYSTEMS = {
    "polyglot": {
        "dimensions": 64,
        "hidden": 64,
        "buckets": 1000,
        "dropout": 0,
        "picture_dropout": 0,
        "noise": 0,
        "word_dropout": 0,
    },
    "lessons": {"dimensions": 64, "word_dimensions": 64, "caption_pairs": 0},
}
RATE = 0.1  # of plain gradient descent
Tensors = dict[str, Tensor]


def train(system: str, steps: int, out: Path) -> None:
    """In each process; the first writes what it began with, the gradients of the first step, and where it came to."""
    from groundling.settings import CorpusSettings, Recipe, TrainingSettings
    from groundling.training import processes
    from groundling.training.planned import planned
    from groundling.training.step import EagerStep, make_optimiser
    from training import random_captions

    settings = TrainingSettings(batch_size=64, precision="float32", clip=None)
    recipe = Recipe(
        corpus=CorpusSettings(name="captions"), system={"name": system, **SYSTEMS[system]}, training=settings
    )
    with processes.joined("cpu"):
        for kind in ("descent", "adam"):
            torch.manual_seed(0)
            stage = planned(recipe, random_captions(2000, 500)).stage
            module = stage.module
            if kind == "adam":
                optimiser = make_optimiser(module, settings, stage.data.features.device, stage.rates)
            else:
                optimiser = torch.optim.SGD(module.parameters(), RATE)
            step = EagerStep(stage, optimiser, "float32")
            module.train()
            parts = {"begun": _copy(dict(module.named_parameters()))}
            with processes.shared(module):
                for number in range(steps):
                    step(stage.sampler.batch(number), number)
                    if number == 0:
                        found = {name: one.grad for name, one in module.named_parameters() if one.grad is not None}
                        parts["gradients"] = _copy(found)
            parts[kind] = _copy(dict(module.named_parameters()))
            if processes.first():
                for name, tensors in parts.items():
                    save_file(tensors, out / f"{name}.safetensors")


def _copy(tensors: Mapping[str, Tensor]) -> Tensors:
    return {name: one.detach().clone().contiguous() for name, one in tensors.items()}


def in_processes(count: int, system: str, steps: int, out: Path) -> dict[str, Tensors]:
    out.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    common = {"WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    children = [
        subprocess.Popen(
            [sys.executable, __file__, "--train", system, "--steps", str(steps), "--out", str(out)],
            env={**os.environ, **common, "RANK": str(number)},
        )
        for number in range(count)
    ]
    codes = [child.wait() for child in children]
    if any(codes):
        sys.exit("a process has failed; see above")
    return {file.stem: load_file(file) for file in out.glob("*.safetensors")}


def apart(one: Tensors, other: Tensors, measures: Mapping[str, Tensor]) -> float:
    """The largest difference of two numbers, as a share of the largest measure of the same tensor."""
    shares = [float((one[name] - other[name]).abs().max() / size.abs().max()) for name, size in measures.items()]
    return max(share for share in shares if share == share)  # what nothing has touched is 0 / 0


def compare(one: dict[str, Tensors], other: dict[str, Tensors]) -> dict[str, float]:
    found = {"gradients": apart(one["gradients"], other["gradients"], one["gradients"])}
    for kind in ("descent", "adam"):
        moved = {name: one[kind][name] - begun for name, begun in one["begun"].items()}
        found[kind] = apart(one[kind], other[kind], moved)
    differences = {name: (one["adam"][name] - other["adam"][name]).abs() for name in one["gradients"]}
    name = max(differences, key=lambda name: float(differences[name].max()))
    sizes = one["gradients"][name].abs().flatten()
    found["gradient_of_worst"] = float(sizes[differences[name].argmax()] / sizes.max())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--train", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    told = parser.parse_args()
    if told.train:
        return train(told.train, told.steps, told.out)
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as place:
        for system in told.systems:
            runs = {
                count: in_processes(count, system, told.steps, Path(place) / f"{system}-{count}")
                for count in told.counts
            }
            first, *rest = told.counts
            found[system] = {count: compare(runs[first], runs[count]) for count in rest}
    if told.json:
        return print(json.dumps({"steps": told.steps, "systems": found}))
    for system, counts in found.items():
        for count, shares in counts.items():
            print(
                f"{system}, {count} processes: gradients of a step apart by {shares['gradients']:.1e} of the largest; "
                f"weights after {told.steps} steps of gradient descent by {shares['descent']:.1e} of what these moved "
                f"them, of Adam by {shares['adam']:.1e}, most where the first gradient was "
                f"{shares['gradient_of_worst']:.1e} of the largest"
            )


if __name__ == "__main__":
    main()
