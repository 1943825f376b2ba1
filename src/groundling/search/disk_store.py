"""Vectors on disk, for tens of millions on one machine: a search holds none of them in memory.

Only where it looks at a part of them does it have a byte for each. Whoever builds such an index holds more of each
picture: its row, and where its vector lies in the journal.

Two files lie beside each other, both mapped into memory, so that a query reads only what it looks at: the vectors
themselves, in half precision, and a FAISS index (Jégou et al. 2011: inverted lists of product codes). A query looks
into the nearest lists, takes the best few hundred by their codes, and compares these once more by their vectors. A few
vectors need no lists: then all are compared.
"""

import math
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from groundling.errors import UserError
from groundling.files import DAMAGED_ARRAY
from groundling.model.vectors import Vectors
from groundling.search.entries import Entries, Rows
from groundling.search.faiss_store import FEW, faiss_module
from groundling.search.manifest import Manifest, verify
from groundling.search.search_filter import SearchFilter

AT_ONCE = 2**15  # vectors that are read and compared together
SPARE = 4  # candidates for each one that is wanted, where more are wanted than the recall was measured with
Half = npt.NDArray[np.float16]


class DiskSearch:
    """The search by itself, in files that are whole: `lists` is None where there are none."""

    def __init__(self, vectors: Path, lists: Path | None) -> None:
        self.vectors: Half = np.load(vectors, mmap_mode="r", allow_pickle=False)
        self.lists: Any = None if lists is None else open_lists(lists)

    def nearest(self, queries: Vectors, k: int, rows: Rows | None = None) -> tuple[Vectors, Rows]:
        """Exactly the k best of all, or of some rows in their order, a portion at a time."""
        faiss, count = faiss_module(), len(self.vectors) if rows is None else len(rows)
        scores = np.full((len(queries), k), -np.inf, dtype=np.float32)
        found = np.full((len(queries), k), -1, dtype=np.int64)
        for start in range(0, count, AT_ONCE):
            part = slice(start, start + AT_ONCE)
            some = (self.vectors[part] if rows is None else self.vectors[rows[part]]).astype(np.float32)
            some_scores, places = faiss.knn(queries, some, min(k, len(some)), metric=faiss.METRIC_INNER_PRODUCT)
            some_rows = places + start if rows is None else rows[part][places]
            all_scores = np.concatenate([scores, some_scores], axis=1)
            all_rows = np.concatenate([found, some_rows], axis=1)
            order = np.argsort(-all_scores, axis=1, kind="stable")[:, :k]
            scores, found = np.take_along_axis(all_scores, order, 1), np.take_along_axis(all_rows, order, 1)
        return scores, found

    def search(
        self, queries: Vectors, k: int, probes: int, candidates: int, selector: Any = None
    ) -> tuple[Vectors, Rows]:
        """The k best of the candidates that so many lists have."""
        faiss = faiss_module()
        parameters = faiss.IVFPQSearchParameters(nprobe=probes, sel=selector)
        rough = cast(Rows, self.lists.search(queries, candidates, params=parameters)[1])
        scores = np.full((len(queries), k), -np.inf, dtype=np.float32)
        found = np.full((len(queries), k), -1, dtype=np.int64)
        for line, rows in enumerate(rough):
            rows = np.sort(rows[rows >= 0])  # in the order of the file, and of equal scores
            exact = self.vectors[rows].astype(np.float32) @ queries[line]
            order = np.argsort(-exact, kind="stable")[:k]
            scores[line, : len(order)], found[line, : len(order)] = exact[order], rows[order]
        return scores, found


def open_lists(path: Path) -> Any:
    """A FAISS index whose lists stay in their file."""
    faiss = faiss_module()
    index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP)
    faiss.downcast_InvertedLists(index.invlists).prefetch_nthread = 0  # else 32 threads are started for every query
    return index


class DiskStore:
    """See `search.store.Store`. Vectors come back in half precision."""

    def __init__(self, folder: Path, manifest: Manifest, entries: Entries) -> None:
        stored = manifest.vectors
        if stored is None:
            raise UserError(f"{folder}: the manifest names no vectors; build the index again")
        path = verify(folder, stored)
        lists = None if manifest.lists is None else verify(folder, manifest.lists)
        try:
            self.searched = DiskSearch(path, lists)
        except (RuntimeError, OSError, *DAMAGED_ARRAY) as error:
            why = str(error).splitlines()[0]
            raise UserError(f"{folder}: its vectors cannot be read ({why}); build the index again") from None
        shape, wanted = self.searched.vectors.shape, (len(entries), manifest.model.dimensions)
        inside = self.searched.lists
        if shape != wanted or (inside is not None and (inside.ntotal, inside.d) != wanted):
            raise UserError(f"{path}: vectors {shape}, where the table has {wanted}; build the index again")
        if (inside is None) != (manifest.search.kind == "exact"):
            raise UserError(f"{folder}: the manifest does not name the lists of its vectors; build the index again")
        self.entries, self.facts = entries, manifest.search

    def for_many(self) -> "DiskStore":
        return self

    def held(self) -> Rows:
        return np.arange(len(self.entries), dtype=np.int64)

    def vectors(self, rows: Rows) -> Vectors:
        return np.array(self.searched.vectors[rows], dtype=np.float32)

    def search(self, queries: Vectors, k: int, choice: SearchFilter | None, exact: bool) -> tuple[Vectors, Rows]:
        mask = None if choice is None else self.entries.mask(choice)
        chosen = len(self.entries) if mask is None else int(mask.sum())
        inside = self.searched.lists
        if inside is None or exact or (mask is not None and chosen <= FEW):
            return self.searched.nearest(queries, k, None if mask is None else np.flatnonzero(mask))
        # Where only a part is looked at, the nearest of it are spread over more lists; and who wants many needs lists
        # that hold as many.
        candidates = min(chosen, max(int(self.facts.candidates or 0), SPARE * k))
        rarity = len(self.entries) / chosen
        enough = 2 * candidates * inside.nlist / chosen
        probes = min(inside.nlist, math.ceil(max(int(self.facts.effort or 1) * rarity, enough)))
        selector = None
        if mask is not None:
            bits = np.packbits(mask, bitorder="little")
            selector = faiss_module().IDSelectorBitmap(bits)
        return self.searched.search(queries, k, probes, candidates, selector)
