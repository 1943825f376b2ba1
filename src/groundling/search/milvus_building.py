"""A collection in a Milvus, brought up to date, and how much of the truth a search of it finds.

A row of the collection is known by a number made of its name and content, so that bringing the collection up to date
can be cut short anywhere and simply be done again: what is missing is put in, what is too much is taken out.
"""

import re
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from groundling.errors import UserError
from groundling.model.vectors import Vectors
from groundling.progress import bar, collect
from groundling.search import milvus_collection, milvus_import, recall
from groundling.search.bulk import BulkImport
from groundling.search.entries import Entries, Rows
from groundling.search.manifest import SearchFacts, StoreFacts
from groundling.search.milvus_collection import all_ids, load, search, too_few_nodes
from groundling.search.milvus_collection import fetch as fetched
from groundling.search.milvus_connection import connected, said
from groundling.search.milvus_file import no_warnings_of_few_points
from groundling.search.milvus_rows import portions, records
from groundling.search.milvus_shards import Shards
from groundling.search.store import Fetch, Unavailable, lists_for

SENT = 2**23  # bytes of vectors sent at once
SENDERS = 4  # portions that are on their way to a server at once; a file has one writer
BUILDING = 600.0  # seconds for an answer while an index is built, where some queries are compared with everything
PAUSE = 1.0  # seconds between two questions whether the lists are made
OLDEST = (2, 4)  # a server before puts rows into other partitions than it looks for them in (milvus-io/milvus#30607)
LONGEST = 4096 * 4  # bytes of a path or a caption
MOST_LISTS = 65_536
INDEX_TYPES = {"exact": "FLAT", "ivf": "IVF_FLAT"}
GROUP = "__default_resource_group"  # the query nodes that a collection is loaded into, unless it names others


def check(folder: Path, store: StoreFacts, kind: str, bulk: BulkImport | None = None) -> None:
    """Whether there is such a Milvus, and it can do what is asked."""
    if kind == "hnsw":
        raise UserError("--kind hnsw is for FAISS; a Milvus has exact and ivf")
    with connected(folder, store) as client, _filled(store):
        _check_version(str(client.get_server_version()), store, bulk)
        _check_replicas(client, store)
        if bulk is not None:
            milvus_import.Jobs(client, store, milvus_collection.PATIENCE).check()
            Shards(bulk, str(store.collection)).check()


def _check_version(version: str, store: StoreFacts, bulk: BulkImport | None) -> None:
    found = re.match(r"v?(\d+)\.(\d+)\.(\d+)", version)
    there = (2**31,) if found is None else tuple(map(int, found.groups()))
    if bulk is not None and there < milvus_import.OLDEST:
        wanted = ".".join(map(str, milvus_import.OLDEST))
        raise UserError(f"Milvus at {store.uri} is {version}; --bulk needs {wanted} or newer")
    if bulk is None and there < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise UserError(
            f"Milvus at {store.uri} is {version}, and loses rows of partitions that are sent to it; {wanted} or "
            "newer is needed, or --bulk"
        )


def _check_replicas(client: Any, store: StoreFacts) -> None:
    """Each copy of a collection takes a query node of its own, and a standalone server has one."""
    if store.replicas is None or store.replicas == 1:
        return
    try:
        nodes = int(client.describe_resource_group(GROUP).num_available_node)
    except Exception:  # Milvus Lite has none, Zilliz Cloud shows none, and some may not look: loading tells
        return
    if store.replicas > nodes:
        raise UserError(too_few_nodes(store, f"query nodes: {nodes}"))


@contextmanager
def _filled(store: StoreFacts) -> Iterator[None]:
    """What goes wrong while a server is filled, in one sentence; what it has by then is not sent again."""
    from grpc import RpcError
    from pymilvus.exceptions import MilvusException

    try:
        yield
    except (MilvusException, RpcError) as error:
        raise Unavailable(
            f"Milvus at {store.uri} could not be filled ({said(error)}); give the command once more, it goes on "
            "from there"
        ) from None


def write(
    folder: Path,
    store: StoreFacts,
    entries: Entries,
    dimensions: int,
    fetch: Fetch,
    kind: str,
    aim: recall.Aim,
    bulk: BulkImport | None = None,
) -> SearchFacts:
    """The collection then holds the vectors of these entries, and no others."""
    name, lists = str(store.collection), lists_for(len(entries), MOST_LISTS)
    with connected(folder, store) as client, _filled(store):
        if not client.has_collection(name):
            _create(client, store, dimensions)
        _index_as("exact" if store.for_one_process else kind, client, store, lists)
        load(client, store)
        _bring_up_to_date(client, store, entries, fetch, dimensions, bulk)
        if kind == "ivf" and store.for_one_process:
            _make_lists_of_file(client, store, lists)
        return _measured(client, name, entries, kind, aim)


def _create(client: Any, store: StoreFacts, dimensions: int) -> None:
    from pymilvus import DataType

    schema = client.create_schema(auto_id=False)
    schema.add_field("id", DataType.INT64, is_primary=True)
    schema.add_field("name", DataType.VARCHAR, max_length=LONGEST)
    schema.add_field("taken", DataType.VARCHAR, max_length=32)
    if store.layout > 1:
        schema.add_field("part", DataType.VARCHAR, max_length=LONGEST, is_partition_key=True)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimensions)
    options = {} if store.partitions is None else {"num_partitions": store.partitions}
    level = store.consistency or "Strong"
    client.create_collection(store.collection, schema=schema, consistency_level=level, **options)


def _index_as(kind: str, client: Any, store: StoreFacts, lists: int) -> None:
    """The index of a collection is of this kind; one of another kind is replaced, and none is there after a kill.

    It is made by itself: with the collection, that would be loaded at once, and in one copy.
    """
    name = str(store.collection)
    for old in client.list_indexes(name):
        if client.describe_index(name, old)["index_type"] == INDEX_TYPES[kind]:
            return
        client.release_collection(name)
        client.drop_index(name, old)
    index = client.prepare_index_params()
    chosen: dict[str, Any] = {"nlist": lists} if kind == "ivf" else {}
    if store.for_one_process:
        chosen = {"params": chosen}  # the only place that Milvus Lite looks for it
    index.add_index("vector", index_type=INDEX_TYPES[kind], metric_type="IP", params=chosen)
    client.create_index(name, index)


def _make_lists_of_file(client: Any, store: StoreFacts, lists: int) -> None:
    """Milvus Lite makes lists of rows that come in behind our back, and does not say when they are done: until then it
    compares all rows, the least effort seems enough, and is not enough later. So there are none until all rows are
    there; it makes them while it loads."""
    with no_warnings_of_few_points(), bar("Lists of the Milvus", total=1) as progress:
        _index_as("ivf", client, store, lists)
        load(client, store)
        progress.advance()


def _bring_up_to_date(
    client: Any, store: StoreFacts, entries: Entries, fetch: Fetch, dimensions: int, bulk: BulkImport | None
) -> None:
    """Whatever is missing is sent or imported; what came there before a build was cut short is there."""
    name = str(store.collection)
    if _imports_are_over(client, store, bulk):
        client.refresh_load(name, timeout=BUILDING)  # else it does not show what has just been imported
    there = all_ids(client, name)
    missing = np.flatnonzero(~np.isin(entries.ids, there))
    surplus = there[~np.isin(there, entries.ids)]
    if bulk is None:
        _send(client, store, entries, missing, fetch, dimensions)
    else:
        milvus_import.import_rows(client, store, bulk, entries, missing, fetch, dimensions)
    for ids in portions(surplus):
        client.delete(name, ids=ids.tolist())
    if bulk is None or len(surplus):  # what is imported is on the disk of the server already
        client.flush(name)
    if bulk is not None:
        milvus_import.check_counts(client, store, entries)


def _imports_are_over(client: Any, store: StoreFacts, bulk: BulkImport | None) -> bool:
    """Wait for the imports of a build that was killed; whether there have been any."""
    from grpc import RpcError
    from pymilvus.exceptions import MilvusException

    if bulk is not None:
        return milvus_import.Jobs(client, store, bulk.patience).settle()
    try:
        return milvus_import.Jobs(client, store).settle()
    except (MilvusException, RpcError):  # a server that has no imports, or does not show them
        return False


def _send(client: Any, store: StoreFacts, entries: Entries, missing: Rows, fetch: Fetch, dimensions: int) -> None:
    """A portion at a time, several of which are on their way at once."""
    name, senders = str(store.collection), 1 if store.for_one_process else SENDERS
    with bar("Milvus", total=len(missing)) as progress, ThreadPoolExecutor(senders) as pool:
        under_way: dict[Future[Any], int] = {}
        for rows in portions(missing, max(1, SENT // (4 * dimensions))):
            data = records(entries, rows, fetch(rows), store.layout)
            under_way[pool.submit(client.upsert, name, data)] = len(rows)
            while len(under_way) > senders:
                collect(under_way, progress)
        while under_way:
            collect(under_way, progress)


def _measured(client: Any, name: str, entries: Entries, kind: str, aim: recall.Aim) -> SearchFacts:
    """A collection may have other lists than it would be given now: they stay those that it was made with, when it held
    fewer or more rows. So there is no other bound than that of all servers."""
    if kind == "exact" or len(entries) < 2:
        return SearchFacts()

    _wait_for_lists(client, name, len(entries))

    def found(some: Vectors, k: int, effort: int) -> Rows:
        return search(client, name, some, k, "", {"nprobe": effort}, entries, patience=BUILDING)[1]

    def vectors(rows: Rows) -> Vectors:
        return fetched(client, name, entries.ids[rows], BUILDING)

    return recall.tuned(
        found, len(entries), vectors, lambda some, k: found(some, k, MOST_LISTS), MOST_LISTS, aim, "ivf"
    )


def _wait_for_lists(client: Any, name: str, count: int) -> None:
    """A server puts rows into lists on its own time. Before, it compares all of them, and any effort seems enough."""

    def left() -> int:
        return int(client.describe_index(name, client.list_indexes(name)[0]).get("pending_index_rows", 0))

    if not left():
        return
    with bar("Lists of the Milvus", total=count) as progress:
        done = 0
        while (waiting := left()) > 0:
            progress.advance(max(0, count - waiting - done))
            done = max(done, count - waiting)
            time.sleep(PAUSE)
    client.refresh_load(name, timeout=BUILDING)  # who answers then has them
