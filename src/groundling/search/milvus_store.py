"""Vectors in a Milvus (Wang et al. 2021): a server or cluster, or a Milvus Lite file. Needs the extra `milvus`.

A row of the collection is known by a number made of its name and content, so that bringing the collection up to date
can be cut short anywhere and simply be done again: what is missing is put in, what is too much is taken out.

An index that somebody else made may name any address, and any file. Only one that the user has named, with --store or
in $MILVUS_URI, is ever connected to, or a file inside the folder of the index; and nobody else gets the token.
"""

import logging
import os
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from groundling.errors import UserError
from groundling.hub import first_line
from groundling.model.vectors import Vectors
from groundling.progress import bar, collect
from groundling.search import milvus_address, milvus_import, recall
from groundling.search.bulk import BulkImport
from groundling.search.entries import Entries, Rows
from groundling.search.manifest import Manifest, SearchFacts, StoreFacts
from groundling.search.milvus_address import TOKEN, address_of
from groundling.search.milvus_rows import STRONG, part_of, portions, quoted, records
from groundling.search.milvus_shards import Shards
from groundling.search.search_filter import SearchFilter
from groundling.search.store import Fetch, Unavailable

SENT = 2**23  # bytes of vectors sent at once
SENDERS = 4  # portions that are on their way to a server at once; a file has one writer
ASKED = 64  # queries of one request
PATIENCE = 5.0  # seconds for an answer, after which a server is taken for gone
BUILDING = 600.0  # the same while an index is built, where some queries are compared with everything
PAUSE = 1.0  # seconds between two questions whether the lists are made
OLDEST = (2, 4)  # a server before puts rows into other partitions than it looks for them in (milvus-io/milvus#30607)
LONGEST = 4096 * 4  # bytes of a path or a caption
MOST_LISTS = 65_536
GROUP = "__default_resource_group"  # the query nodes that a collection is loaded into, unless it names others
TOO_FEW = re.compile(r"nodes? not enough|resource insufficient.*Node")  # what servers say of replicas, by their age
ADDRESSES = "MILVUS_URI"  # the variable that names addresses, with commas between them

Answer = TypeVar("Answer")
_named: set[str] = set()


def allow(store: str) -> None:
    """The user has named this address or file, as `milvus:URI`."""
    _named.add(_address(store.removeprefix("milvus:")))


def _address(uri: str, folder: Path = Path()) -> str:
    """An address without its settings; of a file, where it is whichever way it is written."""
    return address_of(uri) if "://" in uri else str((folder / Path(uri).expanduser()).resolve())


def _check_allowed(uri: str, folder: Path) -> None:
    others = (other.strip() for other in os.environ.get(ADDRESSES, "").split(",") if other.strip())
    if uri not in {*_named, *map(_address, others)}:
        raise UserError(
            f"{folder}: this index names a Milvus at {uri}, which you have not; if you know it, say so with "
            f"--store milvus:{uri} or {ADDRESSES}={uri}"
        )


def facts(uri: str, folder: Path, fingerprint: str) -> StoreFacts:
    """Where the vectors of an index in `folder` go, which the user has herewith named."""
    made = milvus_address.facts(uri, folder, fingerprint)
    allow(uri or str(folder / "milvus.db"))
    return made


def connect(folder: Path, store: StoreFacts) -> Any:
    try:
        from pymilvus import MilvusClient
    except ImportError:
        raise UserError("this index is in a Milvus: pip install 'groundling[milvus]'") from None
    uri, token = _address(str(store.uri), folder), ""
    if "://" in uri:
        _check_allowed(uri, folder)
        token = os.environ.get(TOKEN, "")
    else:
        if not Path(uri).is_relative_to(folder.resolve()) or not uri.endswith(".db"):
            _check_allowed(uri, folder)
        Path(uri).parent.mkdir(parents=True, exist_ok=True)
    for name in ("pymilvus", "pymilvus.milvus_client"):  # it would print pages of what we say in a sentence
        logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        return MilvusClient(uri, token=token)
    except Exception as error:  # gRPC, Milvus Lite and the file system have each their own
        alone = "" if "://" in uri else "; a file is for one process at a time"
        raise UserError(f"Milvus at {uri} cannot be reached ({first_line(error)}){alone}") from None


def check(folder: Path, store: StoreFacts, kind: str, bulk: BulkImport | None = None) -> None:
    """Whether there is such a Milvus, and it can do what is asked."""
    if kind == "hnsw":
        raise UserError("--kind hnsw is for FAISS; a Milvus has exact and ivf")
    client = connect(folder, store)
    try:
        with _filled(store):
            _check_version(str(client.get_server_version()), store, bulk)
            _check_replicas(client, store)
            if bulk is not None:
                milvus_import.Jobs(client, store, PATIENCE).check()
                Shards(bulk, str(store.collection)).check()
    finally:
        client.close()


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
        raise UserError(_too_few_nodes(store, f"query nodes: {nodes}"))


def _too_few_nodes(store: StoreFacts, said: str) -> str:
    return (
        f"Milvus at {store.uri} cannot hold {store.replicas} copies of a collection ({said}): "
        f"replicas={store.replicas} needs {store.replicas} query nodes, and a standalone server is one"
    )


@contextmanager
def _filled(store: StoreFacts) -> Iterator[None]:
    """What goes wrong while a server is filled, in one sentence; what it has by then is not sent again."""
    from grpc import RpcError
    from pymilvus.exceptions import MilvusException

    try:
        yield
    except (MilvusException, RpcError) as error:
        raise Unavailable(
            f"Milvus at {store.uri} could not be filled ({first_line(error)}); give the command once more, it goes on "
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
    client, name = connect(folder, store), str(store.collection)
    try:
        with _filled(store):
            lists = max(1, min(round(4 * np.sqrt(len(entries))), MOST_LISTS))
            if client.has_collection(name) and not client.list_indexes(name):
                client.drop_collection(name)  # somebody was stopped while it was made
            if not client.has_collection(name):
                _create(client, store, dimensions, kind, lists)
            _load(client, store)
            _bring_up_to_date(client, store, entries, fetch, dimensions, bulk)
            if kind == "ivf" and "://" not in str(store.uri):
                _make_lists_of_file(client, name, lists)
            return _measured(client, name, entries, kind, lists, aim)
    finally:
        client.close()


def _create(client: Any, store: StoreFacts, dimensions: int, kind: str, lists: int) -> None:
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
    _create_index(client, str(store.collection), kind, lists)  # by itself: else it is loaded at once, and in one copy


def _create_index(client: Any, name: str, kind: str, lists: int) -> None:
    index = client.prepare_index_params()
    exact: dict[str, Any] = {"index_type": "FLAT", "params": {}}
    chosen = {"index_type": "IVF_FLAT", "params": {"nlist": lists}} if kind == "ivf" else exact
    index.add_index("vector", metric_type="IP", **chosen)
    client.create_index(name, index)


def _make_lists_of_file(client: Any, name: str, lists: int) -> None:
    """Milvus Lite makes lists behind our back and does not say when they are done: until then it compares all rows, the
    least effort seems enough, and is not enough later. It waits for that work before it drops an index, and makes the
    next one while it loads."""
    client.release_collection(name)
    client.drop_index(name, client.list_indexes(name)[0])
    _create_index(client, name, "ivf", lists)
    client.load_collection(name)


def _load(client: Any, store: StoreFacts) -> None:
    """Into the memory of the server, as often as was asked for."""
    try:
        client.load_collection(
            store.collection, **({} if store.replicas is None else {"replica_number": store.replicas})
        )
    except Exception as error:
        if TOO_FEW.search(str(error)):
            raise UserError(_too_few_nodes(store, first_line(error))) from None
        copies = "" if store.replicas is None else f" in {store.replicas} copies"
        raise UserError(f"Milvus at {store.uri} cannot load the collection{copies} ({first_line(error)})") from None


def _bring_up_to_date(
    client: Any, store: StoreFacts, entries: Entries, fetch: Fetch, dimensions: int, bulk: BulkImport | None
) -> None:
    """Whatever is missing is sent or imported; what came there before a build was cut short is there."""
    name = str(store.collection)
    if _imports_are_over(client, store, bulk):
        client.refresh_load(name, timeout=BUILDING)  # else it does not show what has just been imported
    there = _all_ids(client, name)
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
    name, senders = str(store.collection), SENDERS if "://" in str(store.uri) else 1
    with bar("Milvus", total=len(missing)) as progress, ThreadPoolExecutor(senders) as pool:
        under_way: dict[Future[Any], int] = {}
        for rows in portions(missing, max(1, SENT // (4 * dimensions))):
            data = records(entries, rows, fetch(rows), store.layout)
            under_way[pool.submit(client.upsert, name, data)] = len(rows)
            while len(under_way) > senders:
                collect(under_way, progress)
        while under_way:
            collect(under_way, progress)


def _all_ids(client: Any, name: str) -> Rows:
    """The numbers of all rows of a collection, page by page."""
    pages, last = [], -1
    while True:
        page = client.query(name, filter=f"id > {last}", output_fields=["id"], limit=10_000, **STRONG)
        ids = np.sort(np.array([row["id"] for row in page], dtype=np.int64))
        pages.append(ids)
        if len(ids) < 10_000:
            return np.concatenate(pages)
        last = int(ids[-1])


def _measured(client: Any, name: str, entries: Entries, kind: str, lists: int, aim: recall.Aim) -> SearchFacts:
    if kind == "exact" or len(entries) < 2:
        return SearchFacts()

    _wait_for_lists(client, name, len(entries))

    def search(some: Vectors, k: int, effort: int) -> Rows:
        return _search(client, name, some, k, "", {"nprobe": effort}, entries, patience=BUILDING)[1]

    def vectors(rows: Rows) -> Vectors:
        return _fetch(client, name, entries.ids[rows], BUILDING)

    return recall.tuned(search, len(entries), vectors, lambda some, k: search(some, k, lists), lists, aim, "ivf")


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


def opened(folder: Path, manifest: Manifest, entries: Entries, mending: bool) -> "MilvusStore":
    return MilvusStore(folder, manifest, entries, mending)


class MilvusStore:
    """See `search.store.Store`."""

    def __init__(self, folder: Path, manifest: Manifest, entries: Entries, mending: bool = False) -> None:
        self.name, self.entries, self.facts = str(manifest.store.collection), entries, manifest.search
        self.place = manifest.store
        local = "://" not in str(manifest.store.uri)
        if local and not mending and not (folder.resolve() / str(manifest.store.uri)).exists():
            raise UserError(f"{manifest.store.uri}: no such Milvus file; the index is not whole, build it again")
        self.client = connect(folder, manifest.store)
        if mending:
            return
        there = 0
        if self.client.has_collection(self.name):
            _load(self.client, manifest.store)
            there = int(
                self.client.query(self.name, filter="id >= 0", output_fields=["count(*)"], **STRONG)[0]["count(*)"]
            )
        if there != len(entries):
            raise UserError(
                f"{folder}: its Milvus collection holds {there} vectors, where the table has {len(entries)}; mend it "
                f"with `groundling index --update --out {folder}`"
            )

    def for_many(self) -> "MilvusStore":
        return self

    def held(self) -> Rows:
        if not self.client.has_collection(self.name):
            return np.zeros(0, dtype=np.int64)
        _load(self.client, self.place)
        return np.flatnonzero(np.isin(self.entries.ids, _all_ids(self.client, self.name)))

    def vectors(self, rows: Rows) -> Vectors:
        return self._answer(lambda: _fetch(self.client, self.name, self.entries.ids[rows]))

    def search(self, queries: Vectors, k: int, choice: SearchFilter | None, exact: bool) -> tuple[Vectors, Rows]:
        effort = {"nprobe": 65_536 if exact else self.facts.effort} if self.facts.kind == "ivf" else {}
        wanted = "" if choice is None else expression(choice, self.place.layout)
        level = self.place.consistency or "Strong"
        return self._answer(lambda: _search(self.client, self.name, queries, k, wanted, effort, self.entries, level))

    def _answer(self, ask: Callable[[], Answer]) -> Answer:
        """What goes wrong between us and a server, in one sentence; it may be gone for a moment only."""
        try:
            try:
                return ask()
            except Exception as error:
                if "not loaded" not in str(error):
                    raise
                _load(self.client, self.place)  # it was started anew, or somebody wanted its memory
                return ask()
        except Exception as error:
            raise Unavailable(f"Milvus at {self.place.uri} does not answer ({first_line(error)})") from None


def expression(choice: SearchFilter, layout: int = 2) -> str:
    """The choice in Milvus's own words. A folder is a span of names, since "0" comes right after "/"."""
    parts = []
    if choice.language:
        if layout == 1:
            raise UserError("this index was put into its Milvus without the languages of captions; build it again")
        parts.append(f"part == {quoted(choice.language)}")
    if choice.folder:
        if layout > 1:  # only its partition is looked into
            parts.append(f"part == {quoted(part_of(choice.folder + '/', ''))}")
        parts += [f"name >= {quoted(choice.folder + '/')}", f"name < {quoted(choice.folder + '0')}"]
    if choice.since:
        parts.append(f"taken >= {quoted(choice.since)}")
    if choice.until:
        parts += [f"taken < {quoted(choice.after)}", 'taken > ""']
    return " and ".join(parts)


def _search(
    client: Any,
    name: str,
    queries: Vectors,
    k: int,
    wanted: str,
    effort: dict[str, int | None],
    entries: Entries,
    consistency: str = "Strong",
    patience: float | None = None,
) -> tuple[Vectors, Rows]:
    scores = np.full((len(queries), k), -np.inf, dtype=np.float32)
    rows = np.full((len(queries), k), -1, dtype=np.int64)
    for some in portions(np.arange(len(queries), dtype=np.int64), ASKED):
        found = client.search(
            name,
            queries[some].tolist(),
            limit=k,
            filter=wanted,
            output_fields=["id"],
            search_params={"params": effort},
            consistency_level=consistency,
            timeout=patience or PATIENCE,
        )
        for query, hits in zip(some.tolist(), found, strict=True):
            scores[query, : len(hits)] = [hit["distance"] for hit in hits]
            rows[query, : len(hits)] = entries.rows_of([int(hit["id"]) for hit in hits])
    return scores, rows


def _fetch(client: Any, name: str, ids: Rows, patience: float | None = None) -> Vectors:
    """The vectors under these numbers, in their order."""
    parts = []
    for portion in portions(ids):
        found = client.get(name, ids=portion.tolist(), output_fields=["vector"], timeout=patience or PATIENCE)
        by_id = {row["id"]: row["vector"] for row in found}
        parts.append(np.array([by_id[number] for number in portion.tolist()], dtype=np.float32))
    return np.concatenate(parts)
