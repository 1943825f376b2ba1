"""Vectors in a PostgreSQL that has pgvector (https://github.com/pgvector/pgvector). Needs the extra `pgvector`.

A table holds a row for each entry, known by a number made of its name and content, so that bringing it up to date can
be cut short anywhere and simply be done again: what is missing is put in, what is too much is taken out.

An index that somebody else made may name any address. Only one that the user has named, with --store or in
$PGVECTOR_URI, is ever connected to; a password comes from where PostgreSQL's own programs take it.
"""

import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import numpy as np

from groundling.errors import UserError
from groundling.hub import first_line
from groundling.model.vectors import Vectors
from groundling.progress import bar
from groundling.search import recall
from groundling.search.entries import Entries, Rows
from groundling.search.manifest import Manifest, SearchFacts, StoreFacts
from groundling.search.search_filter import SearchFilter
from groundling.search.store import Fetch, Unavailable, lists_for, own_name

PORTION = 1000  # rows that are sent or asked for together
PATIENCE = 5  # seconds until a server must have answered a call
MOST_LISTS, MOST_DIMENSIONS = 32_768, 2_000  # that pgvector's lists may have
ADDRESSES = "PGVECTOR_URI"  # the variable that names addresses, with commas between them
NEAREST = (
    "SELECT id, (vector <#> %(query)s::vector) FROM {table} {where} ORDER BY vector <#> %(query)s::vector LIMIT %(k)s"
)

Answer = TypeVar("Answer")
_named: set[str] = set()


def allow(store: str) -> None:
    """The user has named this address, as `pgvector:URI`."""
    _named.add(store.removeprefix("pgvector:"))


def facts(uri: str, folder: Path, fingerprint: str) -> StoreFacts:
    """Where the vectors of an index in `folder` go, which the user has herewith named: a table of its own."""
    parts = urlsplit(uri)
    if parts.scheme not in ("postgresql", "postgres") or not parts.path.strip("/"):
        raise UserError(f"--store pgvector:{uri}: an address is postgresql://USER@HOST:5432/DATABASE")
    if parts.password is not None:
        raise UserError("--store pgvector: write no password into the address, set PGPASSWORD or use ~/.pgpass")
    allow(uri)
    return StoreFacts(name="pgvector", uri=uri, collection=own_name(folder, fingerprint))


def table_of(store: StoreFacts) -> str:
    """The table's name, which stands in SQL: an index that somebody else made must not put anything else there."""
    name = str(store.collection)
    if not re.fullmatch("groundling_[0-9a-f]{16}", name):
        raise UserError(f'the index names a table "{name[:40]}", which is none of ours')
    return name


def connect(folder: Path, store: StoreFacts) -> Any:
    try:
        import psycopg
    except ImportError:
        raise UserError("this index is in a PostgreSQL: pip install 'groundling[pgvector]'") from None
    uri = str(store.uri)
    others = [other.strip() for other in os.environ.get(ADDRESSES, "").split(",")]
    if uri not in {*_named, *others}:
        raise UserError(
            f"{folder}: this index names a PostgreSQL at {uri}, which you have not; if you know it, say so with "
            f"--store pgvector:{uri} or {ADDRESSES}={uri}"
        )
    try:
        return psycopg.connect(uri, autocommit=True, connect_timeout=PATIENCE)
    except psycopg.Error as error:
        why = re.sub(r"^.*connection to server .* failed: (FATAL:\s*)?", "", first_line(error))
        raise Unavailable(
            f"PostgreSQL at {uri} cannot be reached ({why}); check that it runs and that the address is right, and set "
            "PGPASSWORD, or use ~/.pgpass, where it wants a password"
        ) from None


def check(folder: Path, store: StoreFacts, kind: str) -> None:
    """Whether there is such a PostgreSQL, and it can do what is asked."""
    if kind == "hnsw":
        raise UserError("--kind hnsw is for FAISS; a PostgreSQL has exact and ivf")
    import psycopg

    with connect(folder, store) as connection:
        try:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except psycopg.Error as error:
            raise UserError(
                f"PostgreSQL at {store.uri} has no pgvector ({first_line(error)}); install it there, and have an "
                "administrator say CREATE EXTENSION vector in this database"
            ) from None


def write(
    folder: Path, store: StoreFacts, entries: Entries, dimensions: int, fetch: Fetch, kind: str, aim: recall.Aim
) -> SearchFacts:
    """The table then holds the vectors of these entries, and no others."""
    import psycopg

    table = table_of(store)
    if kind == "ivf" and dimensions > MOST_DIMENSIONS:
        raise UserError(
            f"--kind ivf: pgvector makes lists of vectors of up to {MOST_DIMENSIONS:,} numbers, and the model's have "
            f"{dimensions:,}; give the command once more with --kind exact"
        )
    try:
        with connect(folder, store) as connection:
            connection.execute(
                f"CREATE TABLE IF NOT EXISTS {table} (id bigint PRIMARY KEY, name text NOT NULL, "
                f"taken text NOT NULL, language text NOT NULL, vector vector({int(dimensions)}) NOT NULL)"
            )
            _bring_up_to_date(connection, table, entries, fetch)
            if kind == "exact" or len(entries) < 2:
                return SearchFacts()
            return _with_lists(connection, table, entries, aim)
    except psycopg.Error as error:
        raise Unavailable(
            f"PostgreSQL at {store.uri} could not be filled ({first_line(error)}); give the command once more, it goes "
            "on from there"
        ) from None


def _with_lists(connection: Any, table: str, entries: Entries, aim: recall.Aim) -> SearchFacts:
    """Lists for an approximate search, those of before where there are some, and into how many it has to look."""
    lists = lists_for(len(entries), MOST_LISTS)
    connection.execute(
        f"CREATE INDEX IF NOT EXISTS {table}_lists ON {table} USING ivfflat (vector vector_ip_ops) "
        f"WITH (lists = {lists})"
    )
    connection.execute(f"ANALYZE {table}")

    def search(some: Vectors, k: int, effort: int | None) -> Rows:
        return _search(connection, table, some, k, None, effort, entries)[1]

    def vectors(rows: Rows) -> Vectors:
        return _fetch(connection, table, entries.ids[rows])

    return recall.tuned(search, len(entries), vectors, lambda some, k: search(some, k, None), MOST_LISTS, aim, "ivf")


def opened(folder: Path, manifest: Manifest, entries: Entries, mending: bool) -> "PgvectorStore":
    return PgvectorStore(folder, manifest, entries, mending)


def _bring_up_to_date(connection: Any, table: str, entries: Entries, fetch: Fetch) -> None:
    """A portion at a time, each of which is there whole or not at all."""
    there = _all_ids(connection, table)
    missing = np.flatnonzero(~np.isin(entries.ids, there))
    with bar("PostgreSQL", total=len(missing)) as progress:
        for start in range(0, len(missing), PORTION):
            rows = missing[start : start + PORTION]
            with (
                connection.transaction(),
                connection.cursor() as cursor,
                cursor.copy(f"COPY {table} (id, name, taken, language, vector) FROM STDIN") as copy,
            ):
                for row, vector in zip(rows.tolist(), fetch(rows), strict=True):
                    entry = entries.row(row)
                    copy.write_row((int(entries.ids[row]), entry.name, entry.taken, entry.language, _written(vector)))
            progress.advance(len(rows))
    surplus = there[~np.isin(there, entries.ids)]
    connection.execute(f"DELETE FROM {table} WHERE id = ANY(%s)", (surplus.tolist(),))  # noqa: S608 (see `table_of`)


def _all_ids(connection: Any, table: str) -> Rows:
    found = connection.execute(f"SELECT id FROM {table}").fetchall()  # noqa: S608 (see `table_of`)
    return np.array([row[0] for row in found], dtype=np.int64)


def _written(vector: Vectors) -> str:
    """As pgvector reads it; nine digits tell every float32 from all others."""
    return f"[{','.join(f'{value:.9g}' for value in vector.tolist())}]"


def _fetch(connection: Any, table: str, ids: Rows) -> Vectors:
    """The vectors under these numbers, in their order."""
    asked, parts = f"SELECT id, vector::real[] FROM {table} WHERE id = ANY(%s)", []  # noqa: S608 (see `table_of`)
    for start in range(0, len(ids), PORTION):
        some = ids[start : start + PORTION].tolist()
        found = dict(connection.execute(asked, (some,)).fetchall())
        parts.append(np.array([found[number] for number in some], dtype=np.float32))
    return np.concatenate(parts)


def _search(
    connection: Any,
    table: str,
    queries: Vectors,
    k: int,
    choice: SearchFilter | None,
    effort: int | None,
    entries: Entries,
) -> tuple[Vectors, Rows]:
    """Without `effort`, or with a choice, every vector is compared: pgvector chooses among what its lists gave."""
    scores = np.full((len(queries), k), -np.inf, dtype=np.float32)
    rows = np.full((len(queries), k), -1, dtype=np.int64)
    where, values = condition(choice)
    with connection.transaction():
        if effort is None or choice is not None:
            connection.execute("SET LOCAL enable_indexscan = off")
        else:
            connection.execute(f"SET LOCAL ivfflat.probes = {int(effort)}")
        for number, query in enumerate(queries):
            asked = {**values, "query": _written(query), "k": k}
            hits = connection.execute(NEAREST.format(table=table, where=where), asked).fetchall()
            scores[number, : len(hits)] = [-distance for _, distance in hits]
            rows[number, : len(hits)] = entries.rows_of([row for row, _ in hits])
    return scores, rows


def condition(choice: SearchFilter | None) -> tuple[str, dict[str, str]]:
    """The choice in SQL, and what stands for its names; dates are compared byte by byte, in whatever language."""
    if choice is None:
        return "", {}
    parts, values = [], {}
    if choice.language:
        parts.append("language = %(language)s")
        values["language"] = choice.language
    if choice.folder:
        parts.append("starts_with(name, %(folder)s)")
        values["folder"] = f"{choice.folder}/"
    if choice.since:
        parts.append('taken COLLATE "C" >= %(since)s')
        values["since"] = choice.since
    if choice.until:
        parts.append("taken <> '' AND taken COLLATE \"C\" < %(after)s")
        values["after"] = choice.after
    return f"WHERE {' AND '.join(parts)}", values


class PgvectorStore:
    """See `search.store.Store`."""

    def __init__(self, folder: Path, manifest: Manifest, entries: Entries, mending: bool = False) -> None:
        self.folder, self.place, self.entries, self.facts = folder, manifest.store, entries, manifest.search
        self.table = table_of(manifest.store)
        self.lock = threading.Lock()  # a connection does one thing at a time
        self.connection = connect(folder, manifest.store)
        there = len(self.held())
        if not mending and there != len(entries):
            raise UserError(
                f"{folder}: its table in PostgreSQL holds {there} vectors, where the index has {len(entries)}; mend it "
                f"with `groundling index --update --out {folder}`"
            )

    def for_many(self) -> "PgvectorStore":
        return self

    def held(self) -> Rows:
        def ask() -> Rows:
            if self.connection.execute("SELECT to_regclass(%s)", (self.table,)).fetchone()[0] is None:
                return np.zeros(0, dtype=np.int64)
            return np.flatnonzero(np.isin(self.entries.ids, _all_ids(self.connection, self.table)))

        return self._answer(ask)

    def vectors(self, rows: Rows) -> Vectors:
        return self._answer(lambda: _fetch(self.connection, self.table, self.entries.ids[rows]))

    def search(self, queries: Vectors, k: int, choice: SearchFilter | None, exact: bool) -> tuple[Vectors, Rows]:
        effort = None if exact else self.facts.effort
        return self._answer(lambda: _search(self.connection, self.table, queries, k, choice, effort, self.entries))

    def _answer(self, ask: Callable[[], Answer]) -> Answer:
        """What goes wrong between us and the server, in one sentence; where it was only away, it is asked again."""
        import psycopg

        with self.lock:
            try:
                try:
                    return ask()
                except psycopg.OperationalError:
                    self.connection.close()
                    self.connection = connect(self.folder, self.place)
                    return ask()
            except psycopg.Error as error:
                raise Unavailable(f"PostgreSQL at {self.place.uri} does not answer ({first_line(error)})") from None
