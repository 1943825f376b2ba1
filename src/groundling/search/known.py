"""What need not be encoded again: the vectors of the index that is there, and of a build that was cut short."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from groundling.search import manifest as manifests
from groundling.search.encoder import Vectors
from groundling.search.entries import Entries, Rows
from groundling.search.journal import Journal
from groundling.search.manifest import Manifest
from groundling.search.store import Store, open_store

Reference = int | Vectors  # a row of the old index, or the vector itself


@dataclass(frozen=True)
class Row:
    """One row of the new index: its facts, and where its vector is."""

    facts: dict[str, Any]
    vector: Reference


@dataclass
class Known:
    """Rows by name and vectors by content; `old_facts` are those of the finished index, by name."""

    manifest: Manifest | None = None
    store: Store | None = None
    old_facts: list[dict[str, Any]] = field(default_factory=list)
    by_name: dict[str, Row] = field(default_factory=dict)
    by_digest: dict[str, Reference] = field(default_factory=dict)

    @staticmethod
    def of(folder: Path, journal: Journal) -> "Known":
        known = Known()
        if (folder / manifests.FILE).exists():
            known.manifest = manifests.read(folder)
            entries = Entries.load(manifests.verify(folder, known.manifest.entries))
            known.store = open_store(folder, known.manifest, entries, mending=True)
            known.old_facts = entries.facts()
            for row in known.store.held().tolist():
                known._note(known.old_facts[row], row)
        for facts, vector in journal.records:
            known._note(facts, vector)
        return known

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
            vectors[place] = row.vector
    if old and store is not None:
        wanted: Rows = np.array(old, dtype=np.int64)
        vectors[places] = store.vectors(wanted)
    return vectors
