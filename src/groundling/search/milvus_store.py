"""Vectors in a Milvus (Wang et al. 2021): a server or cluster, or a Milvus Lite file. Needs the extra `milvus`.

A row of the collection is known by a number made of its name and content, so that bringing the collection up to date
can be cut short anywhere and simply be done again: what is missing is put in, what is too much is taken out.

An index that somebody else made may name any address, and any file. Only one that the user has named, with --store or
in $MILVUS_URI, is ever connected to, or a file inside the folder of the index; and nobody else gets the token.
"""

import hashlib
import os
from pathlib import Path
from typing import Any

import numpy as np

from groundling.errors import UserError
from groundling.hub import first_line
from groundling.model.vectors import Vectors
from groundling.progress import bar
from groundling.search import recall
from groundling.search.choice import Choice
from groundling.search.entries import Entries, Rows
from groundling.search.manifest import Manifest, SearchFacts, StoreFacts, place_from
from groundling.search.store import Fetch

PORTION = 500  # rows sent at once
LONGEST = 4096 * 4  # bytes of a path or a caption
TOKEN = "MILVUS_TOKEN"  # noqa: S105  # the name of the variable, not a token
ADDRESSES = "MILVUS_URI"  # the variable that names addresses, with commas between them

_named: set[str] = set()


def allow(store: str) -> None:
    """The user has named this address or file, as `milvus:URI`."""
    _named.add(_address(store.removeprefix("milvus:")))


def _address(uri: str, folder: Path = Path()) -> str:
    """An address as it is; of a file, where it is whichever way it is written."""
    return uri if "://" in uri else str((folder / Path(uri).expanduser()).resolve())


def _check_allowed(uri: str, folder: Path) -> None:
    others = (other.strip() for other in os.environ.get(ADDRESSES, "").split(",") if other.strip())
    if uri not in {*_named, *map(_address, others)}:
        raise UserError(
            f"{folder}: this index names a Milvus at {uri}, which you have not; if you know it, say so with "
            f"--store milvus:{uri} or {ADDRESSES}={uri}"
        )


def facts(uri: str, folder: Path, fingerprint: str) -> StoreFacts:
    """Where the vectors of an index in `folder` go: a collection that no other index and no other model has."""
    if "@" in uri:
        raise UserError(f"--store milvus: write no password into the address, set {TOKEN} instead")
    if "://" not in uri:
        place = Path(uri).expanduser() if uri else folder / "milvus.db"
        if place.suffix != ".db":
            raise UserError(f'--store milvus:{uri}: a server is "http://HOST:19530", a local file ends in ".db"')
        allow(str(place))
        uri = place_from(folder, place)
    else:
        allow(uri)
    own = hashlib.sha256(f"{folder.resolve()}:{fingerprint}".encode()).hexdigest()[:16]
    return StoreFacts(name="milvus", uri=uri, collection=f"groundling_{own}")


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
    try:
        return MilvusClient(uri, token=token)
    except Exception as error:  # gRPC, Milvus Lite and the file system have each their own
        raise UserError(f"Milvus at {uri} cannot be reached ({first_line(error)})") from None


def check(folder: Path, store: StoreFacts, kind: str) -> None:
    """Whether there is such a Milvus, and it can do what is asked."""
    if kind == "hnsw":
        raise UserError("--kind hnsw is for FAISS; a Milvus has exact and ivf")
    connect(folder, store).close()


def write(folder: Path, store: StoreFacts, entries: Entries, dimensions: int, fetch: Fetch, kind: str) -> SearchFacts:
    """The collection then holds the vectors of these entries, and no others."""
    client, name = connect(folder, store), str(store.collection)
    try:
        lists = max(1, round(4 * np.sqrt(len(entries))))
        if not client.has_collection(name):
            _create(client, name, dimensions, kind, lists)
        client.load_collection(name)
        _bring_up_to_date(client, name, entries, fetch)
        return _measured(client, name, entries, kind, lists)
    finally:
        client.close()


def _create(client: Any, name: str, dimensions: int, kind: str, lists: int) -> None:
    from pymilvus import DataType

    schema = client.create_schema(auto_id=False)
    schema.add_field("id", DataType.INT64, is_primary=True)
    schema.add_field("name", DataType.VARCHAR, max_length=LONGEST)
    schema.add_field("taken", DataType.VARCHAR, max_length=32)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=dimensions)
    index = client.prepare_index_params()
    exact: dict[str, Any] = {"index_type": "FLAT", "params": {}}
    chosen = {"index_type": "IVF_FLAT", "params": {"nlist": lists}} if kind == "ivf" else exact
    index.add_index("vector", metric_type="IP", **chosen)
    client.create_collection(name, schema=schema, index_params=index, consistency_level="Strong")


def _bring_up_to_date(client: Any, name: str, entries: Entries, fetch: Fetch) -> None:
    there = _all_ids(client, name)
    missing = np.flatnonzero(~np.isin(entries.ids, there))
    surplus = there[~np.isin(there, entries.ids)]
    with bar("Milvus", total=len(missing)) as progress:
        for rows in _portions(missing):
            vectors = fetch(rows)
            client.upsert(
                name,
                [
                    {
                        "id": int(entries.ids[row]),
                        "name": entries.value("name", row),
                        "taken": entries.value("taken", row),
                        "vector": vector.tolist(),
                    }
                    for row, vector in zip(rows.tolist(), vectors, strict=True)
                ],
            )
            progress.advance(len(rows))
    for ids in _portions(surplus):
        client.delete(name, ids=ids.tolist())
    client.flush(name)


def _all_ids(client: Any, name: str) -> Rows:
    """The numbers of all rows of a collection, page by page."""
    pages, last = [], -1
    while True:
        page = client.query(name, filter=f"id > {last}", output_fields=["id"], limit=10_000)
        ids = np.sort(np.array([row["id"] for row in page], dtype=np.int64))
        pages.append(ids)
        if len(ids) < 10_000:
            return np.concatenate(pages)
        last = int(ids[-1])


def _measured(client: Any, name: str, entries: Entries, kind: str, lists: int) -> SearchFacts:
    if kind == "exact" or len(entries) < 2:
        return SearchFacts()
    asked = recall.sample(len(entries))
    queries = _fetch(client, name, entries.ids[asked])

    def search(some: Vectors, k: int, effort: int) -> Rows:
        return _search(client, name, some, k, "", {"nprobe": effort}, entries)[1]

    truth = search(queries, recall.NEAREST + 1, lists)
    effort, found = recall.tune(search, queries, asked, truth, lists)
    return SearchFacts(kind="ivf", effort=effort, recall_at_10=round(found, 4), queries=len(asked) // 2)


class MilvusStore:
    """See `search.store.Store`."""

    def __init__(self, folder: Path, manifest: Manifest, entries: Entries, mending: bool = False) -> None:
        self.name, self.entries, self.facts = str(manifest.store.collection), entries, manifest.search
        local = "://" not in str(manifest.store.uri)
        if local and not mending and not (folder.resolve() / str(manifest.store.uri)).exists():
            raise UserError(f"{manifest.store.uri}: no such Milvus file; the index is not whole, build it again")
        self.client = connect(folder, manifest.store)
        if mending:
            return
        there = 0
        if self.client.has_collection(self.name):
            self.client.load_collection(self.name)
            there = int(self.client.query(self.name, filter="id >= 0", output_fields=["count(*)"])[0]["count(*)"])
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
        self.client.load_collection(self.name)
        return np.flatnonzero(np.isin(self.entries.ids, _all_ids(self.client, self.name)))

    def vectors(self, rows: Rows) -> Vectors:
        return _fetch(self.client, self.name, self.entries.ids[rows])

    def search(self, queries: Vectors, k: int, choice: Choice | None, exact: bool) -> tuple[Vectors, Rows]:
        effort = {"nprobe": 65_536 if exact else self.facts.effort} if self.facts.kind == "ivf" else {}
        wanted = "" if choice is None else expression(choice)
        return _search(self.client, self.name, queries, k, wanted, effort, self.entries)


def expression(choice: Choice) -> str:
    """The choice in Milvus's own words. A folder is a span of names, since "0" comes right after "/"."""
    parts = []
    if choice.folder:
        parts += [f"name >= {_quoted(choice.folder + '/')}", f"name < {_quoted(choice.folder + '0')}"]
    if choice.since:
        parts.append(f"taken >= {_quoted(choice.since)}")
    if choice.until:
        parts += [f"taken < {_quoted(choice.after)}", 'taken > ""']
    return " and ".join(parts)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _search(
    client: Any, name: str, queries: Vectors, k: int, wanted: str, effort: dict[str, int | None], entries: Entries
) -> tuple[Vectors, Rows]:
    found = client.search(
        name, queries.tolist(), limit=k, filter=wanted, output_fields=["id"], search_params={"params": effort}
    )
    scores = np.full((len(queries), k), -np.inf, dtype=np.float32)
    rows = np.full((len(queries), k), -1, dtype=np.int64)
    for query, hits in enumerate(found):
        for rank, hit in enumerate(hits):
            scores[query, rank] = hit["distance"]
            rows[query, rank] = entries.row_of.get(int(hit["id"]), -1)
    return scores, rows


def _fetch(client: Any, name: str, ids: Rows) -> Vectors:
    """The vectors under these numbers, in their order."""
    parts = []
    for portion in _portions(ids):
        by_id = {row["id"]: row["vector"] for row in client.get(name, ids=portion.tolist(), output_fields=["vector"])}
        parts.append(np.array([by_id[number] for number in portion.tolist()], dtype=np.float32))
    return np.concatenate(parts)


def _portions(rows: Rows) -> list[Rows]:
    return [rows[start : start + PORTION] for start in range(0, len(rows), PORTION)]
