"""Vectors in a Milvus (Wang et al. 2021): a server or cluster, or a Milvus Lite file. Needs the extra `milvus`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from groundling.errors import UserError
from groundling.model.vectors import Vectors
from groundling.search.entries import Entries, Rows
from groundling.search.manifest import Manifest
from groundling.search.milvus_building import check, write
from groundling.search.milvus_collection import all_ids, expression, fetch, load
from groundling.search.milvus_collection import search as nearest
from groundling.search.milvus_connection import allow, connect, facts, file_of, said
from groundling.search.milvus_rows import STRONG
from groundling.search.search_filter import SearchFilter
from groundling.search.store import Unavailable

__all__ = ["MilvusStore", "allow", "check", "connect", "facts", "opened", "write"]

Answer = TypeVar("Answer")


def opened(folder: Path, manifest: Manifest, entries: Entries, mending: bool) -> "MilvusStore":
    return MilvusStore(folder, manifest, entries, mending)


class MilvusStore:
    """See `search.store.Store`."""

    def __init__(self, folder: Path, manifest: Manifest, entries: Entries, mending: bool = False) -> None:
        self.name, self.entries, self.facts = str(manifest.store.collection), entries, manifest.search
        self.place = manifest.store
        file = file_of(folder, manifest.store)
        self.client: Any = None
        if file is None or file.exists():
            self.client = connect(folder, manifest.store)
        elif not mending:
            raise UserError(
                f"{manifest.store.uri}: no such Milvus file; mend it with `groundling index --update --out {folder}`"
            )
        if mending:
            return
        there = 0
        if self.client.has_collection(self.name):
            load(self.client, manifest.store)
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
        if self.client is None or not self.client.has_collection(self.name) or not self.client.list_indexes(self.name):
            return np.zeros(0, dtype=np.int64)  # without an index, as after a kill, a server loads nothing
        load(self.client, self.place)
        return np.flatnonzero(np.isin(self.entries.ids, all_ids(self.client, self.name)))

    def vectors(self, rows: Rows) -> Vectors:
        return self._answer(lambda: fetch(self.client, self.name, self.entries.ids[rows]))

    def search(self, queries: Vectors, k: int, choice: SearchFilter | None, exact: bool) -> tuple[Vectors, Rows]:
        effort = {"nprobe": 65_536 if exact else self.facts.effort} if self.facts.kind == "ivf" else {}
        wanted = "" if choice is None else expression(choice, self.place.layout)
        level = self.place.consistency or "Strong"
        return self._answer(lambda: nearest(self.client, self.name, queries, k, wanted, effort, self.entries, level))

    def _answer(self, ask: Callable[[], Answer]) -> Answer:
        """What goes wrong between us and a server, in one sentence; it may be gone for a moment only."""
        try:
            try:
                return ask()
            except Exception as error:
                if "not loaded" not in str(error):
                    raise
                load(self.client, self.place)  # it was started anew, or somebody wanted its memory
                return ask()
        except Exception as error:
            raise Unavailable(f"Milvus at {self.place.uri} does not answer ({said(error)})") from None
