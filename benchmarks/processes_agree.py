"""One training in 1, 2 and 4 processes of this machine (`groundling train --processes`): are the weights the same?

The same recipe (`polyglot` and `lessons`, nothing drawn in a step, float32) on captions and features drawn for it. On
a machine with fewer GPUs than processes these share them, and speak by gloo, since NCCL wants a GPU for each. What is
told is the largest difference of a loss, as a share, and of a weight, and as a measure for it how far training has
moved that weight at most. Were batches not the same, losses would differ by far more than the order of sums explains.

    python benchmarks/processes_agree.py [--counts 1 2 4] [--steps 40] [--device cuda] [--systems polyglot] [--json]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from safetensors.numpy import load_file

SYSTEMS = {
    "polyglot": {"dropout": 0, "picture_dropout": 0, "noise": 0, "word_dropout": 0},
    "lessons": {"caption_pairs_after": 10},
}


def draw_corpus(folder: Path, pictures: int = 600) -> Path:
    """Captions in two languages that have to do with the features of their pictures."""
    draw = np.random.default_rng(0)
    features = draw.standard_normal((pictures, 64)).astype(np.float32)
    folder.mkdir()
    np.save(folder / "features.npy", features)
    names = [f"{number:04}.jpg" for number in range(pictures)]
    (folder / "names.txt").write_text("".join(f"{name}\n" for name in names))
    for name in names:  # a captions table names files, which nobody opens here
        Image.new("RGB", (8, 8)).save(folder / name)
    rows = ["picture\ttext\tlanguage\tsplit\n"]
    for number, name in enumerate(names):
        split = "train" if number < 0.8 * pictures else "dev" if number < 0.9 * pictures else "test"
        told = np.argsort(-np.abs(features[number]))[: draw.integers(4, 12)]
        for language in ("en", "de"):
            words = [f"{language}{place}{'up' if features[number, place] > 0 else 'down'}" for place in told]
            rows.append(f"{name}\t{' '.join(words)}\t{language}\t{split}\n")
    (folder / "captions.tsv").write_text("".join(rows))
    return folder


def train(corpus: Path, system: str, count: int, steps: int, device: str, out: Path) -> float:
    """Seconds of the whole command."""
    settings = {f"system.{name}": value for name, value in SYSTEMS[system].items()}
    settings |= {"training.batch_size": 128, "training.precision": "float32", "training.maximum_steps": steps}
    settings |= {"features.array": corpus / "features.npy", "features.names": corpus / "names.txt"}
    settings |= {"training.validate_every": max(1, steps // 4), "training.seed": 0, "text.minimum_count": 1}
    command = [
        sys.executable,
        "-m",
        "groundling",
        "train",
        "--corpus",
        str(corpus),
        "--system",
        system,
        "--device",
        device,
    ]
    command += [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    command += ["--out", str(out), "--processes", str(count)]
    started = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{count} processes: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return time.perf_counter() - started


def losses(run: Path) -> list[float]:
    rows = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [row["loss"] for row in rows if "loss" in row]


def compare(one: Path, other: Path, begun: dict[str, Any]) -> dict[str, float]:
    weights, others = load_file(one / "best.safetensors"), load_file(other / "best.safetensors")
    apart = {name: float(np.abs(weights[name] - others[name]).max()) for name in weights if weights[name].size}
    worst = max(apart, key=lambda name: apart[name])
    pairs = list(zip(losses(one), losses(other), strict=True))
    return {
        "loss_difference": max(abs(two - first) / abs(first) for first, two in pairs),
        "weight_difference": apart[worst],
        "weight_moved": float(np.abs(weights[worst] - begun[worst]).max()),
    }


def measure(counts: list[int], steps: int, device: str, system: str, place: Path, at_once: int) -> dict[str, Any]:
    corpus = place / "corpus" if (place / "corpus").exists() else draw_corpus(place / "corpus")
    runs = {count: place / f"{system}-{count}" for count in counts}
    begun = place / f"{system}-begun"
    with ThreadPoolExecutor(at_once) as pool:
        told = {count: pool.submit(train, corpus, system, count, steps, device, runs[count]) for count in counts}
        pool.submit(train, corpus, system, 1, 1, device, begun).result()
        seconds = {count: future.result() for count, future in told.items()}
    first, *rest = counts
    return {
        "steps": steps,
        "losses": losses(runs[first]),
        "seconds": seconds,
        "differences": {
            count: compare(runs[first], runs[count], load_file(begun / "best.safetensors")) for count in rest
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--counts", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS))
    parser.add_argument("--at-once", type=int, default=1, help="trainings at the same time")
    parser.add_argument("--json", action="store_true")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        os.environ.setdefault("GROUNDLING_CACHE", str(Path(place) / "cache"))
        found = {
            system: measure(told.counts, told.steps, told.device, system, Path(place), told.at_once)
            for system in told.systems
        }
    if told.json:
        return print(json.dumps({"device": told.device, "systems": found}))
    for system, result in found.items():
        for count, apart in result["differences"].items():
            print(
                f"{system}, {count} processes: losses apart by {apart['loss_difference']:.1e} of theirs, weights by "
                f"{apart['weight_difference']:.1e} where training has moved them by {apart['weight_moved']:.1e}"
            )


if __name__ == "__main__":
    main()
