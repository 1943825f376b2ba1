"""What is asked of a collection in a Milvus: that it be loaded, its rows, the nearest ones, and their vectors."""

import re
from typing import Any

import numpy as np

from groundling.errors import UserError
from groundling.model.vectors import Vectors
from groundling.search.entries import Entries, Rows
from groundling.search.manifest import StoreFacts
from groundling.search.milvus_connection import said
from groundling.search.milvus_rows import STRONG, part_of, portions, quoted
from groundling.search.search_filter import SearchFilter

ASKED = 64  # queries of one request
PATIENCE = 5.0  # seconds for an answer, after which a server is taken for gone
TOO_FEW = re.compile(r"nodes? not enough|resource insufficient.*Node")  # what servers say of replicas, by their age


def load(client: Any, store: StoreFacts) -> None:
    """Into the memory of the server, as often as was asked for."""
    try:
        client.load_collection(
            store.collection, **({} if store.replicas is None else {"replica_number": store.replicas})
        )
    except Exception as error:
        if TOO_FEW.search(str(error)):
            raise UserError(too_few_nodes(store, said(error))) from None
        copies = "" if store.replicas is None else f" in {store.replicas} copies"
        raise UserError(f"Milvus at {store.uri} cannot load the collection{copies} ({said(error)})") from None


def too_few_nodes(store: StoreFacts, said: str) -> str:
    return (
        f"Milvus at {store.uri} cannot hold {store.replicas} copies of a collection ({said}): "
        f"replicas={store.replicas} needs {store.replicas} query nodes, and a standalone server is one"
    )


def all_ids(client: Any, name: str) -> Rows:
    """The numbers of all rows of a collection, page by page."""
    pages, last = [], -1
    while True:
        page = client.query(name, filter=f"id > {last}", output_fields=["id"], limit=10_000, **STRONG)
        ids = np.sort(np.array([row["id"] for row in page], dtype=np.int64))
        pages.append(ids)
        if len(ids) < 10_000:
            return np.concatenate(pages)
        last = int(ids[-1])


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


def search(
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


def fetch(client: Any, name: str, ids: Rows, patience: float | None = None) -> Vectors:
    """The vectors under these numbers, in their order."""
    parts = []
    for portion in portions(ids):
        found = client.get(name, ids=portion.tolist(), output_fields=["vector"], timeout=patience or PATIENCE)
        by_id = {row["id"]: row["vector"] for row in found}
        parts.append(np.array([by_id[number] for number in portion.tolist()], dtype=np.float32))
    return np.concatenate(parts)
