"""Memory of `groundling words convert`: a fastText model as .safetensors, and both as text.

A .bin model of random vectors is written into a temporary folder and converted, each time in a process of its own; what
is told is the size of the file that is read, and the most memory that the process had: of its own, and with pages of
mapped files, which the system takes back when it needs them. A model of ten words tells what the libraries take, and
`--source FOLDER` takes groundling from there: the `src` of another commit. Linux only.

    python benchmarks/words_memory.py [--words 300000] [--buckets 500000] [--text] [--source FOLDER] [--json]
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from groundling.words import Subwords, WordVectors
from groundling.words.fasttext_bin import write_bin
from peak_memory import PeakMemory

TO_SAFETENSORS = [("words.bin", "words.safetensors")]
BY_TEXT = [("words.bin", "words.vec"), ("words.vec", "again.safetensors")]


def make(path: Path, words: int, buckets: int, dimensions: int) -> None:
    """Words of up to ten letters; what the numbers are changes no memory."""
    draw = np.random.default_rng(0)
    letters = draw.integers(ord("a"), ord("z") + 1, (words, 4))
    listed = tuple("".join(map(chr, four)) + str(number) for number, four in enumerate(letters))
    matrix, table = (draw.random((rows, dimensions), dtype=np.float32) for rows in (words, buckets))
    write_bin(path, WordVectors(listed, matrix, Subwords(table, 5, 5, buckets)))  # pieces as of published models


def converted(before: Path, after: Path, source: Path | None) -> dict[str, float]:
    """The most memory of the command, in GB as of `PeakMemory`; its scratch file lies beside the others."""
    environment = {**os.environ, "GROUNDLING_CACHE": str(before.parent / "cache"), "OMP_NUM_THREADS": "1"}
    if source is not None:
        environment["PYTHONPATH"] = str(source)
    command = [sys.executable, "-m", "groundling", "words", "convert", str(before), str(after)]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as child:
        peak = PeakMemory(child.pid)
    if child.returncode:
        raise RuntimeError(f"{before.name} → {after.name}: exit code {child.returncode}")
    return {"file_gb": before.stat().st_size / 2**30, "own_gb": peak.own, "all_gb": peak.all}


def measure(words: int, buckets: int, dimensions: int, text: bool, source: Path | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, sizes in (("libraries", (10, 10)), ("model", (words, buckets))):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            make(folder / "words.bin", *sizes, dimensions)
            for before, after in TO_SAFETENSORS + (BY_TEXT if text else []):
                found.setdefault(f"{before} → {after}", {})[name] = converted(folder / before, folder / after, source)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=300_000)
    parser.add_argument("--buckets", type=int, default=500_000)
    parser.add_argument("--dimensions", type=int, default=300)
    parser.add_argument("--text", action="store_true", help="from .bin to .vec and from there to .safetensors, too")
    parser.add_argument("--source", type=Path, help="the src folder of the groundling that converts; this one")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.words, options.buckets, options.dimensions, options.text, options.source)
    if options.json:
        return print(json.dumps({"words": options.words, "buckets": options.buckets, **found}))
    print(f"{options.words:,} words and {options.buckets:,} buckets of {options.dimensions} dimensions")
    for route, sizes in found.items():
        model, nothing = sizes["model"], sizes["libraries"]
        print(
            f"{route:34} a file of {model['file_gb']:.2f} GB: {model['own_gb']:.2f} GB of its own, "
            f"{model['all_gb']:.2f} GB in all; ten words: {nothing['own_gb']:.2f} GB of its own"
        )


if __name__ == "__main__":
    main()
