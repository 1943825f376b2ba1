"""Sentence pairs by the million: read, deduplicated, held out, cut into words, drawn in batches, within a memory limit.

Pairs are generated into a .tsv file (twelve words of 50,000 each side, every hundredth pair there twice), read into a
store, cut as a student of whole words reads them, and 200 batches of 128 are drawn with vectors of a teacher that costs
nothing. What is printed is the time of each part and the most memory of its own that the process ever had; pages of
mapped files, which the system takes back when it needs them, are not counted. Linux only.

    python benchmarks/streaming_pairs.py [--pairs 10000000] [--folder DIR] [--json]
"""

import argparse
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from groundling.batches.distillation import DistillationData, DistillationSampler
from groundling.batches.ragged import Ragged
from groundling.corpus.pairs import PairStore
from groundling.corpus.pairs.cached_vectors import CachedVectors
from groundling.corpus.pairs.row import Wanted
from groundling.encoders.tokenisers.words import WordTokeniser
from groundling.settings import TextSettings
from peak_memory import PeakMemory

WORDS, LONG, DIMENSIONS = 50_000, 12, 64
LIMIT = 2.0  # GB


def generate(path: Path, pairs: int) -> None:
    draw = np.random.default_rng(0)
    known, new = (np.array([f"{letter}{number}" for number in range(WORDS)]) for letter in "kn")
    with path.open("w", encoding="utf-8") as file:
        for start in range(0, pairs, 10_000):
            chosen = draw.integers(0, WORDS, (min(10_000, pairs - start), LONG))
            lines = [f"{' '.join(known[row])}\t{' '.join(new[row])}\n" for row in chosen]
            lines[::100] = lines[1::100][: len(lines[::100])] if len(lines) > 100 else lines[::100]
            file.writelines(lines)


def cheap_teacher(texts: Sequence[str], languages: Sequence[str]) -> np.ndarray:
    seeds = [int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big") for text in texts]
    return np.cos(np.array(seeds, dtype=np.float32)[:, None] * np.arange(1, DIMENSIONS + 1, dtype=np.float32))


def measure(pairs: int, folder: Path) -> dict[str, float]:
    os.environ["GROUNDLING_CACHE"] = str(folder / "cache")
    peak = PeakMemory()
    path = folder / "pairs.tsv"
    generate(path, pairs)
    found: dict[str, float] = {"pairs": pairs, "file_gb": path.stat().st_size / 2**30, "before_gb": peak.so_far()}
    started = time.perf_counter()
    store = PairStore.open(path, Wanted(("de",), "en", ("en",)))
    found |= {"read_s": time.perf_counter() - started, "read_gb": peak.so_far(), "duplicates": store.duplicates}
    started = time.perf_counter()
    train = store.split("train")
    tokeniser = WordTokeniser.build(train.new[:1_000_000], train.languages[:1_000_000], TextSettings(minimum_count=2))
    tokens = Ragged.cut(tokeniser, train.new, train.languages, train.folder)
    found |= {"cut_s": time.perf_counter() - started, "cut_gb": peak.so_far(), "left": len(train)}
    started = time.perf_counter()
    data = DistillationData.of(
        train, tokens, CachedVectors(train, cheap_teacher, folder / "vectors"), torch.device("cpu")
    )
    sampler = DistillationSampler(data, 128, 0)
    for step in range(200):
        data.bring(sampler.batch(step), sampler.soon)
    return found | {"drawn_s": time.perf_counter() - started, "most_gb": peak.so_far()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10_000_000)
    parser.add_argument("--folder", type=Path, help="where the files go; a temporary folder when left out")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        result = measure(options.pairs, Path(place))
    if options.json:
        print(json.dumps(result))
    else:
        print(f"{result['pairs']:,} pairs, a file of {result['file_gb']:.2f} GB; {result['duplicates']:,} there twice")
        print(f"read into the store    {result['read_s']:7.1f} s   {result['read_gb']:.2f} GB at most")
        print(f"cut into words         {result['cut_s']:7.1f} s   {result['cut_gb']:.2f} GB at most")
        print(f"200 batches drawn      {result['drawn_s']:7.1f} s   {result['most_gb']:.2f} GB at most")
        print(f"held to: {LIMIT} GB {'(kept)' if result['most_gb'] <= LIMIT else '(NOT kept)'}")
