"""An index of tens of millions of vectors on one machine, beside bare FAISS with the same parameters.

    python benchmarks/index_large.py [--vectors 10000000] [--dimensions 128] [--folder DIR] [--json FILE]
    python benchmarks/index_large.py --kind ivf --vectors 200000 --dimensions 64    # all vectors in memory

Vectors are generated in clusters of very different sizes, with directions that vary much and little, as those of real
encoders do, and written in half precision to a file. From there they are indexed with `--store faiss-disk`, in blocks;
the index is opened in a process of its own (`index_large_open.py`) and asked 500 queries that it does not hold, one at
a time. What is printed: time of the build and of its parts, disk, the most memory of its own that a process had (pages
of mapped files, which the system takes back when it needs them, are not counted), p50 and p99, with and without a
folder to look in, and recall@10 against exact search. Bare FAISS beside it is built whole in a process of its own
(`index_large_bare.py`), with as many lists, codes of as many bytes, probes and candidates, everything in memory, and is
asked in turn with ours. With --kind ivf it is what `--store faiss --kind ivf` makes, and bare FAISS makes one of as
many lists from as many vectors.

Seconds of computing are those of one process; where other programs use the machine, only they mean something. Linux
only.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from asked_process import Answer, AskedProcess
from groundling.model import Vectors
from groundling.search import disk_build, faiss_store, manifest
from groundling.search import store as stores
from groundling.search.build import write_index
from groundling.search.entries import SCHEMA, Entries, Rows
from groundling.search.manifest import ModelFacts, StoreFacts
from groundling.search.recall import Aim
from index_large_bare import NEAREST
from made import made
from peak_memory import PeakMemory
from seconds import Clock

QUERIES, AT_ONCE, FOLDERS = 500, 2**16, 50


class World:
    """Clusters whose sizes and directions are as uneven as those of real vectors."""

    def __init__(self, dimensions: int, clusters: int = 20_000) -> None:
        draw = np.random.default_rng(7)
        self.spread = np.arange(1, dimensions + 1, dtype=np.float32) ** -0.5
        self.turn = np.linalg.qr(draw.standard_normal((dimensions, dimensions)))[0].astype(np.float32)
        self.centres = draw.standard_normal((clusters, dimensions), dtype=np.float32)
        shares = np.arange(1, clusters + 1) ** -0.6
        self.up_to = np.cumsum(shares / shares.sum())

    def vectors(self, count: int, seed: int) -> Vectors:
        draw = np.random.default_rng([8, seed])
        chosen = np.minimum(np.searchsorted(self.up_to, draw.random(count)), len(self.centres) - 1)
        made = self.centres[chosen] + 0.6 * draw.standard_normal((count, len(self.turn)), dtype=np.float32)
        made = (made * self.spread) @ self.turn
        return made / np.linalg.norm(made, axis=1, keepdims=True)


def generate(world: World, path: Path, count: int) -> Any:
    dimensions = len(world.turn)
    made = np.lib.format.open_memmap(path, "w+", dtype=np.float16, shape=(count, dimensions))
    for part, start in enumerate(range(0, count, AT_ONCE)):
        made[start : start + AT_ONCE] = world.vectors(min(AT_ONCE, count - start), part + 1)
    made.flush()
    return np.load(path, mmap_mode="r")


def table(count: int) -> Entries:
    """Names in folders, and digests of the usual length."""
    parts = []
    for start in range(0, count, 2**20):
        rows = pa.array(np.arange(start, min(start + 2**20, count)))
        number = pc.utf8_lpad(rows.cast(pa.string()), 9, "0")
        inside = pa.array(np.arange(start, start + len(rows)) % FOLDERS).cast(pa.string())
        empty, zero = pa.array([""] * len(rows)), pa.array(np.zeros(len(rows), dtype=np.int64))
        name = pc.binary_join_element_wise(pc.binary_join_element_wise(inside, number, "/"), "jpg", ".")
        digest = pc.utf8_lpad(number, 64, "0")
        parts.append(pa.table([name, empty, zero, zero, digest, empty], schema=SCHEMA))
    return Entries(pa.concat_tables(parts))


def build(folder: Path, vectors: Any, aim: Aim) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """The index in a folder; seconds of the whole, and of its parts."""
    entries = table(len(vectors))
    parts = {
        "train": timed(disk_build.Work, "train"),
        "add": timed(disk_build.Work, "write_block"),
        "gather": timed(disk_build.Work, "gather"),
        "tune": timed(disk_build, "tune"),
    }
    clock = Clock()

    def fetch(rows: Rows) -> Vectors:
        together = rows[-1] - rows[0] == len(rows) - 1
        return vectors[rows[0] : rows[-1] + 1] if together else vectors[rows]

    place, dimensions = StoreFacts(name="faiss-disk"), vectors.shape[1]
    written = stores.write(folder, place, entries, dimensions, fetch, "auto", aim)
    model = ModelFacts(kind="run", name="g", backbone="none", fingerprint="none", dimensions=dimensions, languages=[])
    write_index(folder, "pictures", entries, model, place, written)
    taken = clock.seconds()
    return taken, {name: {key: round(sum(some), 1) for key, some in part.items()} for name, part in parts.items()}


def timed(owner: Any, name: str) -> dict[str, list[float]]:
    """From now on each call of this function of a module or class leaves its seconds in what is returned."""
    function, taken = getattr(owner, name), {"wall": list[float](), "computing": list[float]()}

    def called(*arguments: Any) -> Any:
        wall, computing = time.perf_counter(), time.process_time()
        value = function(*arguments)
        taken["wall"].append(time.perf_counter() - wall)
        taken["computing"].append(time.process_time() - computing)
        return value

    setattr(owner, name, called)
    return taken


def exact(vectors: Any, queries: Vectors) -> Rows:
    """The true nearest, a portion at a time."""
    heap = faiss.ResultHeap(len(queries), NEAREST, keep_max=True)
    for start in range(0, len(vectors), AT_ONCE):
        part = vectors[start : start + AT_ONCE].astype(np.float32)
        scores, rows = faiss.knn(queries, part, NEAREST, metric=faiss.METRIC_INNER_PRODUCT)
        heap.add_result(scores, rows + start)
    heap.finalize()
    return heap.I


def recall(found: list[list[int]], truth: Rows) -> float:
    shares = [len({*some} & {*row}) / NEAREST for some, row in zip(found, truth.tolist(), strict=True)]
    return round(float(np.mean(shares)), 4)


def spread(times: list[float]) -> dict[str, float]:
    return {f"p{share}_ms": round(1000 * float(np.percentile(times, share)), 2) for share in (50, 99)}


def ask(ways: dict[str, Callable[[int], Answer]], queries: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Each query in every way, in turn, once to warm up and once timed: what it took, and the rows found."""
    times: dict[str, list[float]] = {}
    rows: dict[str, list[list[int]]] = {name: [] for name in ways}
    for counted in (False, True):
        for place in range(queries):
            for name in list(ways)[:: 1 if place % 2 else -1]:
                wall, computing, found = ways[name](place)
                if counted:
                    times.setdefault(name, []).append(wall)
                    times.setdefault(f"{name}_computing", []).append(computing)
                    rows[name].append(found)
    return {name: spread(some) for name, some in sorted(times.items())}, rows


def answers(search: Callable[[Vectors], list[int]], queries: Vectors) -> Callable[[int], Answer]:
    """A way of searching, with what it took."""

    def answer(place: int) -> Answer:
        wall, computing = time.perf_counter(), time.process_time()
        found = search(queries[place : place + 1])
        return time.perf_counter() - wall, time.process_time() - computing, found

    return answer


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    faiss.omp_set_num_threads(options.threads)
    peak, clock = PeakMemory(), Clock()
    world = World(options.dimensions)
    vectors = generate(world, folder / "generated.npy", options.vectors)
    result: dict[str, Any] = {
        "vectors": options.vectors,
        "dimensions": options.dimensions,
        "threads": options.threads,
        "generated_seconds": clock.seconds(),
    }
    peak.since_last()
    (folder / "index").mkdir()
    ours: dict[str, Any] = {}
    ours["build_seconds"], ours["build_parts"] = build(folder / "index", vectors, Aim(options.recall))
    ours["build_memory_gb"] = peak.since_last()
    print(json.dumps(ours), file=sys.stderr, flush=True)
    sizes = {path.suffix[1:]: path.stat().st_size for path in (folder / "index").iterdir() if path.is_file()}
    ours["disk_gb"] = {name: round(size / 1e9, 3) for name, size in sizes.items()}
    facts = manifest.read(folder / "index").search
    result["search"] = facts.model_dump()
    queries = world.vectors(QUERIES, 0)
    np.save(folder / "queries.npy", queries)
    lists, code_bytes = lists_of(folder / "index")
    numbers = [lists, code_bytes, facts.effort, facts.candidates, options.threads]
    places = [folder / name for name in ("generated.npy", "queries.npy", "bare.faiss")]
    bare = AskedProcess("index_large_bare.py", *places, *numbers)
    print(json.dumps(bare.facts), file=sys.stderr, flush=True)
    to_open = ["index_large_open.py", folder / "index", folder / "queries.npy", "--threads", options.threads]
    opened = AskedProcess(*to_open)
    result |= {"ours": ours | opened.facts, "bare": bare.facts}
    result["queries"], rows = ask({"ours": opened.ask, "bare": bare.ask}, QUERIES)
    opened.end()
    bare.end()
    truth = exact(vectors, queries)
    result["recall_at_10"] = {name: recall(some, truth) for name, some in rows.items()}
    inside = AskedProcess(*to_open, "--folder", "7")
    result["queries_in_a_folder"], _ = ask({"ours": inside.ask}, 100)
    inside.end()
    return result


def lists_of(folder: Path) -> tuple[int, int]:
    """How many lists an index on disk has, and the bytes of a code."""
    (path,) = folder.glob("*.faiss")
    index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP)
    return index.nlist, index.code_size


def measure_in_memory(options: argparse.Namespace) -> dict[str, Any]:
    """An index whose vectors are all in memory, in lists."""
    faiss.omp_set_num_threads(options.threads)
    world = World(options.dimensions)
    vectors, queries = world.vectors(options.vectors, 1), world.vectors(QUERIES, 0)
    clock = Clock()
    index, facts = faiss_store.make(vectors, "ivf", Aim(options.recall))
    built, clock = clock.seconds(), Clock()
    bare = faiss.IndexIVFFlat(
        faiss.IndexFlatIP(options.dimensions), options.dimensions, index.nlist, faiss.METRIC_INNER_PRODUCT
    )
    bare.train(vectors[: faiss_store.TRAINING * index.nlist])
    bare.add(vectors)
    result = {"vectors": options.vectors, "dimensions": options.dimensions}
    result |= {"build_seconds": built, "bare_build_seconds": clock.seconds(), "search": facts.model_dump()}
    index.nprobe = bare.nprobe = facts.effort
    ways = {
        name: answers(lambda query, one=one: one.search(query, NEAREST)[1][0].tolist(), queries)
        for name, one in (("ours", index), ("bare", bare))
    }
    result["queries"], rows = ask(ways, QUERIES)
    truth = exact(vectors, queries)
    return {**result, "recall_at_10": {name: recall(found, truth) for name, found in rows.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description="A large index on disk beside bare FAISS.")
    parser.add_argument("--vectors", type=int, default=10_000_000)
    parser.add_argument("--dimensions", type=int, default=128)
    parser.add_argument("--kind", choices=("disk", "ivf"), default="disk", help="where the vectors are")
    parser.add_argument("--recall", type=float, default=0.95)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where the files go; a temporary folder that is removed")
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    if options.kind == "ivf":
        result = measure_in_memory(options)
    else:
        with tempfile.TemporaryDirectory(dir=options.folder) as name:
            result = measure(options, Path(name))
    result["made"] = made()
    said = json.dumps(result, indent=1)
    print(said)
    if options.json is not None:
        options.json.write_text(said + "\n")


if __name__ == "__main__":
    main()
