"""An exact index in FAISS's file, read without FAISS: the vectors stay in the file, which is mapped into memory.

Who asks once, on the command line, waits for no library and no copy; from the second question on the vectors are held
in memory, aligned as matrix products like them.
"""

import os
import struct
from pathlib import Path
from typing import cast

import numpy as np

from groundling.errors import UserError
from groundling.model.vectors import Vectors
from groundling.search.entries import Entries, Rows
from groundling.search.manifest import Manifest, verify
from groundling.search.search_filter import SearchFilter
from groundling.search.store import Store

# What FAISS writes before the numbers of an IndexFlatIP: its kind, dimensions, count, two numbers of no meaning,
# whether it is trained, the metric (0: inner product), and how many numbers follow.
HEADER = struct.Struct("<4siqqq?iQ")
KIND, INNER_PRODUCT = b"IxFI", 0
AT_ONCE = 16_384  # vectors that are compared together: their copy stays in the processor's cache


class FlatStore:
    """See `search.store.Store`. Equal scores are in the order of the table."""

    def __init__(self, folder: Path, manifest: Manifest, entries: Entries) -> None:
        if manifest.vectors is None:
            raise UserError(f"{folder}: the manifest names no vectors; build the index again")
        path = verify(folder, manifest.vectors)
        try:
            head, size = _head(path)
        except FileNotFoundError:  # between the check and now: an update has put another in its place
            raise UserError(f"{path}: missing; build the index again") from None
        try:
            kind, dimensions, count, _, _, _, metric, numbers = HEADER.unpack(head)
        except struct.error:
            kind, dimensions, count, metric, numbers = b"", 0, 0, 0, 0
        whole = numbers == dimensions * count and size == HEADER.size + 4 * numbers
        if kind != KIND or metric != INNER_PRODUCT or not whole:
            raise UserError(f"{path}: FAISS cannot read it (not an exact index); build it again")
        if (count, dimensions) != (len(entries), manifest.model.dimensions):
            raise UserError(
                f"{path}: {count} vectors of {dimensions} numbers, where the table has {len(entries)} entries of "
                f"{manifest.model.dimensions}; build the index again"
            )
        shape = (count, dimensions)
        self._vectors: Vectors = np.zeros(shape, dtype=np.float32)
        if count:  # nothing can be mapped of an empty file
            try:
                self._vectors = np.memmap(path, np.float32, "r", HEADER.size, shape)
            except FileNotFoundError:
                raise UserError(f"{path}: missing; build the index again") from None
        self.entries, self._asked = entries, 0

    def held(self) -> Rows:
        return np.arange(len(self.entries), dtype=np.int64)

    def for_many(self) -> Store:
        """The same vectors in FAISS: a server asks for many lines at once, of which this one sorts each by itself."""
        from groundling.search.faiss_store import FaissStore

        return FaissStore.holding(self._vectors, self.entries)

    def vectors(self, rows: Rows) -> Vectors:
        return np.array(self._vectors[rows], dtype=np.float32)

    def search(self, queries: Vectors, k: int, choice: SearchFilter | None, exact: bool) -> tuple[Vectors, Rows]:
        self._asked += 1
        if self._asked == 2:
            self._vectors = np.array(self._vectors, dtype=np.float32)
        scores = np.empty((len(queries), len(self.entries)), dtype=np.float32)
        for start in range(0, len(self.entries), AT_ONCE):
            part = np.require(self._vectors[start : start + AT_ONCE], np.float32, ["A"])
            scores[:, start : start + len(part)] = queries @ part.T
        if choice is not None:
            scores[:, ~self.entries.mask(choice)] = -np.inf
        return best(scores, k)


def _head(path: Path) -> tuple[bytes, int]:
    with path.open("rb") as file:
        return file.read(HEADER.size), os.fstat(file.fileno()).st_size


def best(scores: Vectors, k: int) -> tuple[Vectors, Rows]:
    """The k highest of each line and where they are, the highest first; −1 for what is −∞ or not there.

    >>> best(np.array([[0.1, 0.3, -np.inf, 0.3]], dtype=np.float32), 4)[1].tolist()
    [[1, 3, 0, -1]]
    """
    count = scores.shape[1]
    found = np.full((len(scores), k), -np.inf, dtype=np.float32)
    rows = np.full((len(scores), k), -1, dtype=np.int64)
    for line, values in enumerate(scores):
        least = np.partition(values, count - k)[count - k] if k < count else -np.inf
        some = np.flatnonzero(values >= least)  # with all that are as good as the last: the order of the table decides
        order = some[np.argsort(-values[some], kind="stable")][:k]
        order = order[values[order] > -np.inf]
        found[line, : len(order)], rows[line, : len(order)] = values[order], order
    return found, cast(Rows, rows)
