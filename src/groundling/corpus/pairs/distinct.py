"""What is the same among very many things, found by 64-bit hashes with bounded memory.

The hashes lie in a file. They are gone through in parts, each of them one range of hash values with about `AT_ONCE` of
them, so that whatever is the same is in the same part, and only one part is ever sorted in memory.

>>> first, number = distinct(np.array([7, 9, 7, 7], dtype=np.uint64))
>>> first.tolist(), number.tolist()
([True, True, False, False], [0, 1, 0, 0])
"""

import hashlib

import numpy as np
import numpy.typing as npt

AT_ONCE = 2**22  # hashes in memory
CHUNK = 2**20

Hashes = npt.NDArray[np.uint64]


def hash_of(*parts: str) -> bytes:
    """The first eight bytes of SHA-256, the most significant first: they sort as the whole digests do."""
    return hashlib.sha256("\0".join(parts).encode()).digest()[:8]


def distinct(hashes: Hashes, at_once: int = AT_ONCE) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int32]]:
    """For each hash whether it stands there for the first time, and the number, in order of these first times, of what
    it is the hash of."""
    count = len(hashes)
    first = np.zeros(count, dtype=bool)
    leader = np.zeros(count, dtype=np.int32)  # the row where each was met first
    parts = max(1, -(-count // at_once))
    edges = [part * 2**64 // parts for part in range(1, parts)]
    for part in range(parts):
        rows = _rows_between(hashes, edges[part - 1] if part else None, edges[part] if part < parts - 1 else None)
        _, earliest, group = np.unique(hashes[rows], return_index=True, return_inverse=True)
        first[rows[earliest]] = True
        leader[rows] = rows[earliest][group]
    number = np.cumsum(first, dtype=np.int32) - 1
    for start in range(0, count, CHUNK):
        leader[start : start + CHUNK] = number[leader[start : start + CHUNK]]
    return first, leader


def smallest(hashes: Hashes, among: npt.NDArray[np.bool_], count: int, at_once: int = AT_ONCE) -> npt.NDArray[np.int64]:
    """The rows of the smallest hashes of those that count, in order of the hashes."""
    kept = np.empty(0, dtype=np.int64)
    for start in range(0, len(hashes), at_once):
        rows = start + np.flatnonzero(among[start : start + at_once])
        rows = np.concatenate([kept, rows])
        kept = rows[np.argsort(hashes[rows], kind="stable")[:count]]
    return kept


def _rows_between(hashes: Hashes, low: int | None, high: int | None) -> npt.NDArray[np.int32]:
    """Rows whose hash is at least `low` and below `high`."""
    found = []
    for start in range(0, len(hashes), CHUNK):
        part = hashes[start : start + CHUNK]
        inside = np.ones(len(part), dtype=bool)
        if low is not None:
            inside &= part >= np.uint64(low)
        if high is not None:
            inside &= part < np.uint64(high)
        found.append((start + np.flatnonzero(inside)).astype(np.int32))
    return np.concatenate(found) if found else np.empty(0, dtype=np.int32)
