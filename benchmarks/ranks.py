"""What exact ranks cost: time against one float32 matrix product of the same size, and memory beyond the vectors.

    python benchmarks/ranks.py [--pictures 5000] [--captions 25000] [--dimensions 1024] [--threads 2] [--json]
    python benchmarks/ranks.py --vectors collapsed    # or copied; the time alone

The product writes into memory that is already there, so that it is as fast as it can be, and it is timed in turn with
our ranks in the same run. Vectors are random: a trained model has fewer scores near a threshold, and is faster. Those
that are hard to tell apart are slower: collapsed (all scores agree to five digits), copied (a hundred, over and over).
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import torch

from groundling.evaluation.ranks import ranks
from ranks_gpu import collapsed, copied

KINDS: dict[str, Callable[[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor]]] = {
    "random": lambda pictures, captions: (pictures, captions),
    "collapsed": collapsed,
    "copied": copied,
}


def random_vectors(rows: int, dimensions: int) -> torch.Tensor:
    """Unit vectors, made in place: the peak of memory must not come from here."""
    vectors = torch.empty(rows, dimensions).normal_()
    for part in vectors.split(1000):
        part /= part.norm(dim=1, keepdim=True)
    return vectors


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def time_ratio(pictures: int, captions: int, dimensions: int, repeat: int, kind: str) -> dict[str, float]:
    """Medians of both, one after the other in every repetition, after one round to warm up."""
    gallery, queries = KINDS[kind](random_vectors(pictures, dimensions), random_vectors(captions, dimensions))
    owners = torch.arange(captions) * pictures // captions
    product = torch.empty(pictures, captions)
    times: dict[str, list[float]] = {"product": [], "ranks": []}
    for _ in range(repeat + 1):
        times["product"].append(seconds(lambda: torch.mm(gallery, queries.T, out=product)))
        times["ranks"].append(seconds(lambda: ranks(gallery, queries, owners)))
    medians = {name: statistics.median(values[1:]) for name, values in times.items()}
    return {
        "product_seconds": medians["product"],
        "ranks_seconds": medians["ranks"],
        "ratio": medians["ranks"] / medians["product"],
    }


def extra_memory(pictures: int, captions: int, dimensions: int) -> float:
    """By how many MB the peak of this very process grows while it ranks."""
    gallery, queries = random_vectors(pictures, dimensions), random_vectors(captions, dimensions)
    owners = torch.arange(captions) * pictures // captions
    before = peak_memory()
    ranks(gallery, queries, owners)
    return peak_memory() - before


def peak_memory() -> float:
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def extra_memory_apart(options: argparse.Namespace, captions: int) -> float:
    """The same in a process of its own, since a process never forgets its peak."""
    command = [sys.executable, __file__, "--only-memory", "--captions", str(captions)]
    for name in ("pictures", "dimensions", "threads"):
        command += [f"--{name}", str(getattr(options, name))]
    # Large blocks go back to the system when they are freed: we ask what is in use, not what an allocator puts by.
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": str(2**20)}
    return float(subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description="Time and memory of exact ranks.")
    parser.add_argument("--pictures", type=int, default=5_000)
    parser.add_argument("--captions", type=int, default=25_000)
    parser.add_argument("--dimensions", type=int, default=1_024)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--vectors", choices=KINDS, default="random")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="default: all cores")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--only-memory", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    if options.only_memory:
        print(extra_memory(options.pictures, options.captions, options.dimensions))
        return
    sizes = (options.captions, 2 * options.captions) if options.vectors == "random" else ()
    memory = {captions: extra_memory_apart(options, captions) for captions in sizes}
    result = {
        "pictures": options.pictures,
        "captions": options.captions,
        "dimensions": options.dimensions,
        "vectors": options.vectors,
        "threads": options.threads,
        **time_ratio(options.pictures, options.captions, options.dimensions, options.repeat, options.vectors),
        "extra_megabytes": {str(captions): round(value, 1) for captions, value in memory.items()},
        "score_matrix_megabytes": {str(captions): options.pictures * captions * 4 / 2**20 for captions in sizes},
    }
    if options.json:
        print(json.dumps(result, indent=1))
        return
    print(
        f"{options.pictures:,} pictures × {options.captions:,} captions × {options.dimensions:,} dimensions, ", end=""
    )
    print(f"{options.vectors} vectors, {options.threads} threads")
    print(f"one float32 product   {result['product_seconds']:.2f} s")
    print(f"ranks, both directions {result['ranks_seconds']:.2f} s = {result['ratio']:.2f} products")
    for captions in sizes:
        print(f"memory beyond the vectors with {captions:,} captions: {memory[captions]:.0f} MB", end=" ")
        print(f"(all scores would be {options.pictures * captions * 4 / 2**20:.0f} MB)")


if __name__ == "__main__":
    main()
