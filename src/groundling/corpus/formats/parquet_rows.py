"""Rows of a Parquet file, as a stream; a file that cannot be read is a sentence that names it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from groundling.errors import UserError
from groundling.progress import bar

AT_ONCE = 4096


@contextmanager
def parquet_file(path: Path) -> Iterator[Any]:
    """The file, opened; what is read of it inside of the context may fail in a sentence, too."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            yield file
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except UnicodeDecodeError:
        raise UserError(f"{path.name}: a column holds text that is not UTF-8") from None
    except (pa.ArrowException, OSError) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise UserError(f"{path.name}: not a readable Parquet file ({reason})") from None


def numbered_rows(path: Path, file: Any, columns: list[str] | None = None) -> Iterator[tuple[int, dict[str, object]]]:
    """The number of each row, from 1, and its fields: those of these columns, or all."""
    number = 0
    with bar(f"Reading {path.name}", file.metadata.num_rows) as progress:
        for batch in file.iter_batches(batch_size=AT_ONCE, columns=columns):
            for fields in batch.to_pylist():
                number += 1
                yield number, fields
            progress.advance(len(batch))
