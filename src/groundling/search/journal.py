"""What a build has encoded so far: one record for each picture, appended the moment it is there.

A killed build loses the picture in hand and nothing else; a record that was cut short, or damaged since, ends what is
read, and the next build writes over it. This is the one file that is not written whole and renamed: it only grows, is
vouched for record by record, and is removed when the index is finished.

A record is: length of the facts (4 bytes), CRC-32 of what follows (4 bytes), the facts as JSON, the float32 vector.
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
from typing import Any

import numpy as np

from groundling.errors import UserError
from groundling.model.vectors import Vectors

_HEAD = struct.Struct("<II")
LONGEST_FACTS = 2**20
SYNC_EVERY = 5.0  # seconds; a kill loses nothing, a power cut at most these


class Journal:
    """Opens the journal at `path`, or begins it; `about` must be what it was begun with."""

    def __init__(self, path: Path, about: dict[str, Any], dimensions: int) -> None:
        self.path, self.dimensions = path, dimensions
        self.records: list[tuple[dict[str, Any], Vectors]] = []
        with path.open("a+b") as file:
            file.seek(0)
            records = _read(file.read(), dimensions)
            first = next(records, None)
            end = 0
            if first is not None:
                if first[0] != about:
                    raise UserError(
                        f"{path.parent}: an unfinished build with another model or of other things is there; finish "
                        f"that one, or remove {path} to begin anew"
                    )
                end = first[2]
                for facts, vector, end in records:  # noqa: B007
                    self.records.append((facts, vector))
            file.truncate(end)
        self._file = path.open("ab", buffering=0)
        self._synced, self._added = time.monotonic(), False
        if first is None:
            self._write(_record(about, b""))

    def _write(self, record: bytes) -> None:
        if self._file.write(record) != len(record):  # a full disk takes a part of it
            raise OSError(errno.ENOSPC, "no space left", str(self.path))

    def add(self, facts: dict[str, Any], vector: Vectors) -> None:
        self._added = True
        self._write(_record(facts, np.ascontiguousarray(vector, dtype="<f4").tobytes()))
        if time.monotonic() - self._synced > SYNC_EVERY:
            os.fsync(self._file.fileno())
            self._synced = time.monotonic()

    def __enter__(self) -> "Journal":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        if not self.records and not self._added:  # nothing that a next build could go on from
            self.path.unlink(missing_ok=True)

    def remove(self) -> None:
        self._file.close()
        self.path.unlink(missing_ok=True)


def _record(facts: dict[str, Any], vector: bytes) -> bytes:
    words = json.dumps(facts, ensure_ascii=False).encode()
    body = words + vector
    return _HEAD.pack(len(words), zlib.crc32(body)) + body


def _read(data: bytes, dimensions: int) -> Iterator[tuple[dict[str, Any], Vectors, int]]:
    """Facts, vector and where the record ends, up to the first record that is not whole."""
    place, vector_bytes = 0, 0
    while place + _HEAD.size <= len(data):
        length, check = _HEAD.unpack_from(data, place)
        end = place + _HEAD.size + length + vector_bytes
        if length > LONGEST_FACTS or end > len(data):
            return
        body = data[place + _HEAD.size : end]
        if zlib.crc32(body) != check:
            return
        vector = np.frombuffer(body, dtype="<f4", offset=length) if vector_bytes else np.zeros(0, dtype=np.float32)
        yield json.loads(body[:length]), vector, end
        place, vector_bytes = end, 4 * dimensions
