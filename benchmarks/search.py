"""What an index costs on top of FAISS, and what kind of index answers how fast.

    python benchmarks/search.py [--vectors 100000] [--dimensions 512] [--threads 2] [--kinds exact,ivf,hnsw] [--json]

A bare `IndexFlatIP` over the same random unit vectors is timed in turn with an index of ours opened from disk, which
also gives each row its path: one query after the other (latency), and many at once (throughput). The ratios say what
our layer costs. Approximate kinds are built, and timed with the recall that the build measured. Random vectors are the
hardest case for these: real ones have neighbours.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from groundling.model import Vectors
from groundling.search import Index
from groundling.search import store as stores
from groundling.search.build import write_index
from groundling.search.entries import Entries, Entry
from groundling.search.manifest import ModelFacts, StoreFacts

NEAREST = 10


def unit_vectors(count: int, dimensions: int, seed: int) -> Vectors:
    vectors = np.random.default_rng(seed).standard_normal((count, dimensions), dtype=np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def build(folder: Path, vectors: Vectors, kind: str) -> float:
    """An index of these vectors in a folder; the seconds that its vectors took."""
    entries = Entries.of([Entry(f"{row % 100:02}/{row:07}.jpg", f"{row:064}") for row in range(len(vectors))])
    started = time.perf_counter()
    written = stores.write(folder, StoreFacts(), entries, vectors.shape[1], lambda rows: vectors[rows], kind)
    taken = time.perf_counter() - started
    model = ModelFacts(
        kind="run", name="random", backbone="none", fingerprint="none", dimensions=vectors.shape[1], languages=[]
    )
    write_index(folder, "pictures", entries, model, StoreFacts(), written)
    return taken


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def in_turn(first: Callable[[], object], second: Callable[[], object], repeat: int) -> tuple[float, float, float]:
    """Medians of both, and the median of their ratios pair by pair: what else the machine does hits both alike."""
    pairs = []
    for turn in range(repeat + 2):
        # Each goes first every other time, so that neither always finds a warm cache.
        if turn % 2:
            one, two = seconds(first), seconds(second)
        else:
            two, one = seconds(second), seconds(first)
        pairs.append((one, two))
    pairs = pairs[2:]
    ratios = [two / one for one, two in pairs]
    return (
        statistics.median(one for one, _ in pairs),
        statistics.median(two for _, two in pairs),
        statistics.median(ratios),
    )


def measure(options: argparse.Namespace) -> dict[str, Any]:
    vectors = unit_vectors(options.vectors, options.dimensions, seed=0)
    queries = unit_vectors(options.batch, options.dimensions, seed=1)
    bare = faiss.IndexFlatIP(options.dimensions)
    bare.add(vectors)
    result: dict[str, Any] = {
        "vectors": options.vectors,
        "dimensions": options.dimensions,
        "threads": options.threads,
        "kinds": {},
    }
    for kind in options.kinds.split(","):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            built = build(folder, vectors, kind)
            opened = seconds(lambda: Index.open(folder))  # noqa: B023
            index = Index.open(folder)
            number = iter(range(10**9))

            def one() -> Vectors:
                row = next(number) % len(queries)  # noqa: B023
                return queries[row : row + 1]

            latency = in_turn(
                lambda: bare.search(one(), NEAREST),
                lambda: index.nearest(one(), NEAREST),  # noqa: B023
                options.repeat,
            )
            many = in_turn(
                lambda: bare.search(queries, NEAREST),
                lambda: index.nearest(queries, NEAREST),  # noqa: B023
                max(5, options.repeat // 20),
            )
            result["kinds"][kind] = {
                "recall_at_10": index.manifest.search.recall_at_10,
                "effort": index.manifest.search.effort,
                "build_seconds": built,
                "open_seconds": opened,
                "bare_latency_ms": 1000 * latency[0],
                "latency_ms": 1000 * latency[1],
                "latency_ratio": latency[2],
                "bare_queries_per_second": len(queries) / many[0],
                "queries_per_second": len(queries) / many[1],
                "throughput_ratio": many[2],
            }
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description="Latency and throughput of an index against bare FAISS.")
    parser.add_argument("--vectors", type=int, default=100_000)
    parser.add_argument("--dimensions", type=int, default=512)
    parser.add_argument("--batch", type=int, default=256, help="queries at once, for the throughput")
    parser.add_argument("--repeat", type=int, default=200)
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="default: all cores")
    parser.add_argument("--kinds", default="exact", help="exact, ivf, hnsw, or several with commas")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    faiss.omp_set_num_threads(options.threads)
    result = measure(options)
    if options.json:
        print(json.dumps(result, indent=1))
        return
    print(
        f"{options.vectors:,} vectors × {options.dimensions}, {options.threads} threads, bare FAISS IndexFlatIP beside:"
    )
    for kind, found in result["kinds"].items():
        print(
            f"{kind}: one query {found['latency_ms']:.2f} ms, {found['latency_ratio']:.3f} of bare FAISS "
            f"({found['bare_latency_ms']:.2f} ms); {found['queries_per_second']:,.0f} queries/s, "
            f"{found['throughput_ratio']:.3f} of its time ({found['bare_queries_per_second']:,.0f}); "
            f"recall@10 {found['recall_at_10']:.3f}; built in {found['build_seconds']:.1f} s, opened in "
            f"{found['open_seconds']:.2f} s"
        )


if __name__ == "__main__":
    main()
