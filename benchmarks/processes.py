"""Training steps per second of one process with one core, of one with all, and of several with one each, in turns.

The same recipe (`polyglot`, its default size, batches of 128 pictures with four captions each, random captions with the
lengths of F8K-7), the same global batches. What several processes add is the exchange of vectors and gradients.

Cores that work at the same time slow each other down, whatever they do (memory, caches, clock). How much is possible at
all is measured, too: as many trainings side by side that have nothing to do with each other, all their steps together.

    python benchmarks/processes.py [--processes 2] [--steps 12] [--rounds 3] [--json]
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import time
from pathlib import Path

WARM_UP = 2


def measure(steps: int) -> None:
    """In each process: prints the steps per second of the first one."""
    from groundling.devices import pick_precision
    from groundling.settings import CorpusSettings, Recipe, TrainingSettings
    from groundling.training import processes
    from groundling.training.planned import planned
    from groundling.training.step import EagerStep, make_optimiser
    from training import random_captions

    training = TrainingSettings(batch_size=128, optimiser="adamw")
    recipe = Recipe(corpus=CorpusSettings(name="captions"), system={"name": "polyglot"}, training=training)
    with processes.joined("cpu"):
        stage = planned(recipe, random_captions()).stage
        optimiser = make_optimiser(stage.module, training, stage.data.features.device, stage.rates)
        step = EagerStep(stage, optimiser, pick_precision("auto", stage.data.features.device))
        stage.module.train()
        with processes.shared(stage.module):
            for number in range(WARM_UP):
                step(stage.sampler.batch(number), number)
            processes.wait()
            started = time.perf_counter()
            for number in range(WARM_UP, WARM_UP + steps):
                step(stage.sampler.batch(number), number)
            processes.wait()
        if processes.first():
            print(steps / (time.perf_counter() - started))


def run(count: int, threads: int, steps: int, apart: bool) -> float:
    """Steps per second of so many processes that train together, or of all those that each train alone."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    common = {"WORLD_SIZE": "1" if apart else str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    children = [
        subprocess.Popen(
            [sys.executable, __file__, "--measure", "--steps", str(steps)],
            env={**os.environ, **common, "RANK": "0" if apart else str(number), "OMP_NUM_THREADS": str(threads)},
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(count)
    ]
    said = [child.communicate()[0] for child in children]
    if any(child.returncode for child in children):
        sys.exit("a process has failed; see above")
    return sum(float(rate) for rate in said if rate)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.measure:
        sys.path.insert(0, str(Path(__file__).parent))
        return measure(asked.steps)
    ways = {
        "one process, one core": (1, 1, False),
        f"one process, {asked.processes} cores": (1, asked.processes, False),
        f"{asked.processes} processes, one core each": (asked.processes, 1, False),
        f"{asked.processes} trainings apart, one core each": (asked.processes, 1, True),
    }
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(asked.rounds):
        for name, (count, threads, apart) in ways.items():
            rates[name].append(run(count, threads, asked.steps, apart))
    found = {name: statistics.median(values) for name, values in rates.items()}
    one, _, several, possible = found.values()
    if asked.json:
        ratios = {"ratio": several / one, "possible": possible / one, "reached": several / possible}
        return print(json.dumps({"steps_per_second": found, **ratios, "rounds": rates}))
    for name, rate in found.items():
        print(f"{rate:6.2f} steps/s  {rate / one:5.2f}  {name}")
    print(f"reached of what is possible: {several / possible:.2f}")


if __name__ == "__main__":
    main()
