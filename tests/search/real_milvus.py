"""A real Milvus 2.3.5 of one machine, which the package `milvus` brings, and rows to be imported into it."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from filelock import FileLock
from made_index import random_vectors

from groundling.search import milvus_store
from groundling.search.bulk import BulkImport
from groundling.search.entries import Entries, Entry
from groundling.search.manifest import StoreFacts
from groundling.search.recall import Aim

MISSING = "a Milvus that imports files is not here: pip install --no-deps milvus==2.3.5"
VECTORS = random_vectors(900, 8)
ENTRIES = [  # in two folders; every sixth is a caption; of two years in turn
    Entry(
        f"{('a/', 'b/c/', '')[row % 3]}{row}.png",
        f"{row:064}",
        language="de" if row % 6 == 5 else "",
        taken=f"{2018 + row % 2}-06-15",
    )
    for row in range(900)
]


@contextmanager
def real_milvus(place: Path, **settings: str | int) -> Iterator[str]:
    """Its address; `settings` as its milvus.yaml calls them, with _ for dots. A machine has ports for one at a time."""
    milvus = pytest.importorskip("milvus", reason=MISSING)
    server = milvus.MilvusServer()
    server.set_base_dir(str(place))
    for name, value in settings.items():
        server.config.set(name.replace("_", "."), value)
    with FileLock(Path(tempfile.gettempdir()) / "groundling-tests-milvus.lock", timeout=600):
        try:
            server.start()
            yield f"http://127.0.0.1:{server.listen_port}"
        finally:
            if server.server_proc is not None:
                os.kill(server.server_proc.pid, 9)  # it would take its time, and nobody needs its data
            server.stop()


def place(uri: str, collection: str, **more: Any) -> StoreFacts:
    milvus_store.allow(f"milvus:{uri}")
    return StoreFacts(name="milvus", uri=uri, collection=collection, layout=2, **more)


def write(folder: Path, store: StoreFacts, entries: list[Entry], storage: str | None = None, **more: Any) -> None:
    bulk = BulkImport(storage or str(folder / "storage"), patience=120.0, **more)
    milvus_store.check(folder, store, "exact", bulk)
    made, vectors = Entries.of(entries), {entry.name: vector for entry, vector in zip(ENTRIES, VECTORS, strict=True)}

    def fetch(rows: Any) -> Any:
        return np.stack([vectors[entries[row].name] for row in rows])

    milvus_store.write(folder, store, made, 8, fetch, "exact", Aim(), bulk)


def rows_there(uri: str, store: StoreFacts) -> tuple[int, set[str]]:
    """How many, and the names of all; a row that is there twice is counted twice."""
    client = milvus_store.connect(Path(), store)
    count = client.query(store.collection, filter="id >= 0", output_fields=["count(*)"], consistency_level="Strong")
    found = client.query(store.collection, filter="id >= 0", output_fields=["name"], limit=2000)
    client.close()
    return int(count[0]["count(*)"]), {row["name"] for row in found}
