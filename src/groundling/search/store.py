"""Where the vectors of an index are kept and searched: a FAISS file, FAISS on disk, a Milvus, or a PostgreSQL."""

import hashlib
import importlib
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from groundling.errors import UserError
from groundling.model.vectors import Vectors
from groundling.search.bulk import BulkImport
from groundling.search.entries import Entries, Rows
from groundling.search.manifest import Manifest, SearchFacts, StoredFile, StoreFacts
from groundling.search.recall import Aim
from groundling.search.search_filter import SearchFilter

KINDS = ("auto", "exact", "ivf", "hnsw")
SERVERS = ("milvus", "pgvector")
EXACT_UP_TO = 250_000  # vectors; a query over 512 dimensions then takes some tens of milliseconds on one core


LISTED = 39  # vectors that FAISS asks for to find the centre of a list


def lists_for(count: int, most: int = sys.maxsize, share: int = 4) -> int:
    """Into how many lists an approximate search puts so many vectors: so many times their root, none with too few.

    >>> lists_for(1_000_000), lists_for(1_000), lists_for(10), lists_for(1_000_000, most=100)
    (4000, 25, 1, 100)
    """
    return max(1, min(round(share * math.sqrt(count)), count // LISTED, most))


class Unavailable(UserError):
    """A store that does not answer now, and may again in a moment."""


class Store(Protocol):
    """The vectors of an index, opened."""

    def vectors(self, rows: Rows) -> Vectors:
        """[rows, dimensions], as they were put in."""
        ...

    def held(self) -> Rows:
        """The rows that it has a vector of; all, unless something outside of us went wrong."""
        ...

    def search(self, queries: Vectors, k: int, choice: SearchFilter | None, exact: bool) -> tuple[Vectors, Rows]:
        """Scores and rows [queries, k], the best first; row −1 where there are no more."""
        ...

    def for_many(self) -> "Store":
        """The same vectors as a server wants them, who asks many questions at once; often this very store."""
        ...


# The vectors of some rows of the new table, asked for by the store that needs them.
Fetch = Callable[[Rows], Vectors]


@dataclass(frozen=True)
class Written:
    """How the vectors of an index are searched, and the files that hold them."""

    search: SearchFacts
    vectors: StoredFile | None = None
    lists: StoredFile | None = None


def _server(name: str) -> Any:
    """The module of a store that is a program of its own: `facts`, `allow`, `check`, `write` and `opened`."""
    return importlib.import_module(f"groundling.search.{name}_store")


def own_name(folder: Path, fingerprint: str) -> str:
    """Of a collection or a table on a server: no other index, and no other model, has the same."""
    return f"groundling_{hashlib.sha256(f'{folder.resolve()}:{fingerprint}'.encode()).hexdigest()[:16]}"


def store_facts(wanted: str, folder: Path, fingerprint: str) -> StoreFacts:
    """What `--store` means."""
    if wanted == "faiss":
        return StoreFacts()
    if wanted == "faiss-disk":
        return StoreFacts(name="faiss-disk")
    name, _, uri = wanted.partition(":")
    if name not in SERVERS:
        raise UserError(
            f'--store: "{wanted}" is neither faiss nor faiss-disk nor milvus:URI, such as '
            "milvus:http://localhost:19530, nor pgvector:URI, such as pgvector:postgresql://localhost/photos"
        )
    made: StoreFacts = _server(name).facts(uri, folder, fingerprint)
    return made


def allow_store(wanted: str | None) -> None:
    """The user has named where vectors are: an index that names the same may be connected to."""
    if wanted is not None and ":" in wanted and (name := wanted.partition(":")[0]) in SERVERS:
        _server(name).allow(wanted)


def check_store(folder: Path, facts: StoreFacts, kind: str, bulk: BulkImport | None = None) -> None:
    """Whether the store can be had, asked before anything is encoded for it."""
    if bulk is not None and facts.name != "milvus":
        raise UserError("--bulk is for a Milvus, which reads files by itself; --store names one, as milvus:URI")
    if facts.name in SERVERS:
        _server(facts.name).check(folder, facts, kind, **_imported(bulk))
        return
    if facts.name == "faiss-disk" and kind not in ("auto", "exact"):
        raise UserError(f"--kind {kind} is for --store faiss; on disk it is exact or, left out, chosen by the size")
    from groundling.search import faiss_store

    faiss_store.faiss_module()


def _imported(bulk: BulkImport | None) -> dict[str, BulkImport]:
    """What only the module of a Milvus takes."""
    return {} if bulk is None else {"bulk": bulk}


def write(
    folder: Path,
    facts: StoreFacts,
    entries: Entries,
    dimensions: int,
    fetch: Fetch,
    kind: str,
    aim: Aim = Aim(),
    bulk: BulkImport | None = None,
) -> Written:
    """Make the store hold exactly the vectors of these entries."""
    if facts.name == "faiss-disk":
        from groundling.search import disk_build

        return disk_build.write(folder, entries, dimensions, fetch, kind, aim)
    if kind == "auto":
        kind = "exact" if len(entries) <= EXACT_UP_TO else "ivf"
    if facts.name in SERVERS:
        return Written(
            _server(facts.name).write(folder, facts, entries, dimensions, fetch, kind, aim, **_imported(bulk))
        )
    from groundling.search import faiss_store

    return faiss_store.write(folder, entries, fetch, kind, aim)


def open_store(folder: Path, manifest: Manifest, entries: Entries, mending: bool = False) -> Store:
    """The store that a manifest describes, checked; for `mending`, a server may hold more or less than it should."""
    if manifest.store.name in SERVERS:
        opened: Store = _server(manifest.store.name).opened(folder, manifest, entries, mending)
        return opened
    if manifest.store.name == "faiss-disk":
        from groundling.search.disk_store import DiskStore

        return DiskStore(folder, manifest, entries)
    if manifest.search.kind == "exact":
        from groundling.search.flat_store import FlatStore

        return FlatStore(folder, manifest, entries)
    from groundling.search.faiss_store import FaissStore

    return FaissStore(folder, manifest, entries)
