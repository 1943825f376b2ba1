"""Rows a second into a Milvus: files that it imports (`--bulk`) against rows that are sent, in turns.

    python benchmarks/milvus_bulk.py [--rows 200000] [--dimensions 128] [--rounds 2] [--json]

A Milvus 2.3.5 of this machine, which `pip install --no-deps milvus==2.3.5` brings, on its own disk, with the settings
that it comes with. Each round makes a new collection of the same random unit vectors, in 16 folders, which are searched
exactly; the time is that of everything `groundling index` does with vectors, until a query sees all of them. Both
ratios are above 1 where bulk import is better: of the clock, and of the seconds of the cores that server and client
took together, which other programs on the machine change little.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from pathlib import Path

from groundling.model import Vectors
from groundling.search import milvus_store
from groundling.search.bulk import BulkImport
from groundling.search.entries import Entries, Entry
from groundling.search.manifest import StoreFacts
from groundling.search.recall import Aim
from ray_encoding import core_seconds
from search import unit_vectors


def fill(
    folder: Path, uri: str, name: str, entries: Entries, vectors: Vectors, bulk: BulkImport | None
) -> tuple[float, float]:
    """Seconds of the clock and of the cores until a collection holds the vectors; it is then dropped."""
    store = StoreFacts(name="milvus", uri=uri, collection=name, layout=2)
    milvus_store.allow(f"milvus:{uri}")
    clock, cores = time.perf_counter(), core_seconds()
    milvus_store.write(folder, store, entries, vectors.shape[1], lambda rows: vectors[rows], "exact", Aim(), bulk)
    taken = time.perf_counter() - clock, core_seconds() - cores
    client = milvus_store.connect(folder, store)
    found = client.query(name, filter="id >= 0", output_fields=["count(*)"], consistency_level="Strong")
    assert found[0]["count(*)"] == len(entries)
    client.drop_collection(name)
    client.close()
    return taken


def measured(rows: int, dimensions: int, rounds: int) -> dict[str, object]:
    from milvus import MilvusServer

    vectors = unit_vectors(rows, dimensions, 0)
    entries = Entries.of([Entry(f"{row % 16:02}/{row:07}.jpg", f"{row:064}") for row in range(rows)])
    _ = entries.ids  # both need them, and they are made once
    sent, imported = [], []
    with tempfile.TemporaryDirectory() as place:
        folder, server = Path(place), MilvusServer()
        server.set_base_dir(str(folder / "milvus"))
        server.start()
        try:
            uri = f"http://127.0.0.1:{server.listen_port}"
            bulk = BulkImport(str(folder / "storage"))
            for number in range(rounds):
                sent.append(fill(folder, uri, f"sent_{number}", entries, vectors, None))
                imported.append(fill(folder, uri, f"imported_{number}", entries, vectors, bulk))
        finally:
            os.kill(server.server_proc.pid, 9)
            server.stop()
    ratios = [[one / other for one, other in zip(*pair, strict=True)] for pair in zip(sent, imported, strict=True)]
    return {
        "rows": rows,
        "dimensions": dimensions,
        "rounds": rounds,
        "sent_rows_per_second": [round(rows / clock) for clock, _ in sent],
        "imported_rows_per_second": [round(rows / clock) for clock, _ in imported],
        "sent_core_seconds": [round(cores, 1) for _, cores in sent],
        "imported_core_seconds": [round(cores, 1) for _, cores in imported],
        "times_faster": round(statistics.median(clock for clock, _ in ratios), 2),
        "times_fewer_core_seconds": round(statistics.median(cores for _, cores in ratios), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--dimensions", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    result = measured(arguments.rows, arguments.dimensions, arguments.rounds)
    if arguments.json:
        print(json.dumps(result, indent=1))
        return
    for name in ("sent", "imported"):
        print(f"{name}: {result[f'{name}_rows_per_second']} rows/s, {result[f'{name}_core_seconds']} s of the cores")
    print(f"bulk import: {result['times_faster']} × the rows a second; sending takes", end=" ")
    print(f"{result['times_fewer_core_seconds']} × the seconds of the cores")


if __name__ == "__main__":
    main()
