"""Sentence pairs in Parquet: a column for each language, or `known`, `new` and `language`, or `translation`."""

from collections.abc import Iterator
from pathlib import Path

from groundling.corpus.pairs.readers.jsonl import row_of
from groundling.corpus.pairs.row import Row, Wanted
from groundling.errors import UserError
from groundling.progress import bar

AT_ONCE = 4096


def read(path: Path, wanted: Wanted) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    number = 0
    try:
        with pq.ParquetFile(path) as file, bar(f"Reading {path.name}", file.metadata.num_rows) as progress:
            for batch in file.iter_batches(batch_size=AT_ONCE):
                for fields in batch.to_pylist():
                    number += 1
                    yield row_of(number, fields)
                progress.advance(len(batch))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except UnicodeDecodeError:
        raise UserError(f"{path.name}: a column holds text that is not UTF-8") from None
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{path.name}: not a readable Parquet file ({str(error).splitlines()[0]})") from None
