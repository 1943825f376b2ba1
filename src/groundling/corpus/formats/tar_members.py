"""The files in a tar archive, one after the other, as bytes in memory: no path from inside it is ever written to.

Links, devices and folders are passed over. How large a member may be is for the caller to say before it is read.
"""

import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from groundling.errors import UserError

_BLOCK = tarfile.BLOCKSIZE
_LONGEST_NAME = 2**16  # bytes of a header that holds a long name
_FILES = (tarfile.REGTYPE, tarfile.AREGTYPE)


class Member(NamedTuple):
    """A file in an archive. `data` is None where it is larger than what was asked for."""

    name: str
    size: int
    data: bytes | None


def members(path: Path, most: Callable[[str], int]) -> Iterator[Member]:
    """The files of an archive that is not compressed; `most` says how many bytes of a member of this name are read.

    A name is only a name here: it may be anything, and leads nowhere.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            yield from _members(path, file, size, most)
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from None


def _members(path: Path, file: IO[bytes], size: int, most: Callable[[str], int]) -> Iterator[Member]:
    longer_name = ""
    while True:
        header = file.read(_BLOCK)
        if len(header) < _BLOCK or not header.strip(b"\0"):
            if header and header.strip(b"\0"):
                raise UserError(f"{path}: the archive ends in the middle of a member; fetch it again")
            return
        try:
            info = tarfile.TarInfo.frombuf(header, "utf-8", "replace")
        except tarfile.HeaderError as error:
            raise UserError(f"{path}: not a tar archive, or a damaged one ({error}); fetch it again") from None
        end = file.tell() + -(-info.size // _BLOCK) * _BLOCK
        if info.size < 0 or file.tell() + info.size > size:
            raise UserError(f"{path}: the archive ends in the middle of a member; fetch it again")
        if info.type in (tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE) and info.size <= _LONGEST_NAME:
            longer_name = _long_name(info.type, file.read(info.size))
        elif info.type in _FILES:
            name, longer_name = longer_name or info.name, ""
            wanted = most(name)
            if wanted:
                yield Member(name, info.size, file.read(info.size) if info.size <= wanted else None)
        else:
            longer_name = ""
        file.seek(end)


def _long_name(kind: bytes, data: bytes) -> str:
    """The name in a GNU or POSIX header; "" where that says other things."""
    if kind == tarfile.GNUTYPE_LONGNAME:
        return data.rstrip(b"\0").decode("utf-8", "replace")
    for line in data.split(b"\n"):
        _, _, setting = line.partition(b" ")
        if setting.startswith(b"path="):
            return setting.removeprefix(b"path=").decode("utf-8", "replace")
    return ""
