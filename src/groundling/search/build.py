"""Builds an index, goes on with one that was cut short, or brings one up to date.

What was encoded is in the journal at once; when all is there, the table and the vectors are written under new names,
and the manifest, last, makes them the index.
"""

import errno
import secrets
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import groundling
from groundling.checksums import sha256
from groundling.decoding.cores import cores
from groundling.errors import UserError
from groundling.files import atomic_path, only_writer
from groundling.model import Model, Vectors
from groundling.progress import bar, collect, notice
from groundling.search import manifest as manifests
from groundling.search import store as stores
from groundling.search.bulk import BulkImport
from groundling.search.entries import Entries, Entry
from groundling.search.journal import Journal, Json
from groundling.search.manifest import Manifest, ModelFacts, SearchFacts, StoredFile, StoreFacts
from groundling.search.previous import Previous, Row, vectors_of
from groundling.search.recall import Aim

JOURNAL = "journal.bin"
CAPTIONS_AT_ONCE = 256
AHEAD = 64  # portions of work that wait for a core

Item = TypeVar("Item")


#: Does a portion, and says every now and then how many units of it have been done since.
Work = Callable[[Sequence[Any]], Iterator[int]]


@dataclass(frozen=True)
class Built:
    """What a build did.

    `encoded` went through the model; `kept` were in the index before, or had just been touched; `others` are the files
    of the folder that are no pictures, counted by their endings.
    """

    index: str
    kind: str
    count: int
    added: int
    changed: int
    removed: int
    kept: int
    encoded: int
    links: int
    skipped: dict[str, str]
    search: SearchFacts
    seconds: float
    others: dict[str, int] = field(default_factory=dict)


@dataclass
class Build:
    """A build in progress; several threads put what they have encoded into it."""

    folder: Path
    kind: str
    model: Model
    facts: ModelFacts
    journal: Journal
    previous: Previous
    rows: dict[str, Row] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    encoded: int = 0
    links: int = 0
    others: dict[str, int] = field(default_factory=dict)
    started: float = field(default_factory=time.monotonic)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def keep(self, key: str, row: Row) -> None:
        """A row that needs no work."""
        self.rows[key] = row

    def add(self, key: str, entry: Entry, vector: Vectors, encoded: bool) -> None:
        with self._lock:
            self.rows[key] = Row(entry, self.journal.add(entry, vector))
            self.encoded += encoded

    def skip(self, name: str, why: str) -> None:
        with self._lock:
            self.skipped[name] = why

    def vector_of(self, digest: str) -> Vectors | None:
        """The vector of content that was met before."""
        with self._lock:
            found = self.previous.by_digest.get(digest)
            if isinstance(found, int):
                return vectors_of([found], self.previous.store, self.facts.dimensions)[0]
            return None if found is None else np.asarray(found)

    def run(self, portions: Iterable[Sequence[Any]], work: Work, count: int, title: str) -> None:
        """`work` on all portions, which have `count` units, one at a time on each core."""
        left = threading.Event()
        with bar(title, total=len(self.rows) + count, done=len(self.rows)) as progress, _one_core_each() as pool:

            def one(portion: Sequence[Any]) -> None:
                for done in work(portion):
                    with self._lock:
                        progress.advance(done)
                    if left.is_set():
                        return

            waiting: dict[Future[None], int] = {}
            try:
                for portion in portions:
                    waiting[pool.submit(one, portion)] = 0  # its units have been told
                    while len(waiting) >= AHEAD:
                        collect(waiting, progress)
                while waiting:
                    collect(waiting, progress)
            finally:
                left.set()  # whoever leaves early does not wait for the rest of a portion

    def finish(
        self, root: Path | None, store: StoreFacts, kind: str, aim: Aim, bulk: BulkImport | None = None
    ) -> Built:
        """Table, vectors, manifest; and the journal is done with."""
        rows = [self.rows[key] for key in sorted(self.rows)]
        if not rows:
            first = next(iter(self.skipped.items()), None)
            why = f" ({first[0]}: {first[1]})" if first else ""
            raise UserError(f"{root or f'the {self.kind}'}: nothing that can be put into an index{why}")
        entries, old = [row.entry for row in rows], self.previous.manifest
        search = old.search if old is not None and self._same(entries, store, kind, aim) else None
        if search is None:
            search = self._write(rows, root, store, kind, aim, bulk)
        elif old is not None and (old.skipped, old.model) != (self.skipped, self.facts):
            manifests.write(self.folder, old.model_copy(update={"skipped": self.skipped, "model": self.facts}))
        self.journal.remove()
        gone = {(entry.name, entry.language): entry.digest for entry in self.previous.old_entries}
        before = [(entry.digest, gone.pop((entry.name, entry.language), None)) for entry in entries]
        added = sum(was is None for _, was in before)
        changed = sum(was not in (None, digest) for digest, was in before)
        return Built(
            index=str(self.folder),
            kind=self.kind,
            count=len(entries),
            added=added,
            changed=changed,
            removed=len(gone),
            kept=len(entries) - added - changed,
            encoded=self.encoded,
            links=self.links,
            skipped=self.skipped,
            search=search,
            seconds=round(time.monotonic() - self.started, 1),
            others=self.others,
        )

    def _same(self, entries: list[Entry], store: StoreFacts, kind: str, aim: Aim) -> bool:
        """Whether the finished index is what would be written; a Milvus is always looked into, it may need mending."""
        old = self.previous.manifest
        if old is None or kind not in ("auto", old.search.kind) or not store.by_faiss:
            return False
        same_aim = old.search.target in (None, aim.recall) and aim.texts is None
        return entries == self.previous.old_entries and same_aim

    def _write(
        self, rows: list[Row], root: Path | None, store: StoreFacts, kind: str, aim: Aim, bulk: BulkImport | None
    ) -> SearchFacts:
        entries = Entries.of([row.entry for row in rows])

        def fetch(wanted: Any) -> Vectors:
            return vectors_of([rows[row].vector for row in wanted.tolist()], self.previous.store, self.facts.dimensions)

        written = stores.write(self.folder, store, entries, self.facts.dimensions, fetch, kind, aim, bulk)
        write_index(self.folder, self.kind, entries, self.facts, store, written, root, self.skipped)
        return written.search


def write_index(
    folder: Path,
    kind: str,
    entries: Entries,
    model: ModelFacts,
    store: StoreFacts,
    written: stores.Written,
    root: Path | None = None,
    skipped: Mapping[str, str] | None = None,
) -> None:
    """The table, and the manifest that makes it and the vectors, which have been written, the index."""
    path = folder / f"entries-{secrets.token_hex(8)}.{entries.file_type}"
    with atomic_path(path) as temporary:
        entries.save(temporary)
        checksum = sha256(temporary)
    manifest = Manifest(
        format=manifests.FORMAT,
        groundling=groundling.__version__,
        kind=kind,
        root=None if root is None else manifests.place_from(folder, root),
        model=model,
        count=len(entries),
        skipped=skipped or {},
        store=store,
        search=written.search,
        entries=StoredFile(name=path.name, sha256=checksum),
        vectors=written.vectors,
        lists=written.lists,
    )
    manifests.write(folder, manifest)


@contextmanager
def building(folder: Path, kind: str, model: Model, facts: ModelFacts) -> Iterator[Build]:
    """Holds the lock and the journal of an index of `kind` (pictures or captions)."""
    with only_writer(folder):
        if (folder / manifests.FILE).exists():
            _refuse_another(folder, manifests.read(folder), kind, model)
        about: Json = {"format": manifests.FORMAT, "kind": kind, "model": model.fingerprint}
        try:
            with Journal(folder / JOURNAL, about, model.dimensions) as journal:
                build = Build(folder, kind, model, facts, journal, Previous.of(folder, journal))
                try:
                    yield build
                except KeyboardInterrupt:
                    if build.rows:
                        notice(
                            f"{folder}: {len(build.rows)} {kind} are done and kept; the same command goes on from there"
                        )
                    raise
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            raise UserError(f"{folder}: no room is left there; make some and give the command once more") from None


def _refuse_another(folder: Path, old: Manifest, kind: str, model: Model) -> None:
    if old.kind != kind:
        raise UserError(f"{folder}: an index of {old.kind}, not of {kind}; choose another --out")
    if not manifests.fits(old, model):
        raise UserError(
            f"{folder}: was built with another model than this ({old.model.name}, or that was trained anew since); "
            "build a new index with another --out"
        )


def usable(vector: Vectors) -> bool:
    return bool(np.isfinite(vector).all() and vector.any())


def cut(todo: Sequence[Item], at_once: int, most: int = 0) -> Iterator[Sequence[Item]]:
    """Portions of up to `most`, in whole multiples of `at_once`, which is the least.

    The last ones are small, so that no core has much to do when the others have nothing left.

    >>> list(map(len, cut(range(10), at_once=4)))
    [4, 4, 2]
    """
    start, threads = 0, _threads()
    while start < len(todo):
        fair = (len(todo) - start) // (2 * threads)
        size = max(at_once, min(most, fair) // at_once * at_once)
        yield todo[start : start + size]
        start += size


def _threads() -> int:
    """One for each core that is ours, and no more than torch was told to use."""
    torch: Any = sys.modules.get("torch")  # an exported model runs without it
    return cores() if torch is None else min(cores(), int(torch.get_num_threads()))


@contextmanager
def _one_core_each() -> Iterator[ThreadPoolExecutor]:
    """A thread for each core, each of which computes by itself: a killed build loses one picture for each.

    On an error or Ctrl-C, what is waiting is dropped rather than finished.
    """
    torch: Any = sys.modules.get("torch")
    before = None if torch is None else torch.get_num_threads()
    alone = {} if torch is None else {"initializer": torch.set_num_threads, "initargs": (1,)}
    pool = ThreadPoolExecutor(_threads(), **alone)
    try:
        yield pool
        pool.shutdown()
    except BaseException:
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    finally:
        if torch is not None:
            torch.set_num_threads(before)
