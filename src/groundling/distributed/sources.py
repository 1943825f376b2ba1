"""Pictures in tar shards (WebDataset) and at addresses that fsspec knows: s3://, gs://, az://, file://, memory://.

A shard is looked through once for its members; then members that lie together are read together, so that an object
store is asked once for many pictures. Names of members are names and nothing else: no file is ever made of one.
"""

import itertools
import re
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from groundling.errors import UserError

SUFFIXES = frozenset({".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff"})
LARGEST = 256 * 2**20  # bytes of a picture file; what is larger is no photograph
WHOLE = -1  # the offset of a picture that is a file of its own
UNKNOWN = -1  # when a picture was changed
ANY = -1  # bytes of a picture whose file was not looked at yet
TOGETHER = 64 * 2**20  # bytes of members that are read in one go
GAP = 64 * 2**10  # bytes between two members that are rather read than skipped
BRACES = re.compile(r"\{(\d+)\.\.(\d+)\}")


class Item(NamedTuple):
    """One picture.

    Attributes:
        name: what it is called in an index or a list.
        place: its file, or the shard that it is in; a path or an address.
        offset: where it begins in its shard.
        size: bytes; ANY where that is not known before.
        modified: when it, or its shard, was changed, in nanoseconds.
    """

    name: str
    place: str
    offset: int = WHOLE
    size: int = ANY
    modified: int = UNKNOWN


def is_source(name: str) -> bool:
    """Whether a name is that of shards, or an address, rather than a folder's.

    >>> [is_source(name) for name in ("photos", "s3://bucket/photos", "shards/{000..009}.tar")]
    [False, True, True]
    """
    return "://" in name or name.endswith(".tar")


def shards(name: str) -> list[str]:
    """The shards that a pattern means, `{000..999}` and `*` filled in; none where it is not one of shards."""
    if not name.endswith(".tar"):
        return []
    every = list(_numbered(name))
    if any(set("*?[") & set(one) for one in every):
        every = [found for one in every for found in _matching(one)]
    if not every:
        raise UserError(f"{name}: no such shards")
    return every


def _numbered(name: str) -> Iterator[str]:
    """`a{08..10}` → a08, a09, a10."""
    parts = BRACES.split(name)  # text, first, last, text, …
    ranges = []
    for first, last in zip(parts[1::3], parts[2::3], strict=True):
        if int(last) < int(first) or int(last) - int(first) > 10**6:
            raise UserError(f"{name}: {{{first}..{last}}} is not a range of shards; write {{000..999}}")
        ranges.append([str(number).zfill(len(first)) for number in range(int(first), int(last) + 1)])
    for chosen in itertools.product(*ranges):
        yield "".join(itertools.chain.from_iterable(itertools.zip_longest(parts[::3], chosen, fillvalue="")))


def _matching(pattern: str) -> list[str]:
    system, path = file_system(pattern)
    try:
        return sorted(_address(pattern, str(found)) for found in system.glob(path))
    except Exception as error:  # object stores have each their own, as where there are no credentials
        raise UserError(f"{pattern}: cannot be read ({reason(error)})") from None


def reason(error: Exception) -> str:
    """What a file system or an object store says, in one line."""
    return getattr(error, "strerror", None) or (str(error).strip().splitlines() or [type(error).__name__])[0]


def files_below(address: str) -> list[Item]:
    """All files below an address that are named like pictures, in order; names that begin with a dot are left alone."""
    system, path = file_system(address)
    try:
        found = system.find(path, detail=True)
    except Exception as error:  # object stores have each their own, as where there are no credentials
        raise UserError(f"{address}: cannot be read ({reason(error)})") from None
    items = []
    for place, facts in sorted(found.items()):
        name = str(PurePosixPath(place).relative_to(path)) if place != path else PurePosixPath(place).name
        if _is_picture(name) and facts.get("type", "file") == "file" and not facts.get("islink"):
            items.append(Item(name, _address(address, place), WHOLE, int(facts.get("size") or 0), changed(facts)))
    if not items:
        raise UserError(f"{address}: no pictures in it")
    return items


def members(shard: str) -> list[Item]:
    """The pictures of a tar file. A shard that cannot be read is an error that names it."""
    system, path = file_system(shard)
    label = PurePosixPath(path).name
    items = []
    try:
        when = changed(system.info(path))
        with system.open(path, "rb") as file, tarfile.open(fileobj=file, mode="r:") as tar:
            for member in tar:
                if member.isreg() and not member.issparse() and _is_picture(member.name):
                    items.append(Item(f"{label}/{member.name}", shard, member.offset_data, member.size, when))
                tar.members = []  # type: ignore[attr-defined]  # else all headers stay in memory
    except Exception as error:  # of the tar file, the file system, or an object store, which have each their own
        raise UserError(f"{shard}: not a readable tar file ({reason(error)}); mend or leave it out") from None
    return items


def read(items: Sequence[Item]) -> Iterator[tuple[Item, bytes | str]]:
    """Each picture with its bytes, or why it cannot be read; members of a shard that lie together in one go.

    What is asked for is named: s3fs has the version of an object where others have the first byte.
    """
    for together in _runs(items):
        first, last = together[0], together[-1]
        if first.size > LARGEST:
            yield first, f"larger than {LARGEST // 2**20} MB"
            continue
        try:
            system, path = file_system(first.place)
            if first.offset == WHOLE:
                yield first, _checked(system.cat_file(path, start=0, end=LARGEST + 1), first.size)
                continue
            data = system.cat_file(path, start=first.offset, end=last.offset + last.size)
        except Exception as error:  # object stores have each their own
            why = reason(error)
            yield from ((item, why) for item in together)
            continue
        for item in together:
            start = item.offset - first.offset
            yield item, _checked(data[start : start + item.size], item.size)


def _checked(data: bytes, size: int) -> bytes | str:
    if len(data) > LARGEST:
        return f"larger than {LARGEST // 2**20} MB"
    if not data:
        return "the file is empty"
    return data if size in (ANY, len(data)) else "changed while it was being read"


def _runs(items: Sequence[Item]) -> Iterator[list[Item]]:
    """Items that are read in one go."""
    run: list[Item] = []
    for item in items:
        if run and not _follows(run, item):
            yield run
            run = []
        run.append(item)
    if run:
        yield run


def _follows(run: list[Item], item: Item) -> bool:
    before = run[-1]
    end = before.offset + before.size
    near = item.place == before.place and before.offset != WHOLE and 0 <= item.offset - end <= GAP
    return near and item.offset + item.size - run[0].offset <= TOGETHER and item.size <= LARGEST


def file_system(address: str) -> tuple[Any, str]:
    """What reads an address, and the path that it calls it by; a plain path is one of this machine."""
    try:
        from fsspec.core import url_to_fs
        from fsspec.implementations.local import LocalFileSystem
    except ImportError:
        raise UserError("shards and addresses need fsspec: pip install 'groundling[ray]', or fsspec itself") from None
    if "://" not in address:  # names of files may hold what would mean something in an address
        return LocalFileSystem(), str(Path(address).absolute())
    try:
        system, path = url_to_fs(address)
    except (ImportError, ValueError) as error:
        raise UserError(f"{address}: cannot be read here ({str(error).rstrip('.')})") from None
    return system, str(path)


def changed(facts: dict[str, Any]) -> int:
    """When a file was changed, as its file system tells; UNKNOWN where it does not."""
    for key in ("mtime", "LastModified", "last_modified", "updated", "created"):
        value = facts.get(key)
        if isinstance(value, datetime):
            return int(value.timestamp() * 10**9)
        if isinstance(value, int | float):
            return int(value * 10**9)
    return UNKNOWN


def portions(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    iterator = iter(items)
    while portion := list(itertools.islice(iterator, size)):
        yield portion


def _address(given: str, place: str) -> str:
    """What a file system found, as it can be asked for again."""
    protocol, separator, _ = given.partition("://")
    return f"{protocol}://{place.removeprefix(f'{protocol}://')}" if separator else place


def _is_picture(name: str) -> bool:
    path = PurePosixPath(name)
    hidden = any(part.startswith(".") for part in path.parts)  # "..", too
    return path.suffix.lower() in SUFFIXES and not hidden and name.isprintable()
