"""For each vector the one with the highest cosine among others: of all pairs, or of those alone that can be near.

For large corpora the space is cut into cells. Some of the vectors are centres, and each vector belongs to the centre
that it is nearest to. Two unit vectors with a cosine of at least t are no further apart than r = √(2 − 2t). Let q be
nearest to the centre a, and x, in the cell of another centre b, be such a near one. Then ⟨x, a − b⟩ ≤ 0, and so

    ⟨q, a − b⟩  ≤  ⟨q − x, a − b⟩  ≤  r · ‖a − b‖.

Cells for which this does not hold are passed over. Nothing is missed by it, as it would be by hashing; the higher t is,
the fewer cells are left.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from groundling.corpus.corpus import Integers
from groundling.progress import bar

BLOCK = 2048
_AT_ONCE = 2**24  # pairs of a vector and a cell that are kept before they are looked into
_ROUNDING = 2e-4  # more than float32 can be wrong about a difference of cosines

Features = npt.NDArray[np.floating[Any]]
Cosines = npt.NDArray[np.float64]


class AllPairs:
    """Compares each with each, block by block: neither side need fit in memory."""

    def __init__(self, features: Features, among: Integers) -> None:
        self.features, self.among = features, among

    def nearest(self, asked: Integers, kind: npt.DTypeLike) -> tuple[Cosines, Integers]:
        """For each row of `asked` its highest cosine with a row of `among`, and the place of that one (the first)."""
        best, place = np.full(len(asked), -np.inf), np.zeros(len(asked), dtype=np.int64)
        with bar("Comparing picture features", len(asked)) as progress:
            for start in range(0, len(asked), BLOCK):
                rows = slice(start, start + BLOCK)
                best[rows], place[rows] = _nearest(self.features, asked[rows], self.among, kind)
                progress.advance(len(asked[rows]))
        return best, place


class Cells:
    """Compares each with those cells in which something can be that has at least the cosine `least`."""

    def __init__(self, features: Features, among: Integers, least: float) -> None:
        self.features, self.among = features, among
        self.radius = float(np.sqrt(max(0.0, 2 - 2 * least)))
        self.least = least
        count = min(len(among), max(1, 2 * round(len(among) ** 0.5)))
        chosen = np.sort(np.random.default_rng(0).choice(len(among), count, replace=False))
        self.centres = unit(features[among[chosen]], np.float32)
        self.apart = np.sqrt(np.maximum(0, 2 - 2 * self.centres @ self.centres.T))
        owners = np.empty(len(among), dtype=np.int64)
        with bar("Sorting picture features", len(among)) as progress:
            for start in range(0, len(among), BLOCK):
                block = unit(features[among[start : start + BLOCK]], np.float32)
                owners[start : start + BLOCK] = (block @ self.centres.T).argmax(axis=1)
                progress.advance(len(block))
        self.members = np.argsort(owners, kind="stable")
        self.begins = np.searchsorted(owners[self.members], np.arange(count + 1))
        self.compared = 0  # pairs of vectors, so far

    def nearest(self, asked: Integers, kind: npt.DTypeLike) -> tuple[Cosines, Integers]:
        """As of all pairs; −∞ for a row that has none with at least the cosine `least`."""
        best, place = np.full(len(asked), -np.inf), np.zeros(len(asked), dtype=np.int64)
        waiting: list[tuple[Integers, Integers]] = []
        with bar("Comparing picture features", len(asked)) as progress:
            for start in range(0, len(asked), BLOCK):
                rows, cells = self._possible(asked[start : start + BLOCK])
                waiting.append((rows + start, cells))
                if start + BLOCK >= len(asked) or sum(len(rows) for rows, _ in waiting) >= _AT_ONCE:
                    self._look(asked, waiting, kind, best, place)
                    waiting = []
                progress.advance(len(asked[start : start + BLOCK]))
        best[best < self.least] = -np.inf  # there may be a nearer one in a cell that was passed over
        return best, place

    def _possible(self, asked: Integers) -> tuple[Integers, Integers]:
        """Places in `asked`, and for each a cell that is to be looked into."""
        cosines = unit(self.features[asked], np.float32) @ self.centres.T
        own = cosines.argmax(axis=1)
        further = cosines[np.arange(len(own)), own][:, None] - cosines
        rows, cells = np.nonzero(further <= self.radius * self.apart[own] + _ROUNDING)
        return rows.astype(np.int64, copy=False), cells.astype(np.int64, copy=False)

    def _look(
        self,
        asked: Integers,
        waiting: list[tuple[Integers, Integers]],
        kind: npt.DTypeLike,
        best: Cosines,
        place: Integers,
    ) -> None:
        """Cell by cell, so that each is read once for all that may be near something in it."""
        rows, cells = (np.concatenate(parts) for parts in zip(*waiting, strict=True))
        order = np.argsort(cells, kind="stable")
        rows, ends = rows[order], np.searchsorted(cells[order], np.arange(len(self.centres) + 1))
        for cell in np.flatnonzero(np.diff(ends)):
            here = rows[ends[cell] : ends[cell + 1]]
            members = self.members[self.begins[cell] : self.begins[cell + 1]]
            self.compared += len(here) * len(members)
            for start in range(0, len(here), BLOCK):
                some = here[start : start + BLOCK]
                value, at = _nearest(self.features, asked[some], self.among[members], kind)
                found = members[at] if len(members) else at
                better = (value > best[some]) | ((value == best[some]) & (found < place[some]))
                best[some[better]], place[some[better]] = value[better], found[better]


def unit(block: Features, kind: npt.DTypeLike) -> Features:
    wide = np.asarray(block, dtype=np.float64)
    wide = wide / np.abs(wide).max(axis=1, keepdims=True)  # squares of very small or large numbers stay in range
    return (wide / np.linalg.norm(wide, axis=1, keepdims=True)).astype(kind)


def _nearest(features: Features, asked: Integers, among: Integers, kind: npt.DTypeLike) -> tuple[Cosines, Integers]:
    """Of a block of rows; those that they are compared with are read block by block."""
    best, nearest = np.full(len(asked), -np.inf), np.zeros(len(asked), dtype=np.int64)
    queries = unit(features[asked], kind)
    for begin in range(0, len(among), BLOCK):
        cosines = queries @ unit(features[among[begin : begin + BLOCK]], kind).T
        top = cosines.argmax(axis=1)
        value = cosines[np.arange(len(queries)), top]
        better = np.flatnonzero(value > best)
        best[better], nearest[better] = value[better], begin + top[better]
    return best, nearest
