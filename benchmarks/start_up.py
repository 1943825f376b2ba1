"""How long a search takes from the command line, from start to end: with the run, and with what was exported from it.

    python benchmarks/start_up.py photos.index --query "a dog"

An index whose model is a run with an export beside it (`groundling export RUN`). Every figure is the median of several
processes, each of which starts anew with files that the system has in memory: seconds from start to end, and seconds of
computing, which other programs on the machine change little. `bare` is Python with nothing but NumPy.
"""

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path


def seconds(command: list[str], times: int) -> dict[str, float]:
    """From start to end, and of computing."""
    taken, computed = [], []
    for _ in range(times + 1):
        started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(time.perf_counter() - started)
        computed.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return {"wall": statistics.median(taken[1:]), "cpu": statistics.median(computed[1:])}  # the first one fills caches


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("index", type=Path)
    parser.add_argument("--query", default="a dog")
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--json", action="store_true", help="print JSON")
    given = parser.parse_args()
    from groundling.search import manifest as manifests

    model = manifests.model_names(given.index, manifests.read(given.index))[0]
    ours = [sys.executable, "-m", "groundling"]
    search = [*ours, "search", str(given.index), given.query]
    found = {
        "bare": seconds([sys.executable, "-c", "import numpy"], given.times),
        "--help": seconds([*ours, "--help"], given.times),
        "search, exported": seconds(search, given.times),
        # A device of its own is PyTorch's: the run itself is loaded.
        "search, run": seconds([*search, "--model", model, "--device", "cpu:0"], given.times),
    }
    if given.json:
        return print(json.dumps(found))
    print(f"{'':18} {'wall':>7} {'computing':>11}")
    for name, value in found.items():
        ratio = value["cpu"] / found["bare"]["cpu"]
        print(f"{name:18} {value['wall']:6.2f} s {value['cpu']:9.2f} s  {ratio:5.1f} × bare")


if __name__ == "__main__":
    main()
