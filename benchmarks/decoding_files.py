"""Pictures per second from files to batches of pixels: the path of `groundling features` against plain ways to do it.

    python benchmarks/decoding_files.py [--photos FOLDER] [--files 2000] [--rounds 3] [--json]

Ours is what `features` does before its network: each file is looked up by its content, read and decoded in processes
that are held to limits, and handed over through memory that they share with us. One plain way is `imap` of a
`multiprocessing.Pool`, with as many files at a time, which sends arrays through pipes; the other is PyTorch's
`DataLoader`, whose processes put batches together in shared memory. Neither looks up files, or outlives a decoder that
crashes. All have as many processes, of the same priority, which call the same function for each picture (224 pixels,
the centre), and give batches of 64 pictures; that these are the same is checked.

The ways take turns, with processes that are there already. Told are medians over the rounds: pictures a second,
milliseconds of a core that a picture took in this process and in those that it started (Linux), and two ratios, more
than 1 where ours is better: of the clock, and of what all processes together got of the cores, which other programs on
the machine change little.
FOLDER holds picture files. Where there are fewer than asked for, each is there several times, with a few bytes of its
own behind its end; without FOLDER 64 pictures are drawn.
"""

import argparse
import json
import multiprocessing
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import numpy.typing as npt
from torch.utils.data import DataLoader, Dataset

from groundling.decoding.worker_process import NICE
from groundling.decoding.workers import PORTION, shared
from groundling.vision.decoding import decoded, rows_by_content
from groundling.vision.preprocessing import Pixels, Preprocessing
from parts_in_time import seconds_of_children
from picture_encoding import photos, written

CUT = Preprocessing(224)
BATCH = 64
OURS, POOL, LOADER = "ours", "pool", "loader"

Batch = npt.NDArray[Any]
Way = Callable[[list[Path]], Iterator[Batch]]


def together(pictures: Iterable[Pixels]) -> Iterator[Batch]:
    waiting: list[Pixels] = []
    for picture in pictures:
        waiting.append(picture)
        if len(waiting) == BATCH:
            yield np.stack(waiting)
            waiting = []
    if waiting:
        yield np.stack(waiting)


def ours(paths: list[Path]) -> Iterator[Batch]:
    with ThreadPoolExecutor(shared().count) as pool:
        rows, failed = rows_by_content(paths, pool)
        found = decoded(paths, rows, CUT, failed, pool, limit=2 * PORTION * shared().count)
        yield from together(pixels for _, pixels in found)
    assert not failed, failed


def make_way(_: int = 0) -> None:
    """Ours come after other programs; where these keep the machine busy, no way shall have more of it than another."""
    os.nice(NICE)


def cut_file(path: Path) -> Pixels:
    return CUT(path.read_bytes()).copy()  # PyTorch warns of arrays that cannot be written to


class Pictures(Dataset[Pixels]):
    """Also says which are to be read, since the processes of a loader stay and know only what they began with."""

    def __init__(self, paths: list[Path]) -> None:
        self.paths, self.wanted = paths, range(0)

    def __getitem__(self, row: int) -> Pixels:
        return cut_file(self.paths[row])

    def __iter__(self) -> Iterator[int]:
        return iter(self.wanted)

    def __len__(self) -> int:
        return len(self.wanted)


def ways(paths: list[Path], processes: int, pool: Any) -> dict[str, Way]:
    pictures = Pictures(paths)
    loader = DataLoader(
        pictures, BATCH, sampler=pictures, num_workers=processes, persistent_workers=True, worker_init_fn=make_way
    )

    def by_loader(some: list[Path]) -> Iterator[Batch]:
        pictures.wanted = range(len(some))
        return (batch.numpy() for batch in loader)

    return {OURS: ours, POOL: lambda some: together(pool.imap(cut_file, some, PORTION)), LOADER: by_loader}


@dataclass(frozen=True)
class Turn:
    """What a way took for all pictures: seconds of the clock, and of cores by this process and by its children."""

    clock: float
    parent: float
    children: float

    @property
    def cores(self) -> float:
        return self.parent + self.children

    @staticmethod
    def of(way: Way, paths: list[Path]) -> "Turn":
        before = (time.perf_counter(), time.process_time(), seconds_of_children())
        assert sum(len(batch) for batch in way(paths)) == len(paths)
        after = (time.perf_counter(), time.process_time(), seconds_of_children())
        return Turn(*(one - other for one, other in zip(after, before, strict=True)))


def same_pixels(found: dict[str, Way], paths: list[Path]) -> None:
    """Which also has the processes started and their modules loaded."""
    wanted = np.concatenate(list(found[OURS](paths)))
    for way in found.values():
        assert np.array_equal(np.concatenate(list(way(paths))), wanted)


def told(turns: dict[str, list[Turn]], count: int) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, own in turns.items():
        result[name] = {
            "a_second": round(median(count / turn.clock for turn in own), 1),
            "parent_ms": round(median(1000 * turn.parent / count for turn in own), 3),
            "children_ms": round(median(1000 * turn.children / count for turn in own), 3),
        }
    for name in (POOL, LOADER):
        pairs = list(zip(turns[OURS], turns[name], strict=True))
        result[name]["ratio"] = round(median(other.clock / own.clock for own, other in pairs), 2)
        result[name]["ratio_of_cores"] = round(median(other.cores / own.cores for own, other in pairs), 2)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--photos", type=Path, default=None)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    if args.photos is None:
        contents = photos(None, args.files)
    else:
        found = sorted(path for path in args.photos.rglob("*") if path.suffix.lower() in (".jpg", ".jpeg", ".webp"))
        contents = [path.read_bytes() for path in found[: args.files]]
    processes = shared().count
    with tempfile.TemporaryDirectory() as place, multiprocessing.Pool(processes, make_way) as pool:
        paths = [path for path, _ in written(Path(place) / "files", contents, args.files)]
        by_name = ways(paths, processes, pool)
        same_pixels(by_name, paths[: 4 * PORTION * processes])
        turns: dict[str, list[Turn]] = {name: [] for name in by_name}
        for _ in range(args.rounds):
            for name, way in by_name.items():
                turns[name].append(Turn.of(way, paths))
    result = told(turns, len(paths))
    facts = {"files": len(paths), "bytes_of_a_file": sum(map(len, contents)) / len(contents)}
    if args.json:
        print(json.dumps({**facts, "processes": processes, "rounds": args.rounds, **result}))
        return
    print(f"{len(paths)} files of {facts['bytes_of_a_file'] / 1000:.0f} kB, {processes} processes")
    for name, title in ((OURS, "ours"), (POOL, "multiprocessing.Pool"), (LOADER, "DataLoader")):
        own = result[name]
        cost = f"of a core {own['parent_ms']:.2f} ms here, {own['children_ms']:.2f} ms in processes"
        print(f"{title:21} {own['a_second']:7.0f} pictures a second, {cost}")
        if name != OURS:
            print(
                f"{'':21} ours: {own['ratio']:.2f} times as many; {own['ratio_of_cores']:.2f} for equal time of cores"
            )


if __name__ == "__main__":
    main()
