"""What need not be encoded again: the vectors of the index that is there, and of a build that was cut short."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from groundling.model.vectors import Vectors
from groundling.search import manifest as manifests
from groundling.search.entries import Entries, Entry, Rows
from groundling.search.journal import Journal, JournalVector
from groundling.search.manifest import Manifest
from groundling.search.store import Store, open_store

Reference = int | Vectors | JournalVector  # a row of the old index, the vector itself, or where the journal has it


@dataclass(frozen=True)
class Row:
    """One row of the new index: what it is of, and where its vector is."""

    entry: Entry
    vector: Reference


@dataclass
class Previous:
    """The index that is there, and what an unfinished build left: rows by name, and vectors by content.

    `old_entries` are the rows of the finished index.
    """

    manifest: Manifest | None = None
    store: Store | None = None
    old_entries: list[Entry] = field(default_factory=list)
    by_name: dict[str, Row] = field(default_factory=dict)
    by_digest: dict[str, Reference] = field(default_factory=dict)

    @staticmethod
    def of(folder: Path, journal: Journal) -> "Previous":
        previous = Previous()
        if (folder / manifests.FILE).exists():
            previous.manifest = manifests.read(folder)
            entries = Entries.load(manifests.verify(folder, previous.manifest.entries))
            previous.store = open_store(folder, previous.manifest, entries, mending=True)
            previous.old_entries = entries.rows()
            for row in previous.store.held().tolist():
                previous._note(previous.old_entries[row], row)
        for entry, vector in journal.records:
            previous._note(entry, vector)
        return previous

    def _note(self, entry: Entry, vector: Reference) -> None:
        self.by_name[entry.name] = Row(entry, vector)
        self.by_digest[entry.digest] = vector


def vectors_of(references: list[Reference], store: Store | None, dimensions: int) -> Vectors:
    """[references, dimensions], from wherever they are."""
    vectors = np.empty((len(references), dimensions), dtype=np.float32)
    places: list[int] = []
    old: list[int] = []
    for place, reference in enumerate(references):
        if isinstance(reference, int):
            places.append(place)
            old.append(reference)
        else:
            vectors[place] = np.asarray(reference)
    if old and store is not None:
        wanted: Rows = np.array(old, dtype=np.int64)
        vectors[places] = store.vectors(wanted)
    return vectors
