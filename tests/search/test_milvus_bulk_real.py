"""Bulk import into a real Milvus: found as by brute force, and a build that was killed loses and doubles nothing."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from real_milvus import ENTRIES, MISSING, VECTORS, place, real_milvus, rows_there, write

from groundling.errors import UserError
from groundling.search import milvus_import, milvus_store
from groundling.search.entries import Entries
from groundling.search.manifest import StoreFacts
from groundling.search.recall import Aim
from groundling.search.search_filter import SearchFilter

MilvusClient = pytest.importorskip("pymilvus").MilvusClient
pytest.importorskip("milvus", reason=MISSING)
BUILD = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import real_milvus as here
from groundling.search import milvus_import
milvus_import.SHARD = 4 * 8 * 100
here.write(Path(sys.argv[2]), here.place(sys.argv[3], sys.argv[4]), here.ENTRIES)
"""


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with real_milvus(tmp_path_factory.mktemp("milvus")) as address:
        yield address


def left_in(folder: Path) -> list[Path]:
    return [path for path in (folder / "storage").rglob("*") if path.is_file()]


def test_shards_are_imported_into_their_partitions_and_found(
    uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(milvus_import, "SHARD", 4 * 8 * 400)  # three shards, the partitions of which overlap
    monkeypatch.setattr(milvus_import, "GROUP", 4 * 8 * 64)
    store = place(uri, "whole", partitions=8)
    write(tmp_path, store, ENTRIES[:899])
    assert rows_there(uri, store) == (899, {entry.name for entry in ENTRIES[:899]}) and not left_in(tmp_path)
    opened = milvus_store.MilvusStore(tmp_path, _manifest(store), Entries.of(ENTRIES[:899]))
    np.testing.assert_array_equal(opened.vectors(np.arange(5)), VECTORS[:5])
    for choice, allowed in (
        (None, range(899)),
        (SearchFilter("a"), range(0, 899, 3)),
        (SearchFilter("b"), range(1, 899, 3)),
        (SearchFilter(since="2019-06", until="2019-06"), range(1, 899, 2)),
        (SearchFilter("a", until="2018"), range(0, 899, 6)),
        (SearchFilter(language="de"), range(5, 899, 6)),
    ):
        rows = opened.search(VECTORS[7:8], 10, choice, False)[1][0]
        expected = sorted(allowed, key=lambda row: -float(VECTORS[row] @ VECTORS[7]))[:10]
        assert rows.tolist() == expected

    # Brought up to date: one is gone, one comes back, one is new.
    write(tmp_path, store, ENTRIES[1:899])
    write(tmp_path, store, ENTRIES)
    assert rows_there(uri, store) == (900, {entry.name for entry in ENTRIES})

    # Rows that are lost are noticed.
    client = MilvusClient(uri)
    client.delete("whole", ids=Entries.of(ENTRIES[:2]).ids[:1].tolist())
    with pytest.raises(UserError, match=r'shows 299 of the 300 rows of "a"; give the command once more'):
        milvus_import.check_counts(client, store, Entries.of(ENTRIES))
    client.close()


def _manifest(store: StoreFacts) -> Any:
    from groundling.search.manifest import Manifest, ModelFacts, SearchFacts, StoredFile

    model = ModelFacts(kind="run", name="m", backbone="b", fingerprint="f", dimensions=8, languages=[])
    file = StoredFile(name="entries.parquet", sha256="0")
    return Manifest(
        format=1, groundling="0", kind="pictures", root=None, model=model, count=0, skipped={}, store=store,
        search=SearchFacts(), entries=file, vectors=None,
    )  # fmt: skip


def test_a_build_that_is_killed_between_shards_goes_on_and_nothing_is_there_twice(uri: str, tmp_path: Path) -> None:
    """Killed as soon as some shards were imported and others are on their way; and once more right after that."""
    store = place(uri, "killed")
    command = [sys.executable, "-c", BUILD, str(Path(__file__).parent), str(tmp_path), uri, "killed"]
    client = MilvusClient(uri)
    for least in (1, 3):
        build = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        until = time.monotonic() + 120
        while build.poll() is None and time.monotonic() < until:
            jobs = (
                client._get_connection().list_bulk_insert_tasks(0, "killed") if client.has_collection("killed") else []
            )
            if sum(job.state_name == "Completed" for job in jobs) >= least:
                break
            time.sleep(0.02)
        os.kill(build.pid, signal.SIGKILL)
        build.wait()
    assert jobs and len(jobs) < 9, "all was done before it could be killed"
    client.close()
    write(tmp_path, store, ENTRIES)
    assert rows_there(uri, store) == (900, {entry.name for entry in ENTRIES}) and not left_in(tmp_path)


def test_what_a_server_refuses_is_a_sentence(uri: str, tmp_path: Path) -> None:
    store = place(uri, "refused")
    with pytest.raises(
        UserError, match=r"did not import /elsewhere/refused/\w+\.parquet \(.*no such file.*--bulk-prefix"
    ):
        write(tmp_path, store, ENTRIES[:50], prefix="/elsewhere")
    assert not left_in(tmp_path)
    write(tmp_path, store, ENTRIES[:50])
    assert rows_there(uri, store)[0] == 50
    several = place(uri, "several", replicas=3)
    with pytest.raises(
        UserError, match=r"\(query nodes: 1\): replicas=3 needs 3 query nodes, and a standalone server is one"
    ):
        write(tmp_path, several, ENTRIES[:50])
    with pytest.raises(UserError, match=r"nodes not enough.*replicas=3 needs 3 query nodes"):
        milvus_store.write(tmp_path, several, Entries.of(ENTRIES[:9]), 8, lambda rows: VECTORS[rows], "exact", Aim())
    with pytest.raises(UserError, match=r"is v2\.3\.5.* loses rows of partitions that are sent to it; .*or --bulk"):
        milvus_store.check(tmp_path, store, "exact")
