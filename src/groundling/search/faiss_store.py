"""Vectors in one FAISS file (Douze et al. 2024): exact up to a size, then IVF (Jégou 2011) or HNSW (Malkov 2018).

The file holds the vectors themselves, so that an update takes what has not changed from there.
"""

import secrets
from pathlib import Path
from typing import Any, cast

import numpy as np

from groundling.checksums import sha256
from groundling.errors import UserError
from groundling.files import atomic_path
from groundling.model.vectors import Vectors
from groundling.progress import bar
from groundling.search import recall
from groundling.search.entries import Entries, Mask, Rows
from groundling.search.manifest import Manifest, SearchFacts, StoredFile, verify
from groundling.search.search_filter import SearchFilter
from groundling.search.store import Fetch, Written, lists_for

NEIGHBOURS, CARE = 32, 80  # of HNSW: links of a picture, candidates looked at when it is linked
MOST_CANDIDATES = 1024
FEW = 50_000  # chosen rows that are compared one by one rather than through an approximate index
TRAINING = 64  # vectors for each list of an IVF to find its centre with


def faiss_module() -> Any:
    try:
        import faiss
    except ImportError:
        raise UserError("an index needs FAISS: pip install 'groundling[search]'") from None
    return faiss


def write(folder: Path, entries: Entries, fetch: Fetch, kind: str, aim: recall.Aim) -> Written:
    """vectors-….faiss with the vectors of all entries."""
    faiss = faiss_module()
    vectors = np.ascontiguousarray(fetch(np.arange(len(entries), dtype=np.int64)), dtype=np.float32)
    path = folder / f"vectors-{secrets.token_hex(8)}.faiss"
    with bar("Writing the index", total=2) as progress:
        index, facts = make(vectors, kind, aim)
        progress.advance()
        with atomic_path(path) as temporary:
            faiss.write_index(index, str(temporary))
            checksum = sha256(temporary)
        progress.advance()
    return Written(facts, StoredFile(name=path.name, sha256=checksum))


def make(vectors: Vectors, kind: str, aim: recall.Aim = recall.Aim()) -> tuple[Any, SearchFacts]:
    """A FAISS index of this kind, tuned, and what it finds."""
    faiss = faiss_module()
    count, dimensions = vectors.shape
    inner = faiss.METRIC_INNER_PRODUCT
    if kind == "exact" or count < 2:
        index = faiss.IndexFlatIP(dimensions)
        index.add(vectors)
        return index, SearchFacts()
    if kind == "ivf":
        lists = lists_for(count)
        index = faiss.IndexIVFFlat(faiss.IndexFlatIP(dimensions), dimensions, lists, inner)
        few = np.random.default_rng(0).choice(count, min(count, TRAINING * lists), replace=False)
        index.train(vectors[np.sort(few)])
        most = lists
    else:
        index = faiss.IndexHNSWFlat(dimensions, NEIGHBOURS, inner)
        index.hnsw.efConstruction = CARE
        most = MOST_CANDIDATES
    index.add(vectors)

    def nearest(queries: Vectors, k: int) -> Rows:
        return cast(Rows, faiss.knn(queries, vectors, k, metric=inner)[1])

    def search(some: Vectors, k: int, effort: int) -> Rows:
        return cast(Rows, index.search(some, k, params=_parameters(kind, effort, None))[1])

    return index, recall.tuned(search, count, lambda rows: vectors[rows], nearest, most, aim, kind)


def _parameters(kind: str, effort: int | None, selector: Any) -> Any:
    faiss = faiss_module()
    if kind == "ivf":
        return faiss.SearchParametersIVF(nprobe=effort, sel=selector)
    if kind == "hnsw":
        return faiss.SearchParametersHNSW(efSearch=effort, sel=selector)
    return None if selector is None else faiss.SearchParameters(sel=selector)


class FaissStore:
    """See `search.store.Store`."""

    def __init__(self, folder: Path, manifest: Manifest, entries: Entries) -> None:
        faiss = faiss_module()
        if manifest.vectors is None:
            raise UserError(f"{folder}: the manifest names no vectors; build the index again")
        path = verify(folder, manifest.vectors)
        try:
            self.index = faiss.read_index(str(path))
        except RuntimeError as error:
            raise UserError(f"{path}: FAISS cannot read it ({str(error).splitlines()[0]}); build it again") from None
        if (self.index.ntotal, self.index.d) != (len(entries), manifest.model.dimensions):
            raise UserError(
                f"{path}: {self.index.ntotal} vectors of {self.index.d} numbers, where the table has {len(entries)} "
                f"entries of {manifest.model.dimensions}; build the index again"
            )
        self.entries, self.facts = entries, manifest.search
        if self.facts.kind == "ivf":
            self.index.make_direct_map()

    @staticmethod
    def holding(vectors: Vectors, entries: Entries) -> "FaissStore":
        """An exact one of vectors that are in memory, for those who ask many questions at once."""
        store = FaissStore.__new__(FaissStore)
        store.index, store.facts = make(np.ascontiguousarray(vectors, dtype=np.float32), "exact")
        store.entries = entries
        return store

    def for_many(self) -> "FaissStore":
        return self

    def held(self) -> Rows:
        return np.arange(len(self.entries), dtype=np.int64)

    def vectors(self, rows: Rows) -> Vectors:
        return cast(Vectors, self.index.reconstruct_batch(rows))

    def search(self, queries: Vectors, k: int, choice: SearchFilter | None, exact: bool) -> tuple[Vectors, Rows]:
        kind, effort, index = self.facts.kind, self.facts.effort, self.index
        if choice is None:
            if exact and kind == "hnsw":
                kind, index = "exact", faiss_module().downcast_index(index.storage)
            elif exact and kind == "ivf":
                effort = index.nlist
            return cast(tuple[Vectors, Rows], index.search(queries, k, params=_parameters(kind, effort, None)))
        mask = self.entries.mask(choice)
        if kind != "exact" and (exact or mask.sum() <= FEW):
            return self._compare(queries, k, mask)
        selector = faiss_module().IDSelectorBitmap(np.packbits(mask, bitorder="little"))
        return cast(tuple[Vectors, Rows], index.search(queries, k, params=_parameters(kind, effort, selector)))

    def _compare(self, queries: Vectors, k: int, mask: Mask) -> tuple[Vectors, Rows]:
        """The chosen rows, each compared with the queries."""
        rows = np.flatnonzero(mask)
        scores = queries @ self.vectors(rows).T
        order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
        return np.take_along_axis(scores, order, axis=1), rows[order]
