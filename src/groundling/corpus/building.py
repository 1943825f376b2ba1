"""Builds a corpus of any size: samples are read once, one after the other, and written to shards.

Rows are first written as they come, with a hash of the name of their picture. When all are there, pictures are numbered
by these hashes, in memory that grows with five bytes a row, and rows and pictures are written to their shards. Names of
pictures are told apart by 64 bits: among ten million, two are taken for one with a probability of 3 in a million.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from groundling.corpus import sharded
from groundling.corpus.built_pictures import Check, Pictures
from groundling.corpus.card import Counts
from groundling.corpus.columns import Integers, Mask
from groundling.corpus.corpus import ORIGINS, SPLITS
from groundling.corpus.formats.caption_table import CaptionRow, caption_row, hashed_split
from groundling.corpus.formats.checks import BadRow
from groundling.corpus.formats.skipped import Report
from groundling.corpus.formats.sources import Source
from groundling.corpus.info import CorpusInfo
from groundling.corpus.pairs.distinct import distinct
from groundling.corpus.storage import written_root
from groundling.errors import UserError
from groundling.files import only_writer

ROWS = "rows.arrow"
_RAW: dict[str, type[np.integer[Any]]] = {"hashes": np.uint64, "splits": np.int8, "languages": np.int16}


class HasStatements(Exception):
    """A table with statements, which are read into memory as a whole."""


def build(source: Source, folder: Path, language: str = "", check: Check = "decode", strict: bool = False) -> Report:
    """Writes the corpus in `source` to `folder`; what was left out is in the report.

    Args:
        language: of captions that do not say theirs.
        check: "decode" looks at every pixel of each picture, "exist" whether its file is there, "none" at nothing.
        strict: the first bad row or picture is an error, and nothing is written.
    """
    report = Report()
    with only_writer(folder):
        with sharded.new_shards(folder) as (place, lasting):
            pictures = Pictures(source.root, place / sharded.PICTURE_FILES, check, report)
            rows = _Rows()
            with ExitStack() as stack:
                files = {name: stack.enter_context((place / f"{name}.raw").open("wb")) for name in _RAW}
                _write_rows(place / ROWS, _rows_of(source, language, pictures, report), rows, files)
            if strict:
                report.stop_if_bad()
            if not rows.count:
                first = f"; the first problem is {report.problems[0]}" if report.problems else ""
                raise UserError(f"{source.name}: no usable row{first}")
            counts = _write_tables(place, rows, pictures, report)
            if strict:
                report.stop_if_bad()
            for name in (ROWS, *(f"{name}.raw" for name in _RAW)):
                (place / name).unlink()
        root = f"{lasting.name}/{sharded.PICTURE_FILES}" if pictures.inside else written_root(source.root, folder)
        skipped = {"rows": report.bad_rows, "pictures": report.bad_pictures, "captions": report.lost_captions}
        info = CorpusInfo(source=source.name, skipped=skipped if report.bad else None)
        sharded.write_card(folder, lasting, source.name, counts, root, info)
    return report


class _Placed(NamedTuple):
    where: str
    row: CaptionRow


def _rows_of(source: Source, language: str, pictures: Pictures, report: Report) -> Iterator[_Placed]:
    """All that are right; what is wrong with the others goes into the report."""
    for sample, name in pictures.placed(source.samples(language)):
        if sample.problem:
            report.rows += 1
            report.bad_row(f"{sample.where}: {sample.problem}")
            continue
        inside = sample.picture is not None
        if pictures.inside is None:
            pictures.inside = inside
        elif pictures.inside != inside:
            raise UserError(
                f"{sample.where}: some pictures come inside the shards and others as files; build them apart"
            )
        for fields in sample.rows:
            report.rows += 1
            try:
                row = caption_row({**fields, "picture": name} if inside else fields)
                pictures.require(row.picture)
            except BadRow as problem:
                report.bad_row(f"{sample.where}: {problem}")
                continue
            if row.label:
                raise HasStatements
            yield _Placed(sample.where, row)


@dataclass
class _Rows:
    """What is known of the rows that were written: how many, and a number for each language."""

    count: int = 0
    codes: dict[str, int] = field(default_factory=dict)


def _write_rows(path: Path, rows: Iterator[_Placed], known: _Rows, files: Mapping[str, IO[bytes]]) -> None:
    import pyarrow as pa

    names = ("where", "picture", "text")
    schema = pa.schema([*((name, pa.string()) for name in names), ("origin", pa.int8())])
    origins, splits = (
        {name: at for at, name in enumerate(ORIGINS)},
        {"": 0, **{s: at for at, s in enumerate(SPLITS, 1)}},
    )
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        while part := list(islice(rows, sharded.GROUP)):
            found = [row for _, row in part]
            pictures = [row.picture for row in found]
            columns = [[where for where, _ in part], pictures, [row.text for row in found]]
            writer.write_batch(
                pa.record_batch([*columns, pa.array([origins[r.origin] for r in found], pa.int8())], schema)
            )
            numbers = [known.codes.setdefault(row.language, len(known.codes)) for row in found]
            digests = b"".join([hashlib.blake2b(name.encode(), digest_size=8).digest() for name in pictures])
            files["hashes"].write(digests)
            files["splits"].write(np.array([splits[row.split] for row in found], dtype=np.int8).tobytes())
            files["languages"].write(np.array(numbers, dtype=np.int16).tobytes())
            known.count += len(part)


def _write_tables(place: Path, rows: _Rows, pictures: Pictures, report: Report) -> Counts:
    """The shards of pictures and captions; how many there are of each, by split and language."""
    raw = {name: np.memmap(place / f"{name}.raw", dtype=kind, mode="r") for name, kind in _RAW.items()}
    first, number = distinct(raw["hashes"])
    said = np.zeros(int(first.sum()), dtype=np.int8)  # the split of each picture, as the first row says that says one
    telling = np.flatnonzero(raw["splits"])[::-1]
    said[number[telling]] = raw["splits"][telling]
    fits = (raw["splits"] == 0) | (raw["splits"] == said[number])
    _report_conflicts(place, raw["splits"], said[number], fits, report)
    final, usable = _write_pictures(place, first, said, pictures, report)
    lost = ~usable[number] & fits
    report.lost_captions += int(lost.sum())
    keep = fits & usable[number]
    if not keep.any():
        raise UserError(f"no picture can be read; the first problem is {report.problems[0]}")
    owners = (np.cumsum(usable) - 1)[number]
    codes = list(rows.codes)
    sharded.write_shards(place, "captions", _captions(place, keep, owners, raw["languages"], codes))
    table = {}
    languages, splits = raw["languages"][keep], final[number[keep]]
    for at, split in enumerate(SPLITS):
        times = np.bincount(languages[splits == at], minlength=len(codes))
        table[split] = {"pictures": int((final[usable] == at).sum()), **dict(zip(codes, times.tolist(), strict=True))}
    most = sorted(codes, key=lambda code: (-sum(row[code] for row in table.values()), code))
    return Counts(
        pictures=int(usable.sum()),
        captions=int(keep.sum()),
        languages=codes,
        splits={split: {column: row[column] for column in ("pictures", *most)} for split, row in table.items()},
    )


def _batches(place: Path) -> Iterator[tuple[slice, Any]]:
    import pyarrow as pa

    with pa.memory_map(str(place / ROWS)) as source:
        file, done = pa.ipc.open_file(source), 0
        for number in range(file.num_record_batches):
            batch = file.get_batch(number)
            yield slice(done, done + len(batch)), batch
            done += len(batch)


def _report_conflicts(place: Path, splits: npt.NDArray[np.int8], said: Any, fits: Mask, report: Report) -> None:
    if fits.all():
        return
    for part, batch in _batches(place):
        for row in np.flatnonzero(~fits[part]).tolist():
            where, name = (batch.column(column)[row].as_py() for column in ("where", "picture"))
            one, other = (SPLITS[int(values[part][row]) - 1] for values in (splits, said))
            report.bad_row(f'{where}: picture "{name}" is in split "{one}" here and in "{other}" before')


def _write_pictures(
    place: Path, first: Mask, said: npt.NDArray[np.int8], pictures: Pictures, report: Report
) -> tuple[npt.NDArray[np.int8], Mask]:
    """For each picture the place of its split in SPLITS, and whether it can be read; those that can are written."""
    final, usable = np.zeros(len(said), dtype=np.int8), np.ones(len(said), dtype=bool)
    sharded.write_shards(place, "pictures", _picture_batches(place, first, said, pictures, report, final, usable))
    return final, usable


def _picture_batches(
    place: Path,
    first: Mask,
    said: npt.NDArray[np.int8],
    pictures: Pictures,
    report: Report,
    final: npt.NDArray[np.int8],
    usable: Mask,
) -> Iterator[Any]:
    import pyarrow as pa

    done = 0
    for part, batch in _batches(place):
        rows = np.flatnonzero(first[part])
        if not len(rows):
            continue
        names, where = (batch.column(column).take(pa.array(rows)).to_pylist() for column in ("picture", "where"))
        here = slice(done, done + len(names))
        bad = pictures.unreadable(names)
        for name, reason in bad.items():
            report.bad_picture(f"{name}: unreadable picture ({reason})")
        usable[here] = [name not in bad for name in names]
        report.hashed += int((said[here] == 0).sum())
        final[here] = [
            place - 1 if place else SPLITS.index(hashed_split(name))
            for name, place in zip(names, said[here].tolist(), strict=True)
        ]
        columns = {"picture": names, "source": where}
        kept = pa.array(np.flatnonzero(usable[here]))
        table = pa.record_batch(
            [*(pa.array(values, pa.string()) for values in columns.values()), _dictionary(final[here], SPLITS)],
            names=[*columns, "split"],
        )
        done += len(names)
        yield table.take(kept)


def _captions(place: Path, keep: Mask, owners: Integers, languages: Any, codes: list[str]) -> Iterator[Any]:
    import pyarrow as pa

    for part, batch in _batches(place):
        rows = np.flatnonzero(keep[part])
        if not len(rows):
            continue
        chosen = batch.take(pa.array(rows))
        yield pa.record_batch(
            [
                pa.array(owners[part][rows], pa.int64()),
                _dictionary(languages[part][rows], codes),
                chosen.column("text"),
                _dictionary(chosen.column("origin").to_numpy(), ORIGINS),
            ],
            names=["owner", "language", "text", "origin"],
        )


def _dictionary(numbers: Any, values: Iterable[str]) -> Any:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(numbers, pa.int32()), pa.array(list(values), pa.string()))
