"""Text files line by line, plain or gzipped, with the line number at hand for whoever has to name it."""

import gzip
import json
import zlib
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from groundling.errors import UserError
from groundling.progress import bar

LONGEST_LINE = 16 * 2**20  # bytes; more is not a line of captions but another kind of file
_BOM = b"\xef\xbb\xbf"
_STEP = 256  # KiB between two steps of the progress bar


def numbered_lines(path: Path) -> Generator[tuple[int, str], None, None]:
    """Line numbers from 1, and lines with their line ends, decoded as UTF-8 (a byte order mark is dropped).

    Lines end at a line feed only: captions may hold the other characters that Python takes for line ends.
    """
    with _opened(path) as (file, progress):
        number = 0
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            yield number, _decoded(path, number, line)
            progress()


def whole_text(path: Path) -> str:
    """All of a file whose lines mean nothing, decoded as UTF-8 (a byte order mark is dropped)."""
    parts = []
    with _opened(path) as (file, progress):
        while part := file.read(_STEP * 1024):
            parts.append(part)
            progress()
    content = b"".join(parts).removeprefix(_BOM)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UserError(f"{path.name}:{line}: not UTF-8 text; save the file as UTF-8, or fetch it again") from None


def whole_json(path: Path) -> Any:
    """What a JSON file holds."""
    try:
        return json.loads(whole_text(path))
    except (ValueError, RecursionError) as error:
        raise UserError(f"{path}: not valid JSON ({error}); fetch the file again") from None


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], Callable[[], None]]]:
    """The bytes of a file, unpacked where it is gzipped, and what to call now and then to move the progress bar."""
    try:
        with path.open("rb") as raw, bar(f"Reading {path.name} (KiB)", path.stat().st_size // 1024) as progress:
            shown = 0

            def advance() -> None:
                nonlocal shown
                if (done := raw.tell() // 1024) >= shown + _STEP:
                    progress.advance(done - shown)
                    shown = done

            yield cast(IO[bytes], gzip.GzipFile(fileobj=raw)) if path.name.lower().endswith(".gz") else raw, advance
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UserError(f"{path}: a damaged or incomplete gzip file ({error}); fetch it again") from None
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror or error})") from None


def stripped_lines(path: Path) -> list[str]:
    """All lines without their line ends, for files that fit in memory."""
    return [line.rstrip("\r\n") for _, line in numbered_lines(path)]


def plain_or_gzipped(path: Path) -> Path:
    """`path`, or `path` + ".gz" where only that is there; an error that names both where neither is."""
    packed = path.with_name(path.name + ".gz")
    if path.is_file():
        return path
    if packed.is_file():
        return packed
    raise UserError(f"{path}: no such file (nor {packed.name})")


def first_file(folders: Iterable[Path], name: str) -> Path | None:
    """The file `name`, plain or gzipped, in the first of these folders that has it; None where none has."""
    places = (folder / file for folder in folders for file in (name, f"{name}.gz"))
    return next((place for place in places if place.is_file()), None)


def _decoded(path: Path, number: int, line: bytes) -> str:
    if len(line) > LONGEST_LINE:
        raise UserError(f"{path.name}:{number}: a line of more than {LONGEST_LINE >> 20} MiB; is this a text file?")
    if number == 1:
        line = line.removeprefix(_BOM)
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        raise UserError(f"{path.name}:{number}: not UTF-8 text; save the file as UTF-8") from None
