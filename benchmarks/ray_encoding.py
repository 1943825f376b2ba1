"""What a Ray of this machine costs beside the plain path: features of the same drawn JPEGs, in turns.

    python benchmarks/ray_encoding.py [--pictures 512] [--rounds 2] [--cores N] [--json]

EfficientNet-Lite0 at 224 pixels, JPEGs of 640 × 480, an empty cache each time. Two ratios: of the clock, and of the
seconds that all processes together got of the cores (the command, decoders, Ray's own), which other programs on the
machine change little. Both leave out the start, which is told by itself: that of a Ray, and its workers' loading.
Held to: at most 1.15.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from groundling.distributed.cluster import PORTION, Cluster, joined
from groundling.distributed.sources import Item
from groundling.settings import FeatureSettings
from groundling.vision.cache import extract
from groundling.vision.from_settings import backbone_of, preprocessing_of
from groundling.vision.ray_features import ray_features
from picture_costs import WEB, drawn

SETTINGS = FeatureSettings(backbone="efficientnet-lite0")


def core_seconds() -> float:
    """Of this process and all that descend from it and are alive, on Linux."""
    parents: dict[int, int] = {}
    used: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except (FileNotFoundError, ProcessLookupError):
                continue
            parents[int(entry.name)], used[int(entry.name)] = int(fields[1]), int(fields[11]) + int(fields[12])
    ours, size = {os.getpid()}, 0
    while size != len(ours):
        size = len(ours)
        ours |= {child for child, parent in parents.items() if parent in ours}
    return sum(used.get(one, 0) for one in ours) / os.sysconf("SC_CLK_TCK")


class Watched(Cluster):
    """Notes when all its workers are warm, as the plain path is, and when the last picture has come back."""

    def _encoded(self, todo: list[Item], known: Any, decoders: list[Any], encoders: list[Any]) -> Iterator[Any]:
        warm = [one.prepare.remote(todo[:PORTION], known) for one in decoders]
        self.ray.get([one.encode.remote(warm[0]) for one in encoders] + warm)
        self.notes = [(time.perf_counter(), core_seconds())]
        yield from super()._encoded(todo, known, decoders, encoders)
        self.notes.append((time.perf_counter(), core_seconds()))


def by_ray(cluster: Cluster, paths: list[Path]) -> dict[str, float]:
    """Milliseconds for each picture, and the seconds until the workers are warm."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GROUNDLING_CACHE"] = folder
        watched, started = Watched(cluster.ray), time.perf_counter()
        found = ray_features(watched, [Item(path.name, str(path)) for path in paths], [], SETTINGS)
        assert found.encoded == len(paths)
    first, last = watched.notes
    return {
        "clock": 1000 * (last[0] - first[0]) / len(paths),
        "cores": 1000 * (last[1] - first[1]) / len(paths),
        "start_seconds": first[0] - started,
    }


def plain(paths: list[Path]) -> dict[str, float]:
    """The same on the plain path; its decoders and its network are warm."""
    backbone = backbone_of(SETTINGS)
    cut = preprocessing_of(SETTINGS, backbone)
    with tempfile.TemporaryDirectory() as folder:
        extract(paths[:PORTION], backbone, cut, folder=Path(folder))
        started, before = time.perf_counter(), core_seconds()
        extract(paths, backbone, cut, folder=Path(folder))
        pictures = len(paths) - PORTION
        return {
            "clock": 1000 * (time.perf_counter() - started) / pictures,
            "cores": 1000 * (core_seconds() - before) / pictures,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description="A Ray of this machine against the plain path.")
    parser.add_argument("--pictures", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.cores)
    with tempfile.TemporaryDirectory() as name:
        paths = [Path(name) / f"{number:05}.jpg" for number in range(options.pictures)]
        for number, path in enumerate(paths):
            path.write_bytes(drawn(WEB, number))
        started = time.perf_counter()
        rounds = []
        with joined("local", options.cores) as cluster:
            ray_start = time.perf_counter() - started
            for turn in range(options.rounds):
                before = plain(paths) if turn % 2 else None  # each goes first every other time
                other = by_ray(cluster, paths)
                rounds.append((before or plain(paths), other))
    result: dict[str, Any] = {
        "pictures": options.pictures,
        "cores": options.cores,
        "rounds": [{"plain": one, "ray": two} for one, two in rounds],
        "ray_start_seconds": ray_start,
        "workers_start_seconds": statistics.median(two["start_seconds"] for _, two in rounds),
    }
    for what in ("clock", "cores"):
        result[f"plain_{what}_ms"] = statistics.median(one[what] for one, _ in rounds)
        result[f"ray_{what}_ms"] = statistics.median(two[what] for _, two in rounds)
        result[f"{what}_ratio"] = statistics.median(two[what] / one[what] for one, two in rounds)
    if options.json:
        print(json.dumps(result, indent=1))
        return
    print(
        f"{options.pictures} pictures, {options.cores} cores, {options.rounds} rounds; milliseconds for each picture:"
    )
    print(f"by the clock:  plain {result['plain_clock_ms']:.1f}, Ray {result['ray_clock_ms']:.1f}: "
          f"{result['clock_ratio']:.2f}")  # fmt: skip
    print(f"of the cores:  plain {result['plain_cores_ms']:.1f}, Ray {result['ray_cores_ms']:.1f}: "
          f"{result['cores_ratio']:.2f}")  # fmt: skip
    print(f"start: Ray {ray_start:.1f} s, its workers {result['workers_start_seconds']:.1f} s")


if __name__ == "__main__":
    main()
