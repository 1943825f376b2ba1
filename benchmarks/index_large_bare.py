"""Bare FAISS beside `index_large.py`, which starts this in a process of its own, so that its memory is its own.

    python benchmarks/index_large_bare.py VECTORS.npy QUERIES.npy INDEX.faiss LISTS CODE_BYTES PROBES CANDIDATES THREADS

It makes what FAISS has for the same (IndexRefine over IndexIVFPQ and half-precision vectors, all in memory) from all of
the vectors: it finds centres and codes from the same sample with the same rounds, adds, and writes the index; then it
reads that back, says what this took, and answers.
"""

import sys
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from asked_process import answer_all
from groundling.search import disk_build
from peak_memory import PeakMemory
from seconds import Clock

NEAREST, WARMING = 10, 50  # answers, and queries before memory is looked at


def build(vectors: Any, lists: int, code_bytes: int, seconds: dict[str, Any]) -> Any:
    dimensions, metric = vectors.shape[1], faiss.METRIC_INNER_PRODUCT
    index = faiss.IndexIVFPQ(faiss.IndexFlatIP(dimensions), dimensions, lists, code_bytes, 8, metric)
    index.pq.cp.niter, index.pq.cp.max_points_per_centroid = disk_build.CODE_ROUNDS, disk_build.CODE_TRAINING
    clock = Clock()
    sampled = min(len(vectors), disk_build.TRAINING * lists)
    few = np.random.default_rng(0).choice(len(vectors), sampled, replace=False)
    index.train(vectors[np.sort(few)].astype(np.float32))
    seconds["train"], clock = clock.seconds(), Clock()
    full = faiss.IndexScalarQuantizer(dimensions, faiss.ScalarQuantizer.QT_fp16, metric)
    for start in range(0, len(vectors), disk_build.AT_ONCE):
        some = vectors[start : start + disk_build.AT_ONCE].astype(np.float32)
        index.add(some)
        full.add(some)
    seconds["add"] = clock.seconds()
    refined = faiss.IndexRefine(index, full)
    index.this.disown()
    full.this.disown()
    refined.own_fields = refined.own_refine_index = True  # so that it is gone as a whole
    return refined


def main() -> None:
    places, numbers = sys.argv[1:4], [int(number) for number in sys.argv[4:]]
    vectors, queries = np.load(places[0], mmap_mode="r"), np.load(places[1])
    lists, code_bytes, probes, candidates, threads = numbers
    faiss.omp_set_num_threads(threads)
    peak, seconds, clock = PeakMemory(), dict[str, Any](), Clock()
    said: dict[str, Any] = {"loaded_memory_gb": peak.since_last()}
    index = build(vectors, lists, code_bytes, seconds)
    writing = Clock()
    faiss.write_index(index, places[2])
    seconds["write"] = writing.seconds()
    said |= {"build_seconds": clock.seconds(), "build_parts": seconds}
    said["build_memory_gb"] = peak.since_last()
    said["disk_gb"] = round(Path(places[2]).stat().st_size / 1e9, 3)
    del index
    peak.since_last()
    clock = Clock()
    index = faiss.read_index(places[2])
    said["open_seconds"] = clock.seconds()
    faiss.downcast_index(index.base_index).nprobe = probes
    index.k_factor = candidates / NEAREST
    index.search(queries[:WARMING], NEAREST)
    said["search_memory_gb"] = peak.since_last()
    answer_all(said, lambda place: index.search(queries[place : place + 1], NEAREST)[1][0])


if __name__ == "__main__":
    main()
