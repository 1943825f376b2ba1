"""Memory and time of a step whose batch is encoded in parts (`training.encode_at_once`), against the whole at once.

The same steps of `lessons` on the CPU with random captions, each way in a process of its own. What is told is the most
memory that the process had beyond what it had before the first step, the seconds of computing of a step, and the loss
of the last step, which is the same up to the order of sums. Linux only.

    python benchmarks/encoding_in_parts.py [--batch 1024] [--parts 256 64] [--steps 2] [--dimensions 512] [--json]
"""

import argparse
import json
import subprocess
import sys
import time
from typing import Any

from peak_memory import PeakMemory


def measure(batch: int, part: int, steps: int, dimensions: int) -> dict[str, float]:
    """In a process of its own; a part of 0 is the whole batch."""
    import torch

    from groundling.settings import CorpusSettings, Recipe, TrainingSettings
    from groundling.training.encoding_in_parts import encoded_in_parts
    from groundling.training.planned import planned
    from groundling.training.step import EagerStep, make_optimiser
    from training import random_captions

    settings = TrainingSettings(batch_size=batch, precision="float32")
    system = {"name": "lessons", "dimensions": dimensions, "caption_pairs": 0}
    torch.manual_seed(0)
    torch.set_num_threads(1)
    recipe = Recipe(corpus=CorpusSettings(name="captions"), system=system, training=settings)
    stage = planned(recipe, random_captions(5 * max(batch, 1000), 2000)).stage
    optimiser = make_optimiser(stage.module, settings, stage.data.features.device, stage.rates)
    step = EagerStep(stage, optimiser, "float32")
    stage.module.train()
    peak = PeakMemory()
    peak.look()
    before, started = peak.own, time.process_time()
    with encoded_in_parts(stage.module, part or None):
        for number in range(steps):
            loss = step(stage.sampler.batch(number), number)
    seconds = (time.process_time() - started) / steps
    return {"gb": peak.so_far() - before, "seconds": seconds, "loss": float(loss)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--batch", type=int, default=1024)
    parser.add_argument("--parts", type=int, nargs="+", default=[256, 64])
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--dimensions", type=int, default=512)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--part", type=int, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.part is not None:
        return print(json.dumps(measure(asked.batch, asked.part, asked.steps, asked.dimensions)))
    found: dict[int, dict[str, Any]] = {}
    for part in (0, *asked.parts):
        numbers = {"batch": asked.batch, "part": part, "steps": asked.steps, "dimensions": asked.dimensions}
        options = [word for name, value in numbers.items() for word in (f"--{name}", str(value))]
        said = subprocess.run([sys.executable, __file__, *options], check=True, stdout=subprocess.PIPE, text=True)
        found[part] = json.loads(said.stdout)
    if asked.json:
        return print(json.dumps({"batch": asked.batch, "steps": asked.steps, "parts": found}))
    whole = found[0]
    for part, one in found.items():
        name = f"{part} at once" if part else "the whole batch"
        print(
            f"{name:16} {one['gb']:.2f} GB ({one['gb'] / whole['gb']:.2f}), "
            f"{one['seconds']:.1f} s of computing a step ({one['seconds'] / whole['seconds']:.2f}), "
            f"loss {one['loss']:.6g}"
        )


if __name__ == "__main__":
    main()
