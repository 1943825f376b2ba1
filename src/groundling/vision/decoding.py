"""Picture files, read and decoded in processes a little ahead of whoever uses them; each content once."""

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import TypeVar

from groundling.decoding.cores import cores
from groundling.decoding.structure import PictureError
from groundling.decoding.workers import PORTION, shared
from groundling.errors import UserError
from groundling.progress import bar
from groundling.vision.preprocessing import Pixels
from groundling.vision.shards import content_key

Item = TypeVar("Item")
Result = TypeVar("Result")

#: Rows of pictures that hold the same bytes, by the key of these bytes; and for files that cannot be read, why, by row.
RowsByContent = dict[bytes, list[int]]
Failed = dict[int, str]


def rows_by_content(paths: list[Path], pool: ThreadPoolExecutor) -> tuple[RowsByContent, Failed]:
    """Which rows hold which content. Renamed, moved and duplicated files are found to be the same."""

    def key_of(path: Path) -> bytes | str:
        try:
            return content_key(path.read_bytes())
        except OSError as error:
            return error.strerror or str(error)

    def keys_of(some: list[Path]) -> list[bytes | str]:
        return [key_of(path) for path in some]

    rows: RowsByContent = {}
    failed: Failed = {}
    row = 0
    with bar("Looking up pictures", total=len(paths)) as progress:
        for keys in ahead(pool, keys_of, portions(paths, PORTION), limit=2 * cores()):
            for key in keys:
                if isinstance(key, str):
                    failed[row] = key
                else:
                    rows.setdefault(key, []).append(row)
                row += 1
            progress.advance(len(keys))
    return rows, failed


def decoded(
    paths: list[Path],
    todo: RowsByContent,
    decode: Callable[[bytes], Pixels],
    failed: Failed,
    pool: ThreadPoolExecutor,
    limit: int,
) -> Generator[tuple[bytes, Pixels], None, None]:
    """Each picture to be decoded, once; those that cannot be go to `failed` instead. At most `limit` wait.

    `decode` is called in processes of their own (see `decoding.workers`). Whoever leaves early closes the iterator.
    """
    if not todo:
        return
    processes = shared()
    # Each process has a portion in hand, and another one waits for it.
    size = max(1, min(PORTION, limit // (2 * processes.count), -(-len(todo) // processes.count)))
    left = Event()

    def read(keys: list[bytes]) -> list[Pixels | PictureError]:
        found: list[Pixels | PictureError] = []
        for one in processes.files([(paths[todo[key][0]], key) for key in keys], decode):
            found.append(one)
            if left.is_set():
                break
        return found

    some = list(portions(list(todo), size))
    try:
        for keys, found in zip(some, ahead(pool, read, some, max(1, limit // size)), strict=True):
            for key, pixels in zip(keys, found, strict=True):
                if isinstance(pixels, PictureError):
                    failed |= dict.fromkeys(todo[key], str(pixels))
                else:
                    yield key, pixels
    finally:
        left.set()  # whoever leaves early does not wait for pictures that nobody will look at


def portions(items: list[Item], size: int) -> Iterator[list[Item]]:
    """
    >>> list(portions([1, 2, 3], 2))
    [[1, 2], [3]]
    """
    return (items[start : start + size] for start in range(0, len(items), size))


def ahead(
    pool: ThreadPoolExecutor, function: Callable[[Item], Result], items: Iterable[Item], limit: int
) -> Iterator[Result]:
    """`map` in threads, in order, with at most `limit` results waiting, so that memory stays bounded."""
    waiting: deque[Future[Result]] = deque()
    for item in items:
        waiting.append(pool.submit(function, item))
        if len(waiting) >= limit:
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()


@contextmanager
def cancelled_on_error(pool: ThreadPoolExecutor) -> Iterator[None]:
    """Leave at once on an error or Ctrl-C rather than finish what is queued."""
    try:
        yield
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise


def refuse(paths: list[Path], failed: Failed) -> None:
    """An error that names the first picture that cannot be used, and says how many more there are."""
    if failed:
        row = min(failed)
        more = f" (and {len(failed) - 1} more pictures like it)" if len(failed) > 1 else ""
        raise UserError(f"{paths[row]}: {failed[row]}{more}; mend or remove it")


@contextmanager
def writable(place: Path, what: str) -> Iterator[None]:
    """An error that says what to do where `what` cannot be kept in the cache."""
    try:
        yield
    except (OSError, UserError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UserError(
            f"{place}: cannot keep {what} here ({reason}); make room, or set GROUNDLING_CACHE to another folder"
        ) from None
