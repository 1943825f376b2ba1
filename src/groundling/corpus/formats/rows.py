"""Rows of the own-data table, whatever file they are in: JSON lines, CSV, TSV or Parquet, read as a stream."""

import csv
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from groundling.corpus.formats.text_lines import numbered_lines
from groundling.errors import UserError, did_you_mean
from groundling.progress import bar

NEEDED = ("picture", "language", "text")
COLUMNS = (*NEEDED, "split", "origin", "label", "statement", "decision", "corrected")
KINDS = ("jsonl", "csv", "tsv", "parquet")


class Row(NamedTuple):
    """One row: its line (in Parquet its number, from 1) and its fields, or what makes it unreadable."""

    line: int
    fields: dict[str, Any]
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
    """Quoted as spreadsheets do; in CSV the header says whether commas or (as in much of Europe) semicolons part it."""
    delimiter = "\t" if tabs else _delimiter(path)
    reader = csv.reader((line for _, line in numbered_lines(path)), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    while True:
        first = reader.line_num + 1
        try:
            values = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            if header is None:
                raise UserError(f"{path.name}:{first}: the header cannot be read ({error})") from None
            until = f", read up to line {reader.line_num}" if reader.line_num > first else ""
            yield Row(first, {}, f"broken row ({error}{until}); is a quote left open?")
            continue
        if not values:
            continue
        if header is None:
            header = _checked_header(path, values, needed, f":{first}")
        elif len(values) == len(header):
            yield Row(first, dict(zip(header, values, strict=True)))
        else:
            hint = f'; quote a text that holds "{delimiter}"' if len(values) > len(header) and not tabs else ""
            yield Row(first, {}, f"{len(values)} fields where the header has {len(header)}{hint}")
    if header is None:
        raise UserError(f"{path.name}: the file is empty; its first line must name the columns {', '.join(needed)}")


def _delimiter(path: Path) -> str:
    with closing(numbered_lines(path)) as lines:
        header = next((line for _, line in lines if line.strip()), "")
    return ";" if ";" in header and "," not in header else ","


def _parquet_rows(path: Path, needed: tuple[str, ...], everything: bool) -> Iterator[Row]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            written = file.schema_arrow.names
            header = _checked_header(path, written, needed, "")
            wanted = [column for column, name in zip(written, header, strict=True) if everything or name in COLUMNS]
            number = 0
            with bar(f"Reading {path.name}", file.metadata.num_rows) as progress:
                for batch in file.iter_batches(batch_size=4096, columns=wanted):
                    for fields in batch.to_pylist():
                        number += 1
                        yield Row(number, {_plain(key): value for key, value in fields.items()})
                    progress.advance(len(batch))
    except FileNotFoundError:
        raise UserError(f"{path}: no such file") from None
    except UnicodeDecodeError:
        raise UserError(f"{path.name}: a column holds text that is not UTF-8") from None
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{path.name}: not a readable Parquet file ({_first_line(error)})") from None


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


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [""])[0]
