"""The plain format for your own data: a table with one row per caption, or text files beside the pictures. Captions in
COCO's layout are read as such a table (see `coco_table`).

Columns: picture (a path relative to the table), language, text, and, where you have them, split and origin. A row with
a label is not a caption but a statement; what it shares with its translations is in the column `statement`.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from groundling.corpus.corpus import Corpus
from groundling.corpus.formats import checks, coco_table
from groundling.corpus.formats.builder import Builder
from groundling.corpus.formats.checks import BadRow
from groundling.corpus.formats.decisions import corrected_text
from groundling.corpus.formats.entailment_statements import label_name
from groundling.corpus.formats.pictures import PictureFolder, picture_files, unreadable
from groundling.corpus.formats.rows import KINDS, Row, kind_of, read_rows
from groundling.corpus.formats.sidecars import read_sidecars, sidecars
from groundling.corpus.formats.skipped import Report
from groundling.corpus.info import CorpusInfo
from groundling.errors import UserError


def read(path: Path, strict: bool = False, check_pictures: bool = True) -> tuple[Corpus, Report]:
    """The corpus in a table file or a folder, and what was skipped.

    Bad rows and unreadable pictures are skipped and listed in the report; `strict` makes the first of them an error.
    `check_pictures` decodes every picture once; without it a picture only has to be there.
    """
    path = path.expanduser()
    if not path.exists():
        raise UserError(f"{path}: no such file or folder")
    report = Report()
    table = table_in(path) if path.is_dir() else path
    coco = coco_table.read(table) if table and coco_table.is_coco(table) else None
    root = coco.root if coco else (table.parent if table else path).resolve()
    collector = _Collector(corpus_name(table or path), root, report)
    rows = ((table.name, row) for row in (coco.rows if coco else read_rows(table))) if table else read_sidecars(path)
    for file, row in rows:
        collector.add(file, row)
    source = table or path
    if table is None:
        _note_bare_pictures(root, collector, report)
    if strict:
        report.stop_if_bad()
    if not len(collector.builder):
        first = f"; the first problem is {report.problems[0]}" if report.problems else ""
        raise UserError(f"{source}: no usable row{first}")
    corpus = collector.corpus(CorpusInfo(source=source.name, note=(coco.note or None) if coco else None))
    if check_pictures:
        corpus = _without_unreadable(corpus, report)
        if strict:
            report.stop_if_bad()
        if not len(corpus.pictures):
            raise UserError(f"{source}: no picture can be read; the first problem is {report.problems[0]}")
    if report.bad:
        skipped = {"rows": report.bad_rows, "pictures": report.bad_pictures, "captions": report.lost_captions}
        corpus = replace(corpus, info=replace(corpus.info, skipped=skipped))
    return corpus, report


def from_rows(rows: Iterable[Mapping[str, Any]], root: Path, name: str) -> Corpus:
    """Rows that a program has, of pictures below `root`; the first bad one is an error that tells its number."""
    report = Report()
    collector = _Collector(name, root.expanduser().resolve(), report)
    for number, fields in enumerate(rows, start=1):
        collector.add("row", Row(number, dict(fields)))
    if report.problems:
        raise UserError(report.problems[0])
    if not len(collector.builder):
        raise UserError(f"{name}: no rows, and so no captions")
    return collector.corpus()


def hashed_split(picture: str) -> str:
    """80/10/10 by a hash of the picture's name: the same on every machine, and unchanged when pictures are added."""
    percent = int.from_bytes(hashlib.sha256(picture.encode("utf-8")).digest()[:8]) % 100
    return "train" if percent < 80 else "dev" if percent < 90 else "test"


class CaptionRow(NamedTuple):
    """The fields of a row in our form; `split`, `label` and `statement` are "" where it has none."""

    picture: str
    language: str
    text: str
    split: str
    origin: str
    label: str
    statement: str


def caption_row(fields: Mapping[str, object]) -> CaptionRow:
    """The row with these fields. Raises BadRow, which says what is wrong with it."""
    picture = checks.picture_name(checks.needed_field(fields, "picture"))
    language = checks.language_code(checks.needed_field(fields, "language"))
    text = checks.caption_text(checks.needed_field(fields, "text"))
    if "decision" in fields or "corrected" in fields:
        decision, corrected = (checks.optional_field(fields, name) for name in ("decision", "corrected"))
        text = checks.caption_text(corrected_text(text, decision, corrected))
    split = checks.optional_field(fields, "split")
    origin = checks.origin_name(checks.optional_field(fields, "origin") or "human")
    label, statement = checks.optional_field(fields, "label"), checks.optional_field(fields, "statement")
    return CaptionRow(picture, language, text, checks.split_name(split) if split else "", origin, label, statement)


class _Collector:
    """Takes rows, keeps the good ones, reports the bad ones."""

    def __init__(self, name: str, root: Path, report: Report) -> None:
        self.builder = Builder(name)
        self.root, self.report = root, report
        self.folder = PictureFolder(root)
        self.said: dict[str, tuple[str, str]] = {}  # picture → its split and where that was said
        self.labels: dict[str, tuple[str, str, str]] = {}  # statement → its picture, its label and where that was said

    def add(self, file: str, row: Row) -> None:
        where = f"{file}:{row.line}" if row.line else file
        self.report.rows += 1
        try:
            if row.problem:
                raise BadRow(row.problem)
            self._add(where, row.fields)
        except BadRow as problem:
            self.report.bad_row(f"{where}: {problem}")

    def _add(self, where: str, fields: Mapping[str, object]) -> None:
        picture, language, text, split, origin, label, name = caption_row(fields)
        self.folder.require(picture)
        if split:
            earlier, place = self.said.setdefault(picture, (split, where))
            if earlier != split:
                raise BadRow(f'picture "{picture}" is in split "{split}" here and in "{earlier}" at {place}')
        if not label:
            self.builder.caption(self.builder.picture(picture, ""), language, text, origin)
            return
        label = label_name(label)
        if name:
            other, known, place = self.labels.setdefault(name, (picture, label, where))
            if (other, known) != (picture, label):
                raise BadRow(f'statement "{checks.short(name)}" is "{known}" of "{checks.short(other)}" at {place}')
        self.builder.statement(self.builder.picture(picture, ""), language, text, label, name or where)

    def corpus(self, info: CorpusInfo = CorpusInfo()) -> Corpus:
        corpus = self.builder.corpus(self.root, info)
        names: list[str] = corpus.pictures.tolist()
        splits = [self.said[name][0] if name in self.said else hashed_split(name) for name in names]
        self.report.hashed = sum(name not in self.said for name in names)
        return replace(corpus, splits=np.array(splits, dtype=np.str_))


def table_in(folder: Path) -> Path | None:
    """The one table named captions.* in the folder; None where the captions lie beside the pictures."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and (kind_of(path) or coco_table.is_coco(path)))
    tables = [path for path in files if path.name.lower().startswith("captions.")]
    if len(tables) > 1:
        raise UserError(f"{folder}: holds {tables[0].name} and {tables[1].name}; give the one to read by its name")
    if tables:
        return tables[0]
    if not sidecars(folder):
        kinds = ", ".join(f".{kind}" for kind in KINDS)
        hint = f" (to read {files[0].name}, give its name)" if files else ""
        raise UserError(f'{folder}: no captions table ({kinds}) and no "name.<language>.txt" beside pictures{hint}')
    return None


def corpus_name(source: Path) -> str:
    """The table's name, or its folder's where the table is just called captions.*"""
    source = source.resolve()
    name = source.name if source.is_dir() else source.name.split(".")[0]
    return source.parent.name if name.lower() in ("captions", "") else name


def _note_bare_pictures(root: Path, collector: _Collector, report: Report) -> None:
    for picture in picture_files(root):
        if picture not in collector.builder:
            report.bad_picture(f"{picture}: no usable caption beside it")


def _without_unreadable(corpus: Corpus, report: Report) -> Corpus:
    if corpus.root is None:
        return corpus
    bad = unreadable(corpus.root, corpus.pictures.tolist())
    if not bad:
        return corpus
    captions = Counter(corpus.pictures[corpus.owners].tolist())
    for name, reason in bad.items():
        report.bad_picture(f"{name}: unreadable picture ({reason})", captions[name])
    return corpus.keep_pictures(~np.isin(corpus.pictures, list(bad)))
