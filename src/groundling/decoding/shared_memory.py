"""Memory that a decoding process and who started it both see, through which the arrays of many pictures come back.

The system knows it by a handle and not by a name: when both have ended, however that came, nothing is left of it. Its
size is sealed, for a process that has mapped a file is ended by the system when another makes that file shorter.
"""

import mmap
import os

import numpy as np
import numpy.typing as npt

SIZE = 2**23  # bytes, of which only those take memory that were ever used: 55 pictures of 224 × 224 pixels
HEAD = 64  # bytes before the arrays, of which the first eight tell how many pictures were begun
ALIGNED = 64  # bytes, of which the place of an array is a multiple


def make() -> int | None:
    """The handle of new memory; None where the system has none that can be sealed, or does not let us have it."""
    if not hasattr(os, "memfd_create"):
        return None
    import fcntl

    try:
        handle = os.memfd_create("groundling-pictures", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except OSError:
        return None
    try:
        os.ftruncate(handle, SIZE)
        fcntl.fcntl(handle, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
    except OSError:
        os.close(handle)
        return None
    return handle


class SharedMemory:
    """The memory behind a handle, which is closed."""

    def __init__(self, handle: int) -> None:
        whole = mmap.mmap(handle, SIZE)
        os.close(handle)
        self._begun = np.frombuffer(whole, np.int64, 1)
        self._bytes = np.frombuffer(whole, np.uint8, offset=HEAD)

    @property
    def begun(self) -> int:
        """How many pictures the decoding process has begun with: who ends all at once ends with the last of them."""
        return int(self._begun[0])

    @begun.setter
    def begun(self, count: int) -> None:
        self._begun[0] = count

    @property
    def size(self) -> int:
        """Of all arrays together, in bytes."""
        return len(self._bytes)

    def put(self, array: npt.NDArray[np.generic], place: int) -> int:
        """Copy an array to a place, and give the place behind it."""
        self._bytes[place : place + array.nbytes].view(array.dtype).reshape(array.shape)[...] = array
        return place + -(-array.nbytes // ALIGNED) * ALIGNED

    def copied(self, end: int) -> npt.NDArray[np.uint8]:
        """All bytes up to `end`, of which nobody else can change any."""
        return self._bytes[: max(0, end)].copy()
