"""The pictures of the index, by their row: as they are, or as a small copy.

No path comes from a request. A file is given out only while it is what was indexed: inside the folder, reached by no
link, with the same content.
"""

import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedReader
from pathlib import PurePosixPath
from threading import Lock

from cachetools import LRUCache

from groundling.decoding.opening import HEIC_BEGINS
from groundling.errors import UserError
from groundling.search import Index, walk
from groundling.serve.problems import Problem

BEGINS = {b"\xff\xd8\xff": "image/jpeg", b"\x89PNG\r\n\x1a\n": "image/png", b"GIF8": "image/gif"}
MEDIA_TYPES = ("image/jpeg", "image/png", "image/webp", "image/gif", "image/heic")
UNKNOWN = "application/octet-stream"
SMALL = "image/webp"
REMEMBERED = 100_000  # files known to be unchanged


@dataclass(frozen=True)
class Shown:
    """Attributes: `tag` tells a browser whether it has this already."""

    data: bytes
    media_type: str
    tag: str


@dataclass(frozen=True)
class _Copy:
    facts: walk.Facts
    shown: Shown


class Pictures:
    """All methods read files, and are called in threads."""

    def __init__(self, index: Index, memory: int) -> None:
        if index.root is None and index.manifest.kind == "pictures":
            raise UserError(f"{index.folder}: its pictures are in shards or at an address, and have no files to show")
        if index.root is None:
            raise UserError(f"{index.folder}: an index of captions; serve one of pictures, and this with --captions")
        self.index, self.root = index, index.root
        self._copies: LRUCache[tuple[int, int], _Copy] = LRUCache(memory, lambda copy: len(copy.shown.data))
        self._same: LRUCache[int, walk.Facts] = LRUCache(REMEMBERED)  # rows whose content was compared, and when
        self._lock = Lock()  # held while either memory is asked or told

    def tag(self, row: int, size: int | None) -> str:
        """What stands for a picture in a browser's memory."""
        digest = self.index.entries.value("digest", row)[:32]
        return f'"{digest}"' if size is None else f'"{digest}-{size}"'

    def unchanged(self, row: int) -> bool:
        """Whether the content was compared before, and the file has not been touched since."""
        with self._lock:
            compared = self._same.get(row)
        return compared is not None and compared == self._facts(row)

    def read(self, row: int) -> bytes:
        """The file of a row, if it is still what was indexed."""
        with self.open_file(row) as (file, _):
            return file.read()

    @contextmanager
    def open_file(self, row: int) -> Iterator[tuple[BufferedReader, int]]:
        """The same, to be read bit by bit, and its size; compared with what was indexed where it has been touched."""
        name = self.index.entries.value("name", row)
        try:
            with walk.open_file(self.root, name) as (file, facts):
                with self._lock:
                    compared = self._same.get(row)
                if compared != facts:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
                    walk.unchanged(file, facts)
                    if digest != self.index.entries.value("digest", row):
                        raise walk.Unreadable("it has changed since it was indexed")
                    file.seek(0)
                    with self._lock:
                        self._same[row] = facts
                yield file, facts.size
        except walk.Unreadable as error:
            with self._lock:
                self._same.pop(row, None)
            raise _gone(name, str(error)) from None

    def kept(self, row: int, size: int) -> Shown | None:
        """A small copy that was made before, of the file as it is now."""
        with self._lock:
            copy = self._copies.get((row, size))
        return copy.shown if copy is not None and copy.facts == self._facts(row) else None

    def keep(self, row: int, size: int, data: bytes) -> Shown:
        """A small copy of the file that was read last."""
        shown = Shown(data, SMALL, self.tag(row, size))
        with self._lock:
            facts = self._same.get(row)
            if facts is not None and len(data) <= self._copies.maxsize:
                self._copies[row, size] = _Copy(facts, shown)
        return shown

    def _facts(self, row: int) -> walk.Facts | None:
        """Of the file as it is now, without reading it; None where it is no file of the folder."""
        name = PurePosixPath(self.index.entries.value("name", row))
        try:
            if (self.root / name).parent.resolve() != self.root / name.parent:
                return None
            status = os.lstat(self.root / name)
        except OSError:
            return None
        return walk.Facts(status.st_size, status.st_mtime_ns) if stat.S_ISREG(status.st_mode) else None


def _gone(name: str, why: str) -> Problem:
    return Problem(410, f"{name}: {why}; `groundling index --update` brings the index up to date")


def media_type(head: bytes) -> str:
    """What a browser is told a file is, by its first bytes; whatever is not a picture is to be saved, never shown."""
    if head[:4] == b"RIFF":
        return "image/webp" if head[8:12] == b"WEBP" else UNKNOWN
    if head[4:12] in HEIC_BEGINS:
        return "image/heic"
    return next((kind for begin, kind in BEGINS.items() if head.startswith(begin)), UNKNOWN)
