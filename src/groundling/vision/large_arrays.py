"""Arrays that are larger than memory: in a file without a name, which the system takes back with the process.

Smaller ones are ordinary arrays. All that reads rows of an array reads rows of either.
"""

import os
import tempfile
from typing import Any

import numpy as np
import numpy.typing as npt

from groundling.files import cache_folder, make_folder, problems_of

LARGE = 4 * 2**30  # bytes from which an array is not held in memory
_BLOCK = 2**14  # rows

Array = npt.NDArray[Any]


def room(shape: tuple[int, ...], dtype: npt.DTypeLike = np.float32) -> Array:
    """Zeros; where they are many, memory-mapped, in the cache folder."""
    size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
    if size < LARGE:
        return np.zeros(shape, dtype=dtype)
    folder = cache_folder() / "scratch"
    with problems_of(folder):
        make_folder(folder)
        with tempfile.TemporaryFile(dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, size)  # a full disk is known now, and not by a crash later
            return np.memmap(file, dtype=dtype, mode="r+", shape=shape)


def rows_of(array: Array, rows: npt.NDArray[Any], dtype: npt.DTypeLike | None = None) -> Array:
    """`array[rows]` (a mask, or numbers), of another type perhaps; no more of it is in memory than `room` allows."""
    dtype = np.dtype(dtype or array.dtype)
    places = np.flatnonzero(rows) if rows.dtype == bool else rows
    size = len(places) * int(np.prod(array.shape[1:], dtype=np.int64)) * dtype.itemsize
    if size < LARGE:
        return np.asarray(array[places], dtype=dtype)
    if dtype == array.dtype and len(places) == len(array) and bool((places == np.arange(len(array))).all()):
        return array
    made = room((len(places), *array.shape[1:]), dtype)
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
