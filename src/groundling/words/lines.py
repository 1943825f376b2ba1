"""Lines of a text file that came from somewhere: plain or gzipped, numbered, of limited length."""

import codecs
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from groundling.errors import UserError

LONGEST_LINE = 2**20  # bytes; a word and ten thousand numbers fit


@contextmanager
def open_plain(path: Path) -> Iterator[BinaryIO]:
    """The bytes of a file, unpacked where its name ends in .gz; what cannot be read is the user's to know."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield cast(BinaryIO, file)
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except IsADirectoryError:
        raise UserError(f"{path}: is a folder; name a file") from None
    except PermissionError:
        raise UserError(f"{path}: may not be read") from None
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise UserError(f"{path}: damaged, or not a gzip file ({str(error).rstrip('.').lower()})") from None


def numbered_lines(file: BinaryIO, path: Path) -> Iterator[tuple[int, bytes]]:
    """Lines from 1 on, without their ends; a line too long for any file of words stops the reading."""
    number = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            raise UserError(f"{path}:{number}: a line of more than {LONGEST_LINE:,} bytes; this is no file of words")
        if number == 1:
            line = line.removeprefix(codecs.BOM_UTF8)
        yield number, line.rstrip(b"\r\n")
