"""Tables of captions of one's own (see `caption_table`), read row by row when they are too large for memory."""

from collections.abc import Iterator
from pathlib import Path

from groundling.corpus.formats.rows import kind_of, read_rows
from groundling.corpus.formats.samples import Sample, SampleFormat


def read(path: Path, language: str) -> Iterator[Sample]:
    for row in read_rows(path):
        fields = row.fields
        if language and not fields.get("language"):
            fields = {**fields, "language": language}
        yield Sample(f"{path.name}:{row.line}", (fields,), problem=row.problem)


FORMAT = SampleFormat("tables of captions", lambda path: path.is_file() and kind_of(path) is not None, read)
