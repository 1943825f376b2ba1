"""Bulk import into a Milvus: rows are written as Parquet shards into its storage, and it is asked to read them.

What asks is the gRPC call `Import`, which servers from 2.3.4 on understand; newer ones have HTTP calls beside it. An
import does not look whether a row is there already, so that nothing may be imported twice. Which rows are there is
asked of the server, and only when none of its imports is under way; a build that was killed anywhere leaves nothing
else behind that would matter. An import that fails leaves no row.
"""

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from groundling.errors import UserError
from groundling.progress import Bar, bar
from groundling.search.bulk import PATIENCE, BulkImport
from groundling.search.entries import Entries, Rows
from groundling.search.manifest import StoreFacts
from groundling.search.milvus_rows import as_table, partitions, portions, quoted
from groundling.search.milvus_shards import Shards
from groundling.search.store import Fetch, Unavailable

SHARD = 2**28  # bytes of vectors in a shard; a build that is killed does at most AHEAD of them again
GROUP = 2**24  # bytes of vectors that are in memory at once
AHEAD = 4  # shards that are written, and not yet imported
PAUSE = 0.5  # seconds between two questions how far imports are
APPEARING = 30.0  # seconds until a new import must be known to all of a cluster
OLDEST = (2, 3, 4)  # the first server that reads Parquet
COUNTED = 1000  # questions after the number of rows, at most


@dataclass
class Shard:
    """A shard that is written, and asked to be imported."""

    name: str
    rows: int
    asked: float = field(default_factory=time.monotonic)
    done: int = 0


class Jobs:
    """The imports into one collection, by whomever they were asked for."""

    def __init__(self, client: Any, store: StoreFacts, patience: float = PATIENCE) -> None:
        self.calls = client._get_connection()  # MilvusClient has no methods for imports
        self.store, self.patience = store, patience
        self.under_way: dict[int, Shard] = {}
        self.news, self.last = time.monotonic(), object()

    def check(self) -> None:
        """Whether the server imports at all."""
        from grpc import RpcError, StatusCode

        try:
            self.calls.list_bulk_insert_tasks(1, "", timeout=self.patience)
        except RpcError as error:
            if error.code() != StatusCode.UNIMPLEMENTED:
                raise
            raise UserError(
                f"--bulk: Milvus at {self.store.uri} is a Milvus Lite, which imports no files; leave it out"
            ) from None

    def settle(self) -> bool:
        """Wait until none is under way; whether there has been any lately."""
        found = self._all()
        count = left = sum(not _ended(state) for state in found)
        with bar("Imports under way", total=count) as progress:
            while left:
                self._wait([(state.state, state.infos) for state in found])
                found, before = self._all(), left
                left = sum(not _ended(state) for state in found)
                progress.advance(max(0, before - left))
        return bool(found)

    def _all(self) -> list[Any]:
        return list(self.calls.list_bulk_insert_tasks(0, str(self.store.collection)))

    def start(self, path: str, shard: Shard) -> None:
        """Ask for an import, once: an answer that was lost may be that of one which has begun."""
        from pymilvus.exceptions import MilvusException

        try:
            job = self.calls.do_bulk_insert(str(self.store.collection), "", [path], retry_times=0)
        except MilvusException as error:
            if not isinstance(error.code, int):  # it is the network's
                raise
            said = str(error.message).rpartition("message=")[2]
            raise UserError(f"Milvus at {self.store.uri} imports no files ({said}); leave --bulk out") from None
        self.under_way[job] = shard

    def finish(self, most: int, shards: Shards, progress: Bar) -> None:
        """Wait until at most so many are under way; the shards of the others are removed."""
        while True:
            for job, shard in list(self.under_way.items()):
                percent = self._percent(job, shard, shards)
                done = max(shard.done, shard.rows * percent // 100)
                progress.advance(done - shard.done)
                shard.done = done
                if percent == 100:
                    del self.under_way[job]
                    shards.remove(shard.name)
            if len(self.under_way) <= most:
                return
            self._wait([(job, shard.done) for job, shard in self.under_way.items()])

    def _percent(self, job: int, shard: Shard, shards: Shards) -> int:
        """How far an import is; 100 when its rows are there."""
        from pymilvus.client.types import BulkInsertState
        from pymilvus.exceptions import MilvusException

        try:
            state = self.calls.get_bulk_insert_state(job)
        except MilvusException:
            if time.monotonic() - shard.asked > APPEARING:
                raise
            return 0
        if state.state == BulkInsertState.ImportCompleted:
            return 100
        if not _ended(state):
            return min(int(state.infos.get("progress_percent") or 0), 99)
        self.settle()
        shards.clear()
        raise UserError(
            f"Milvus at {self.store.uri} did not import {shards.path(shard.name)} "
            f"({state.failed_reason or 'no reason given'}); "
            "--bulk must be in the storage that the server reads, and --bulk-prefix what it calls that place"
        )

    def _wait(self, seen: object) -> None:
        """A moment; too many of them without anything new are the end."""
        now = time.monotonic()
        if seen != self.last:
            self.last, self.news = seen, now
        elif now - self.news > self.patience:
            raise Unavailable(
                f"Milvus at {self.store.uri} has said nothing new of its imports for {self.patience:g} s; give the "
                "command once more, it goes on from there, and a longer --bulk-timeout if it needs it"
            )
        time.sleep(PAUSE)


def _ended(state: Any) -> bool:
    from pymilvus.client.types import BulkInsertState as States

    return state.state in (States.ImportCompleted, States.ImportFailed, States.ImportFailedAndCleaned)


def import_rows(
    client: Any, store: StoreFacts, bulk: BulkImport, entries: Entries, rows: Rows, fetch: Fetch, dimensions: int
) -> None:
    """All these rows, none of which is there, partition by partition. No import may be under way (`Jobs.settle`).

    The shards that a build which was cut short has left are removed, even where no row is missing.
    """
    shards, jobs = Shards(bulk, str(store.collection)), Jobs(client, store, bulk.patience)
    shards.clear()
    rows = rows[np.argsort(partitions(entries, rows)[1], kind="stable")]
    size, together = max(1, SHARD // (4 * dimensions)), max(1, GROUP // (4 * dimensions))
    with bar("Milvus", total=len(rows)) as progress:
        for some in portions(rows, size):
            tables = (as_table(entries, group, fetch(group), store.layout) for group in portions(some, together))
            shard = Shard(shards.write(tables), len(some))
            jobs.start(shards.path(shard.name), shard)
            jobs.finish(AHEAD - 1, shards, progress)
        jobs.finish(0, shards, progress)
    shards.clear()
    if len(rows):
        client.refresh_load(store.collection, timeout=bulk.patience)  # else it shows them only after a while


def check_counts(client: Any, store: StoreFacts, entries: Entries) -> None:
    """Whether each partition holds as many rows as it should, where a search would look for them."""

    def count(wanted: str, level: str) -> int:
        answer = client.query(store.collection, filter=wanted, output_fields=["count(*)"], consistency_level=level)
        return int(answer[0]["count(*)"])

    names, chosen = partitions(entries, np.arange(len(entries)))
    expected = np.bincount(chosen)
    count("id >= 0", "Strong")  # waits for what was done until now, and the others need not, unless it looks wrong
    for some in portions(np.arange(len(names)), -(-len(names) // COUNTED)):
        parts, should = [names[part] for part in some], int(expected[some].sum())
        wanted = f"part in [{', '.join(map(quoted, parts))}]"
        there = count(wanted, "Eventually")
        if there != should:
            there = count(wanted, "Strong")
        if there < should:
            raise Unavailable(
                f"Milvus at {store.uri} shows {there} of the {should} rows of {_named(parts)}; give the command once "
                "more, which imports what is missing"
            )
        if there > should:
            raise UserError(
                f"Milvus at {store.uri} holds {there} rows of {_named(parts)}, where there are {should}; somebody else "
                f"fills the collection, too: drop {store.collection}, and give the command once more"
            )


def _named(parts: list[str]) -> str:
    named = f'"{parts[0]}"' if parts[0] else "what is in no folder"
    return named if len(parts) == 1 else f"{named} and {len(parts) - 1} others"
