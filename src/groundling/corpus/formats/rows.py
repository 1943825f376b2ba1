"""Rows of the own-data table, whatever file they are in: JSON lines, CSV, TSV or Parquet, read as a stream."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from groundling.corpus.formats.parquet_rows import numbered_rows, parquet_file
from groundling.corpus.formats.spreadsheet import delimiter_of, records
from groundling.corpus.formats.text_lines import numbered_lines
from groundling.errors import UserError, did_you_mean

NEEDED = ("picture", "language", "text")
COLUMNS = (*NEEDED, "split", "origin", "label", "statement", "decision", "corrected")
KINDS = ("jsonl", "csv", "tsv", "parquet")


class Row(NamedTuple):
    """One row: its line (in Parquet its number, from 1) and its fields, or what makes it unreadable."""

    line: int
    fields: Mapping[str, object]
    problem: str = ""


def kind_of(path: Path) -> str | None:
    """ "csv" for captions.csv and captions.csv.gz; None for a file that is not a table."""
    name = path.name.lower()
    kind = name.removesuffix(".gz").rpartition(".")[2]
    return None if kind not in KINDS or (kind == "parquet" and name.endswith(".gz")) else kind


def read_rows(path: Path, needed: tuple[str, ...] = NEEDED, everything: bool = False) -> Iterator[Row]:
    """The rows of a table, whose header must name the `needed` columns; with `everything`, columns of any name."""
    kind = kind_of(path)
    if kind == "jsonl":
        return _json_rows(path)
    if kind == "parquet":
        return _parquet_rows(path, needed, everything)
    if kind in ("csv", "tsv"):
        return _separated_rows(path, needed, tabs=kind == "tsv")
    raise UserError(f"{path.name}: not a table; write .jsonl, .csv, .tsv (each also .gz), .parquet, or COCO's .json")


def _json_rows(path: Path) -> Iterator[Row]:
    for number, line in numbered_lines(path):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            yield Row(number, {}, f"broken JSON ({error.msg} at column {error.colno})")
        except (ValueError, RecursionError) as error:  # a number of thousands of digits, a million brackets
            yield Row(number, {}, f"broken JSON ({error})")
        else:
            if isinstance(value, dict):
                yield Row(number, {_plain(key): item for key, item in value.items()})
            else:
                yield Row(number, {}, 'not a JSON object such as {"picture": …, "language": …, "text": …}')


def _separated_rows(path: Path, needed: tuple[str, ...], tabs: bool) -> Iterator[Row]:
    delimiter = "\t" if tabs else delimiter_of(path)
    header: list[str] | None = None
    for record in records(path, delimiter):
        line, values = record.line, record.fields
        if record.error:
            if header is None:
                raise UserError(f"{path.name}:{line}: the header cannot be read ({record.error})")
            yield Row(line, {}, record.problem)
        elif header is None:
            header = _checked_header(path, values, needed, f":{line}")
        elif len(values) == len(header):
            yield Row(line, dict(zip(header, values, strict=True)))
        else:
            hint = f'; quote a text that holds "{delimiter}"' if len(values) > len(header) and not tabs else ""
            yield Row(line, {}, f"{len(values)} fields where the header has {len(header)}{hint}")
    if header is None:
        raise UserError(f"{path.name}: the file is empty; its first line must name the columns {', '.join(needed)}")


def _parquet_rows(path: Path, needed: tuple[str, ...], everything: bool) -> Iterator[Row]:
    with parquet_file(path) as file:
        written = file.schema_arrow.names
        header = _checked_header(path, written, needed, "")
        wanted = [column for column, name in zip(written, header, strict=True) if everything or name in COLUMNS]
        plain = {column: _plain(column) for column in wanted}
        for number, fields in numbered_rows(path, file, wanted):
            yield Row(number, {plain[key]: value for key, value in fields.items()})


def _checked_header(path: Path, columns: list[str], needed: tuple[str, ...], place: str) -> list[str]:
    """Column names in our form; a needed one that is missing or any of ours given twice stops the reading."""
    header = [_plain(column) for column in columns]
    for name in needed:
        if name not in header:
            raise UserError(f'{path.name}{place}: no column "{name}"{did_you_mean(name, header)}')
    for name in COLUMNS:
        if header.count(name) > 1:
            raise UserError(f'{path.name}{place}: two columns are named "{name}"; rename or remove one')
    return header


def _plain(column: str) -> str:
    return column.strip().casefold()
