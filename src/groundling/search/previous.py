"""What need not be encoded again: the vectors of the index that is there, and of a build that was cut short."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from groundling.model.vectors import Vectors
from groundling.search import manifest as manifests
from groundling.search.entries import Entries, Rows
from groundling.search.journal import Journal, Kept
from groundling.search.manifest import Manifest
from groundling.search.store import Store, open_store

Reference = int | Vectors | Kept  # a row of the old index, the vector itself, or where the journal has it


@dataclass(frozen=True)
class Row:
    """One row of the new index: its facts, and where its vector is."""

    facts: dict[str, Any]
    vector: Reference


@dataclass
class Previous:
    """The index that is there, and what an unfinished build left: rows by name, and vectors by content.

    `old_facts` are the rows of the finished index.
    """

    manifest: Manifest | None = None
    store: Store | None = None
    old_facts: list[dict[str, Any]] = field(default_factory=list)
    by_name: dict[str, Row] = field(default_factory=dict)
    by_digest: dict[str, Reference] = field(default_factory=dict)

    @staticmethod
    def of(folder: Path, journal: Journal) -> "Previous":
        previous = Previous()
        if (folder / manifests.FILE).exists():
            previous.manifest = manifests.read(folder)
            entries = Entries.load(manifests.verify(folder, previous.manifest.entries))
            previous.store = open_store(folder, previous.manifest, entries, mending=True)
            previous.old_facts = entries.facts()
            for row in previous.store.held().tolist():
                previous._note(previous.old_facts[row], row)
        for facts, vector in journal.records:
            previous._note(facts, vector)
        return previous

    def _note(self, facts: dict[str, Any], vector: Reference) -> None:
        self.by_name[facts["name"]] = Row(facts, vector)
        self.by_digest[facts["digest"]] = vector


def vectors_of(rows: list[Row], store: Store | None, dimensions: int) -> Vectors:
    """[rows, dimensions], from wherever they are."""
    vectors = np.empty((len(rows), dimensions), dtype=np.float32)
    places: list[int] = []
    old: list[int] = []
    for place, row in enumerate(rows):
        if isinstance(row.vector, int):
            places.append(place)
            old.append(row.vector)
        else:
            vectors[place] = np.asarray(row.vector)
    if old and store is not None:
        wanted: Rows = np.array(old, dtype=np.int64)
        vectors[places] = store.vectors(wanted)
    return vectors
