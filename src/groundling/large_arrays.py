"""Arrays that are larger than memory: in a file without a name, which the system takes back with the process.

Smaller ones are ordinary arrays. All that reads rows of an array reads rows of either. `large` is the number of bytes
from which an array is not held in memory; `LARGE` where it is left out.
"""

import os
import tempfile
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from groundling.files import cache_folder, make_folder, problems_of

LARGE = 4 * 2**30  # bytes
_BLOCK = 2**14  # rows

Array = npt.NDArray[Any]


def room(shape: tuple[int, ...], dtype: npt.DTypeLike = np.float32, large: int | None = None) -> Array:
    """Zeros; where they are many, memory-mapped, in the cache folder."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    if size < (LARGE if large is None else large):
        return np.zeros(shape, dtype=dtype)
    with problems_of(cache_folder()), _scratch_file() as file:
        os.posix_fallocate(file.fileno(), 0, size)  # a full disk is known now, and not by a crash later
        return np.memmap(file, dtype=dtype, mode="r+", shape=shape)


def rows_of(
    array: Array, rows: npt.NDArray[Any], dtype: npt.DTypeLike | None = None, large: int | None = None
) -> Array:
    """`array[rows]` (a mask, or numbers), of another type perhaps; no more of it is in memory than `room` allows."""
    dtype = np.dtype(dtype or array.dtype)
    places = np.flatnonzero(rows) if rows.dtype == bool else rows
    size = len(places) * int(np.prod(array.shape[1:], dtype=np.int64)) * dtype.itemsize
    if size < (LARGE if large is None else large):
        return np.asarray(array[places], dtype=dtype)
    if dtype == array.dtype and len(places) == len(array) and bool((places == np.arange(len(array))).all()):
        return array
    made = room((len(places), *array.shape[1:]), dtype, large)
    for start in range(0, len(places), _BLOCK):
        made[start : start + _BLOCK] = array[places[start : start + _BLOCK]]
    return made


def finite_rows(array: Array) -> npt.NDArray[np.bool_]:
    """For each row whether all its numbers are finite."""
    good = np.ones(len(array), dtype=bool)
    for start in range(0, len(array), _BLOCK):
        part = array[start : start + _BLOCK]
        good[start : start + _BLOCK] = np.isfinite(part).reshape(len(part), -1).all(axis=1)
    return good


class GrowingArray:
    """Rows that come in blocks, nobody knows how many: in memory while they are few, and then in a file."""

    def __init__(self, large: int) -> None:
        self.large, self.rows, self.bytes = large, 0, 0
        self.held: list[Array] = []
        self.file: IO[bytes] | None = None

    def add(self, block: Array) -> None:
        self.held.append(block)
        self.rows, self.bytes = self.rows + len(block), self.bytes + block.nbytes
        if self.bytes < self.large:
            return
        with problems_of(cache_folder()):
            self.file = self.file or _scratch_file()
            for one in self.held:
                self.file.write(np.ascontiguousarray(one).data)
            self.file.flush()  # the disk may be full
        self.held = [block[:0]]  # which knows the type and the columns

    def whole(self) -> Array:
        """All of them; nothing can be added any more."""
        if self.file is None:
            return np.concatenate(self.held)
        with self.file as file:
            return np.memmap(file, dtype=self.held[0].dtype, mode="r+", shape=(self.rows, *self.held[0].shape[1:]))


def _scratch_file() -> IO[bytes]:
    folder = cache_folder() / "scratch"
    make_folder(folder)
    return tempfile.TemporaryFile(dir=folder)
