"""Vectors of sentences on disk, by their texts: each is computed once, whoever asks for it next.

They lie in parts of a few thousand, each one file: a checksum, the keys of the texts, and their rows. A part gets its
name when it is whole; one that was damaged is passed over, and what it had is computed again.
"""

import hashlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from groundling.files import atomic_path

KEY = 16  # bytes of the hash of a text
CHECK = 32  # bytes of a checksum

Rows = npt.NDArray[np.uint16]


class CachedRows:
    """Rows of `width` numbers by text, in a folder."""

    def __init__(self, folder: Path, width: int) -> None:
        self.folder, self.width = folder, width
        self._parts: list[Rows] = []
        self._places: dict[bytes, tuple[int, int]] = {}
        for path in sorted(folder.glob("*.bin")):
            self._open(path)

    def find(self, texts: Sequence[str]) -> tuple[npt.NDArray[np.bool_], Rows]:
        """Which texts are here, and [texts, width] their rows; zeros for those that are not."""
        rows = np.zeros((len(texts), self.width), dtype=np.uint16)
        known = np.zeros(len(texts), dtype=np.bool_)
        for place, text in enumerate(texts):
            found = self._places.get(_key(text))
            if found is not None:
                known[place], rows[place] = True, self._parts[found[0]][found[1]]
        return known, rows

    def add(self, texts: Sequence[str], rows: Rows) -> None:
        """Keeps rows, one for each text."""
        data = b"".join(_key(text) for text in texts) + rows.astype("<u2").tobytes()
        check = hashlib.sha256(data).digest()
        path = self.folder / f"{check.hex()[:32]}.bin"
        with atomic_path(path) as part:
            part.write_bytes(check + data)
        self._open(path)

    def _open(self, path: Path) -> None:
        try:
            whole = np.memmap(path, dtype=np.uint8, mode="r")
        except (OSError, ValueError):  # gone in the meantime, or empty
            return
        check, data = whole[:CHECK].tobytes(), whole[CHECK:]
        count, left = divmod(len(data), KEY + 2 * self.width)
        if left or hashlib.sha256(data.data).digest() != check:
            return
        keys = data[: count * KEY].tobytes()
        self._parts.append(data[count * KEY :].view("<u2").reshape(count, self.width))
        for row in range(count):
            self._places[keys[row * KEY : (row + 1) * KEY]] = len(self._parts) - 1, row


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode(errors="surrogatepass")).digest()[:KEY]


@lru_cache(maxsize=1)
def cached_rows(folder: Path, width: int) -> CachedRows:
    """Those of a folder, opened once in a process."""
    return CachedRows(folder, width)
