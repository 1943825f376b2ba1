"""The pictures of a folder: found without ever leaving it, and read with limits.

No link is followed, neither to a folder nor to a file: one that stays inside leads to what is found anyway, one that
leads out is none of ours. A file is read through the very handle that was checked, so that it cannot be exchanged for
something else in between.
"""

import os
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from io import BufferedReader
from pathlib import Path, PurePosixPath

from groundling.errors import UserError, path_meant

HEIC = frozenset({".heic", ".heif"})
RAW = frozenset(
    {".3fr", ".arw", ".cr2", ".cr3", ".dng", ".erf", ".iiq", ".kdc", ".mrw", ".nef", ".nrw", ".orf", ".pef", ".raf"}
    | {".rw2", ".rwl", ".sr2", ".srw", ".x3f"}
)
SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"}) | HEIC | RAW
LARGEST = 256 * 2**20  # bytes of a picture file; what is larger is no photograph


class Unreadable(Exception):
    """A file that cannot be used; the message says why, without the file's name."""


@dataclass(frozen=True)
class Facts:
    """What tells whether a file has changed, without reading it."""

    size: int
    modified: int  # nanoseconds

    def changed(self) -> str:
        """When the file was last changed, "2019-07-31T18:05:00"."""
        try:
            return datetime.fromtimestamp(self.modified // 10**9).isoformat()
        except (OverflowError, ValueError, OSError):
            return ""


@dataclass
class Walk:
    """What a walk through a folder came upon.

    Attributes:
        pictures: path below the folder (with / between its parts) → its facts, in order.
        skipped: path → why it was left out.
        links: how many links were not followed.
        others: how many files of each ending are no pictures; "" for those without one.
    """

    pictures: dict[str, Facts] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    links: int = 0
    others: Counter[str] = field(default_factory=Counter)


def walk(root: Path) -> Walk:
    """All files below `root` that are named like pictures; names that begin with a dot are left alone."""
    if not root.is_dir():
        if root.is_file():
            raise UserError(f"{root}: is a file; name the folder that it is in: {root.parent}")
        raise UserError(f"{root}: no such folder of pictures{path_meant(root)}")
    found = Walk()
    folders = [PurePosixPath()]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(root / folder) as listing:
                entries = sorted(listing, key=lambda entry: entry.name, reverse=True)
        except OSError as error:
            if folder == PurePosixPath():
                raise UserError(f"{root}: cannot be read ({error.strerror})") from None
            found.skipped[str(folder)] = f"a folder that cannot be read ({error.strerror or error})"
            continue
        files = []
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_symlink():
                found.links += 1
            elif entry.is_dir(follow_symlinks=False):
                folders.append(folder / entry.name)
            elif PurePosixPath(entry.name).suffix.lower() in SUFFIXES:
                files.append(entry)
            else:
                found.others[PurePosixPath(entry.name).suffix.lower()] += 1
        for entry in reversed(files):
            _note(found, str(folder / entry.name), entry)
    return found


def named_counts(others: Mapping[str, int], most: int = 6) -> str:
    """What else is in a folder, the most frequent first.

    >>> named_counts({".mov": 12, "": 1})
    '12 .mov, 1 without an ending'
    """
    ordered = sorted(others.items(), key=lambda one: (-one[1], one[0]))
    named = [f"{count:,} {ending or 'without an ending'}" for ending, count in ordered[:most]]
    rest = sum(count for _, count in ordered[most:])
    return ", ".join([*named, f"{rest:,} others"] if rest else named)


def _note(found: Walk, path: str, entry: "os.DirEntry[str]") -> None:
    try:
        path.encode()
    except UnicodeEncodeError:
        found.skipped[path.encode("utf-8", "backslashreplace").decode()] = "its name is not UTF-8; rename it"
        return
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        found.skipped[path] = error.strerror or str(error)
        return
    if not stat.S_ISREG(status.st_mode):
        found.skipped[path] = "not a regular file"
    else:
        found.pictures[path] = Facts(status.st_size, status.st_mtime_ns)


@contextmanager
def open_file(root: Path, path: str) -> Iterator[tuple[BufferedReader, Facts]]:
    """A picture below `root`, to read, and the facts of exactly this file. Raises Unreadable."""
    if PurePosixPath(path).is_absolute() or ".." in PurePosixPath(path).parts:
        raise Unreadable("not a path below the folder")
    try:
        if (root / path).parent.resolve() != root.resolve() / PurePosixPath(path).parent:
            raise Unreadable("a folder on the way to it has become a link")
        # Not blocking: a pipe that took the file's place must not hold us up.
        handle = os.open(root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode):
                raise Unreadable("not a regular file")
            if status.st_size > LARGEST:
                raise Unreadable(f"larger than {LARGEST // 2**20} MB")
            yield file, Facts(status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise Unreadable(error.strerror or str(error)) from None


def unchanged(file: BufferedReader, facts: Facts) -> None:
    """Raises Unreadable where an open file is not what it was."""
    status = os.fstat(file.fileno())
    if (status.st_size, status.st_mtime_ns) != (facts.size, facts.modified):
        raise Unreadable("changed while it was being read")


def read(root: Path, path: str) -> tuple[bytes, Facts]:
    """The bytes of a picture below `root`, and the facts of exactly these bytes. Raises Unreadable."""
    with open_file(root, path) as (file, facts):
        data = file.read(LARGEST + 1)
        unchanged(file, facts)
        if len(data) != facts.size:
            raise Unreadable("changed while it was being read")
    if not data:
        raise Unreadable("the file is empty")
    return data, facts
