"""Memory of commands that read a fastText model: converted, with fewer dimensions, aligned (to itself), and as text.

A .bin model of random vectors is written into a temporary folder, and each command reads it in a process of its own;
what is told is the size of the file that is read, and the most memory that the process had: of its own, and with pages
of mapped files, which the system takes back when it needs them. A model of ten words tells what the libraries take, and
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

COMMANDS = [  # each names the file that it reads first
    "words convert words.bin words.safetensors",
    "words reduce words.bin --dimensions 50 --out reduced.safetensors",
    "align words.bin words.bin --dictionary pairs.txt --device cpu --out aligned",
]
BY_TEXT = ["words convert words.bin words.vec", "words convert words.vec again.safetensors"]


def make(folder: Path, words: int, buckets: int, dimensions: int) -> None:
    """Words of up to ten letters, ten of which a dictionary has; what the numbers are changes no memory."""
    draw = np.random.default_rng(0)
    letters = draw.integers(ord("a"), ord("z") + 1, (words, 4))
    listed = tuple("".join(map(chr, four)) + str(number) for number, four in enumerate(letters))
    matrix, table = (draw.random((rows, dimensions), dtype=np.float32) for rows in (words, buckets))
    pieces = Subwords(table, 5, 5, buckets)  # as of published models
    write_bin(folder / "words.bin", WordVectors(listed, matrix, pieces))
    (folder / "pairs.txt").write_text("".join(f"{word} {word}\n" for word in listed[:10]))


def most_memory(command: str, folder: Path, source: Path | None) -> dict[str, float]:
    """The most memory of a command in the folder, in GB as of `PeakMemory`; its scratch file lies beside the others."""
    environment = {**os.environ, "GROUNDLING_CACHE": str(folder / "cache"), "OMP_NUM_THREADS": "1"}
    if source is not None:
        environment["PYTHONPATH"] = str(source.resolve())
    words = command.split()
    read = next(folder / word for word in words if word.startswith("words."))
    with subprocess.Popen(
        [sys.executable, "-m", "groundling", *words], cwd=folder, env=environment, stdout=subprocess.DEVNULL
    ) as child:
        peak = PeakMemory(child.pid)
    if child.returncode:
        raise RuntimeError(f"groundling {command}: exit code {child.returncode}")
    return {"file_gb": read.stat().st_size / 2**30, "own_gb": peak.own, "all_gb": peak.all}


def measure(words: int, buckets: int, dimensions: int, text: bool, source: Path | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, sizes in (("libraries", (10, 10)), ("model", (words, buckets))):
        with tempfile.TemporaryDirectory() as place:
            make(Path(place), *sizes, dimensions)
            for command in COMMANDS + (BY_TEXT if text else []):
                found.setdefault(command, {})[name] = most_memory(command, Path(place), source)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=300_000)
    parser.add_argument("--buckets", type=int, default=500_000)
    parser.add_argument("--dimensions", type=int, default=300)
    parser.add_argument("--text", action="store_true", help="convert to .vec and from there to .safetensors, too")
    parser.add_argument("--source", type=Path, help="the src folder of the groundling that is measured; this one")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    found = measure(options.words, options.buckets, options.dimensions, options.text, options.source)
    if options.json:
        return print(json.dumps({"words": options.words, "buckets": options.buckets, **found}))
    print(f"{options.words:,} words and {options.buckets:,} buckets of {options.dimensions} dimensions")
    for command, sizes in found.items():
        model, nothing = sizes["model"], sizes["libraries"]
        print(
            f"{command:76} a file of {model['file_gb']:.2f} GB: {model['own_gb']:.2f} GB of its own, "
            f"{model['all_gb']:.2f} GB in all; ten words: {nothing['own_gb']:.2f} GB of its own"
        )


if __name__ == "__main__":
    main()
