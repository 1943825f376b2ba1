"""Records of CSV and TSV files, quoted as spreadsheets do, each with its line for whoever has to name it."""

import csv
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from groundling.corpus.formats.text_lines import numbered_lines


class Record(NamedTuple):
    """The fields of a record and the line that it begins on, or why it cannot be read and the line it was read to."""

    line: int
    fields: list[str]
    error: str = ""
    last: int = 0

    @property
    def problem(self) -> str:
        """A sentence where it cannot be read, else nothing."""
        until = f", read up to line {self.last}" if self.last > self.line else ""
        return f"broken row ({self.error}{until}); is a quote left open?" if self.error else ""


def records(path: Path, delimiter: str) -> Iterator[Record]:
    """All records that hold anything, the header among them."""
    reader = csv.reader((line for _, line in numbered_lines(path)), delimiter=delimiter, strict=True)
    while True:
        first = reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Record(first, [], str(error), reader.line_num)
            continue
        if fields:
            yield Record(first, fields)


def delimiter_of(path: Path) -> str:
    """What parts the fields of a CSV file: its header says whether commas or (as in much of Europe) semicolons do."""
    with closing(numbered_lines(path)) as lines:
        header = next((line for _, line in lines if line.strip()), "")
    return ";" if ";" in header and "," not in header else ","
