"""Sentence pairs in Parquet: a column for each language, or `known`, `new` and `language`, or `translation`."""

from collections.abc import Iterator
from pathlib import Path

from groundling.corpus.formats.parquet_rows import numbered_rows, parquet_file
from groundling.corpus.pairs.readers.jsonl import row_of
from groundling.corpus.pairs.row import Row, Wanted


def read(path: Path, wanted: Wanted) -> Iterator[Row]:
    with parquet_file(path) as file:
        for number, fields in numbered_rows(path, file):
            yield row_of(number, fields)
