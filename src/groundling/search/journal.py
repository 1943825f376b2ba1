"""What a build has encoded so far: one record for each picture or caption, appended the moment it is there.

A killed build loses the one in hand and nothing else; a record that was cut short, or damaged since, ends what is
read, and the next build writes over it. This is the one file that is not written whole and renamed: it only grows, is
vouched for record by record, and is removed when the index is finished.

A record is: length of the entry (4 bytes), CRC-32 of what follows (4 bytes), the entry as JSON, the float32 vector.
The first record says which model and what kind of index it belongs to, and has no vector.
"""

import errno
import json
import os
import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, Any

import numpy as np

from groundling.errors import UserError
from groundling.model.vectors import Vectors
from groundling.search.entries import Entry

Json = dict[str, str | int]
_HEAD = struct.Struct("<II")
LONGEST_ENTRY = 2**20
SYNC_EVERY = 5.0  # seconds; a kill loses nothing, a power cut at most these


class Journal:
    """Opens the journal at `path`, or begins it; `about` must be what it was begun with."""

    def __init__(self, path: Path, about: Json, dimensions: int) -> None:
        self.path, self.dimensions = path, dimensions
        self.records: list[tuple[Entry, JournalVector]] = []
        with path.open("a+b") as file:
            records = _read(file, dimensions)
            first = next(records, None)
            end = 0
            if first is not None:
                if first[0] != about:
                    raise UserError(
                        f"{path.parent}: an unfinished build with another model or of other things is there; finish "
                        f"that one, or remove {path} to begin anew"
                    )
                end = first[1]
                for entry, end in records:
                    self.records.append((Entry(**entry), JournalVector(self, end)))
            file.truncate(end)
        self._file, self._end = path.open("ab", buffering=0), end
        self._reader = path.open("rb", buffering=0)
        self._synced, self._added = time.monotonic(), False
        if first is None:
            self._write(_record(about, b""))

    def _write(self, record: bytes) -> None:
        if self._file.write(record) != len(record):  # a full disk takes a part of it
            raise OSError(errno.ENOSPC, "no space left", str(self.path))
        self._end += len(record)

    def add(self, entry: Entry, vector: Vectors) -> "JournalVector":
        """Returns where the vector is: those of millions of pictures need not be in memory."""
        self._added = True
        self._write(_record(entry.to_json(), np.ascontiguousarray(vector, dtype="<f4").tobytes()))
        if time.monotonic() - self._synced > SYNC_EVERY:
            os.fsync(self._file.fileno())
            self._synced = time.monotonic()
        return JournalVector(self, self._end)

    def vector(self, end: int) -> Vectors:
        """The vector of the record that ends there."""
        data = os.pread(self._reader.fileno(), 4 * self.dimensions, end - 4 * self.dimensions)
        return np.frombuffer(data, dtype="<f4").astype(np.float32)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()
        if not self.records and not self._added:  # nothing that a next build could go on from
            self.path.unlink(missing_ok=True)

    def remove(self) -> None:
        self._close()
        self.path.unlink(missing_ok=True)

    def _close(self) -> None:
        self._file.close()
        self._reader.close()


class JournalVector:
    """A vector that is in a journal: read when numpy wants it, as long as the journal is open."""

    __slots__ = ("_end", "_journal")

    def __init__(self, journal: Journal, end: int) -> None:
        self._journal, self._end = journal, end

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Vectors:
        return self._journal.vector(self._end).astype(dtype or np.float32, copy=False)


def _record(entry: Json, vector: bytes) -> bytes:
    words = json.dumps(entry, ensure_ascii=False).encode()
    body = words + vector
    return _HEAD.pack(len(words), zlib.crc32(body)) + body


def _read(file: IO[bytes], dimensions: int) -> Iterator[tuple[Any, int]]:
    """What a record says and where the record ends, up to the first record that is not whole."""
    size = os.fstat(file.fileno()).st_size
    place, vector_bytes = 0, 0
    file.seek(0)
    while place + _HEAD.size <= size:
        length, check = _HEAD.unpack(file.read(_HEAD.size))
        end = place + _HEAD.size + length + vector_bytes
        if length > LONGEST_ENTRY or end > size:
            return
        body = file.read(length + vector_bytes)
        if zlib.crc32(body) != check:
            return
        yield json.loads(body[:length]), end
        place, vector_bytes = end, 4 * dimensions
