"""The pictures of the index, by their row: as they are, or as a small copy.

No path comes from a request. A file is given out only while it is what was indexed: inside the folder, reached by no
link, with the same content.
"""

import hashlib
import io
import os
import stat
from dataclasses import dataclass
from pathlib import PurePosixPath
from threading import Lock

from cachetools import LRUCache
from PIL import Image, ImageOps

from groundling.errors import UserError
from groundling.search import Index, walk
from groundling.search import pictures as formats
from groundling.serve.problems import Problem

# What a browser is told a file is. Whatever is not here is given out as bytes to save, never to show.
MEDIA_TYPES = {
    "JPEG": "image/jpeg",
    "PNG": "image/png",
    "WEBP": "image/webp",
    "GIF": "image/gif",
    "HEIF": "image/heic",
}
SMALL = "image/webp"
QUALITY, EFFORT = 80, 2  # of small copies: made while somebody waits
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
        name = self.index.entries.value("name", row)
        try:
            data, facts = walk.read(self.root, name)
        except walk.Unreadable as error:
            self._forget(row)
            raise _gone(name, str(error)) from None
        if hashlib.sha256(data).hexdigest() != self.index.entries.value("digest", row):
            self._forget(row)
            raise _gone(name, "it has changed since it was indexed")
        with self._lock:
            self._same[row] = facts
        return data

    def _forget(self, row: int) -> None:
        with self._lock:
            self._same.pop(row, None)

    def whole(self, row: int) -> Shown:
        data = self.read(row)
        with formats.check(data, "") as image:
            kind = MEDIA_TYPES.get(image.format or "", "application/octet-stream")
        return Shown(data, kind, self.tag(row, None))

    def small(self, row: int, size: int) -> Shown:
        """A copy whose longer side has at most `size` pixels, upright, without what a camera noted."""
        with self._lock:
            kept = self._copies.get((row, size))
        if kept is not None and kept.facts == self._facts(row):
            return kept.shown
        data = self.read(row)
        shown = Shown(_shrunk(data, size), SMALL, self.tag(row, size))
        with self._lock:
            facts = self._same.get(row)
            if facts is not None and len(shown.data) <= self._copies.maxsize:
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


def _shrunk(data: bytes, size: int) -> bytes:
    try:
        with formats.check(data, "") as opened:
            opened.draft("RGB", (2 * size, 2 * size))  # a large photograph is decoded small, and fast
            image = ImageOps.exif_transpose(opened)
            clear = "A" in image.getbands() or "transparency" in image.info
            image = image.convert("RGBA" if clear else "RGB")
            image.thumbnail((size, size), Image.Resampling.BICUBIC)
        buffer = io.BytesIO()
        image.save(buffer, "WEBP", quality=QUALITY, method=EFFORT, exif=b"")
    except Exception as error:  # decoders raise whatever a damaged file leads them into
        raise Problem(410, f"this picture cannot be decoded ({error or type(error).__name__})") from None
    return buffer.getvalue()
