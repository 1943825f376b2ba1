"""An index of `index_large.py`, which starts this in a process of its own: it is opened and asked.

python benchmarks/index_large_open.py INDEX QUERIES.npy [--folder NAME] [--threads 1] [--json FILE]
"""

import argparse
import json
from pathlib import Path
from typing import Any

import faiss
import numpy as np

from asked_process import answer_all
from groundling.search import Index
from groundling.search.search_filter import SearchFilter
from index_large_bare import NEAREST, WARMING
from made import made
from peak_memory import PeakMemory
from seconds import Clock


def main() -> None:
    parser = argparse.ArgumentParser(description="The memory of an index that is open.")
    parser.add_argument("index", type=Path)
    parser.add_argument("queries", type=Path)
    parser.add_argument("--folder", help="look there only")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the figures there instead of answering")
    options = parser.parse_args()
    queries, choice = np.load(options.queries), None if options.folder is None else SearchFilter(options.folder)
    faiss.omp_set_num_threads(options.threads)
    peak, clock = PeakMemory(), Clock()
    said: dict[str, Any] = {"loaded_memory_gb": peak.since_last()}
    index = Index.open(options.index)
    said |= {"vectors": len(index), "dimensions": queries.shape[1], "open_seconds": clock.seconds()}
    index.nearest(queries[:WARMING], NEAREST, choice)
    said["search_memory_gb"] = peak.since_last()

    def search(place: int) -> list[int]:
        found = index.nearest(queries[place : place + 1], NEAREST, choice)[0]
        return [int(Path(one.path).stem) for one in found]

    if options.json is None:
        return answer_all(said, search)
    options.json.write_text(json.dumps({**said, "made": made()}, indent=1) + "\n")


if __name__ == "__main__":
    main()
