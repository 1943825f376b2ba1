"""A table of captions, each judged against its picture: what is most likely wrong comes first.

What is wrong with the table stops everything before any work is done. What is wrong with a row is said in that row.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from groundling.checking.checker import Checker, Prediction, prediction
from groundling.checking.features import FolderFeatures
from groundling.checking.problem import NotChecked
from groundling.corpus.entailment import LABELS
from groundling.corpus.formats.checks import BadRow, needed_field, optional_field, picture_name
from groundling.corpus.formats.pictures import PictureFolder
from groundling.corpus.formats.rows import Row, read_rows
from groundling.errors import UserError
from groundling.model import Vectors
from groundling.model.reading import TextReading
from groundling.progress import bar

BATCH = 256  # rows judged together
NEEDED = ("picture", "text")
NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class CheckedRow:
    """A row of the table with what the model says of it, or with the problem that kept it from being asked.

    Attributes:
        line: where it stands in the table (in Parquet its number, from 1).
        picture, text, language: as the table has them; the language may be blank there.
    """

    line: int
    picture: str
    text: str
    language: str
    prediction: Prediction | None = None
    problem: str = ""

    @property
    def kind(self) -> str:
        """A label, or "not checked"."""
        return NOT_CHECKED if self.prediction is None else self.prediction.label

    def as_json(self) -> dict[str, Any]:
        """Flat and always with the same keys, for JSON and CSV alike."""
        found = self.prediction
        return {
            "line": self.line,
            "picture": self.picture,
            "text": self.text,
            "language": found.language if found else self.language,
            "detected": found.detected if found else None,
            "verdict": found.label if found else None,
            **{label: found.probabilities[label] if found else None for label in LABELS},
            "problem": self.problem or None,
        }


@dataclass(frozen=True)
class CheckedTable:
    """All rows, worst first: by the probability of a contradiction; rows that were not checked come last.

    Attributes:
        pictures: the folder that pictures were looked up in.
    """

    table: Path
    pictures: Path
    rows: list[CheckedRow] = field(default_factory=list)

    def counts(self) -> dict[str, int]:
        """How many rows were found to be what, and how many were not checked."""
        counted = Counter(row.kind for row in self.rows)
        return {kind: counted[kind] for kind in (*LABELS, NOT_CHECKED)}


def check_table(
    checker: Checker, table: Path, pictures: Path | None = None, language: str | None = None
) -> CheckedTable:
    """Judge every row of a table with the columns picture and text, and language where it is known.

    Args:
        table: .jsonl, .csv, .tsv (each also .gz) or .parquet.
        pictures: the folder that picture names are relative to, and must not lead out of; the table's where None.
        language: of rows that do not say theirs; detected where None.
    """
    root = (table.parent if pictures is None else pictures).expanduser()
    if not root.is_dir():
        raise UserError(f"{root}: no such folder of pictures")
    count = _check_structure(table)
    judging = _Judging(checker, root.resolve(), language)
    found: list[CheckedRow] = []
    rows = read_rows(table, NEEDED)
    with bar("Checking", count) as progress:
        while batch := list(islice(rows, BATCH)):
            found += judging.judge(batch)
            progress.advance(len(batch))
    return CheckedTable(table, root, sorted(found, key=_badness))


def _check_structure(table: Path) -> int:
    """The number of rows; a row that is not one is the user's error, before hours of work."""
    count = 0
    for row in read_rows(table, NEEDED):
        if row.problem:
            raise UserError(f"{table.name}:{row.line}: {row.problem}")
        count += 1
    if not count:
        raise UserError(f"{table.name}: no row below the header, so there is nothing to check")
    return count


def _badness(row: CheckedRow) -> tuple[bool, float, float, int]:
    if row.prediction is None:
        return True, 0.0, 0.0, row.line
    shares = row.prediction.probabilities
    return False, -shares["contradiction"], shares["entailment"], row.line


@dataclass
class _Question:
    """A row on its way to an answer; once it has a problem it is asked nothing more."""

    row: Row
    picture: str
    text: str = ""
    reading: TextReading | None = None
    problem: str = ""
    prediction: Prediction | None = None

    def answered(self) -> CheckedRow:
        text, language = _plain(self.row, "text"), _plain(self.row, "language")
        return CheckedRow(self.row.line, self.picture, text, language, self.prediction, self.problem)


class _Judging:
    """Rows in, checked rows out, batch by batch; pictures are looked at once as long as they are remembered."""

    def __init__(self, checker: Checker, root: Path, language: str | None) -> None:
        self.checker, self.language = checker, language
        self.folder, self.seen = PictureFolder(root), FolderFeatures(checker.model, root)

    def judge(self, rows: list[Row]) -> Iterator[CheckedRow]:
        questions = [self._question(row) for row in rows]
        looked = self.seen.look([one.picture for one in questions if not one.problem])
        place: dict[str, int] = {}  # of a picture among the features
        features: list[Vectors] = []
        good: list[tuple[_Question, TextReading]] = []
        for one in questions:
            if one.reading is None or one.problem:
                continue
            found = looked[one.picture]
            if isinstance(found, str):
                one.problem = f"the picture cannot be used: {found}"
                continue
            if one.picture not in place:
                place[one.picture] = len(features)
                features.append(found)
            good.append((one, one.reading))
        if good:
            texts, codes = [one.text for one, _ in good], [reading.language for _, reading in good]
            owners = np.array([place[one.picture] for one, _ in good], dtype=np.int64)
            shares = self.checker.model.judge_features(texts, np.stack(features), codes, owners)
            for (one, reading), three in zip(good, shares, strict=True):
                one.prediction = prediction(three, reading)
        return (one.answered() for one in questions)

    def _question(self, row: Row) -> _Question:
        asked = _Question(row, _plain(row, "picture"))
        try:
            asked.picture = picture_name(needed_field(row.fields, "picture"))
            asked.text = needed_field(row.fields, "text")
            said = optional_field(row.fields, "language") or self.language
            asked.reading = self.checker.read(asked.text, said)
            self.folder.require(asked.picture)
        except (BadRow, NotChecked) as problem:
            asked.problem = str(problem)
        return asked


def _plain(row: Row, name: str) -> str:
    value = row.fields.get(name)
    return "" if value is None else str(value)
