"""A table of captions, each checked against its picture: what is most likely wrong comes first.

What is wrong with the table stops everything before any work is done. What is wrong with a row is said in that row.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from groundling.checking.answer import Answer
from groundling.checking.method import Method, Question
from groundling.checking.pictures import FolderPictures
from groundling.checking.problem import NotChecked
from groundling.corpus.formats.checks import BadRow, needed_field, optional_field, picture_name
from groundling.corpus.formats.decisions import Decision, Decisions
from groundling.corpus.formats.pictures import PictureFolder
from groundling.corpus.formats.rows import Row, read_rows
from groundling.errors import UserError, path_meant
from groundling.model import Vectors
from groundling.progress import bar

NEEDED = ("picture", "text")
OURS = (*NEEDED, "language")
NOT_CHECKED = "not checked"


@dataclass(frozen=True)
class CheckedRow:
    """A row of the table with what the model says of it, or with the problem that kept it from being asked.

    Attributes:
        line: where it stands in the table (in Parquet its number, from 1).
        picture, text, language: as the table has them; the language may be blank there.
        others: what else the table says in this row, by column.
        decision: what an editor has said of it before.
    """

    line: int
    picture: str
    text: str
    language: str
    answer: Answer | None = None
    problem: str = ""
    others: dict[str, Any] = field(default_factory=dict)
    decision: Decision | None = None

    @property
    def kind(self) -> str:
        """A label, or "not checked"."""
        return NOT_CHECKED if self.answer is None else self.answer.label


@dataclass(frozen=True)
class CheckedTable:
    """All rows, worst first; rows that were not checked come last.

    Attributes:
        table: where they come from.
        pictures: the folder that pictures were looked up in.
        answers: what the answers are.
        notes: how they were made.
    """

    table: Path
    pictures: Path
    answers: type[Answer]
    rows: list[CheckedRow] = field(default_factory=list)
    notes: Sequence[str] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        return (*self.answers.labels, NOT_CHECKED)

    def counts(self) -> dict[str, int]:
        """How many rows were found to be what, and how many were not checked."""
        counted = Counter(row.kind for row in self.rows)
        return {kind: counted[kind] for kind in self.kinds}

    def as_json(self, row: CheckedRow) -> dict[str, object]:
        """Flat and always with the same keys, for JSON and CSV alike; columns of the table come last."""
        found = row.answer
        values = {
            "line": row.line,
            "picture": row.picture,
            "text": row.text,
            "language": found.language if found else row.language,
            "detected": found.detected if found else None,
            **(found.fields() if found else dict.fromkeys(self.answers.columns())),
            "unknown_words": (" ".join(found.unknown_words) or None) if found else None,
            "decision": row.decision.decision if row.decision else None,
            "corrected": (row.decision.corrected or None) if row.decision else None,
            "problem": row.problem or None,
        }
        others = {name if name not in values else f"table_{name}": value for name, value in row.others.items()}
        return {**values, **others}


def check_table(
    method: Method,
    table: Path,
    pictures: Path | None = None,
    language: str | None = None,
    decisions: Decisions | None = None,
) -> CheckedTable:
    """Check every row of a table with the columns picture and text, and language where it is known.

    Args:
        table: .jsonl, .csv, .tsv (each also .gz) or .parquet.
        pictures: the folder that picture names are relative to, and must not lead out of; the table's where None.
        language: of rows that do not say theirs; detected where None.
        decisions: what editors have said before.
    """
    root = (table.parent if pictures is None else pictures).expanduser()
    if not root.is_dir():
        raise UserError(f"{root}: no such folder of pictures{path_meant(root)}")
    count = _check_structure(table)
    if pictures is not None and _named_from_table(table, root):
        root = table.parent
    return check_rows(method, read_rows(table, NEEDED, everything=True), count, table, root, language, decisions)


def _named_from_table(table: Path, folder: Path) -> bool:
    """Whether names lead into the folder from where the table is, as `corpus build` reads them, and not from inside."""
    names, inside = {str(row.fields["picture"]) for row in read_rows(table, NEEDED)}, folder.resolve()
    try:
        if any((folder / name).is_file() for name in names):
            return False
        found = [(table.parent / name).resolve() for name in names if (table.parent / name).is_file()]
    except (OSError, ValueError):  # a name that no file can have, which its row will tell
        return False
    return bool(found) and all(path.is_relative_to(inside) for path in found)


def check_rows(
    method: Method,
    rows: Iterable[Row],
    count: int,
    table: Path,
    root: Path,
    language: str | None = None,
    decisions: Decisions | None = None,
) -> CheckedTable:
    """The same of `count` rows that were read from anywhere, called `table`, with pictures in the folder `root`."""
    asking = _Asking(method, root.resolve(), language, decisions or Decisions())
    found: list[CheckedRow] = []
    left = iter(rows)
    with bar("Checking", count) as progress:
        while batch := list(islice(left, method.at_once)):
            found += asking.ask(batch)
            progress.advance(len(batch))
    found.sort(key=_order)
    languages = Counter(row.answer.language for row in found if row.answer)
    return CheckedTable(table, root, method.answer, found, method.notes([code for code, _ in languages.most_common()]))


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


def _order(row: CheckedRow) -> tuple[bool, tuple[float, ...], int]:
    return row.answer is None, tuple(-one for one in row.answer.badness) if row.answer else (), row.line


class _Asking:
    """Rows in, checked rows out; pictures are looked at once as long as they are remembered."""

    def __init__(self, method: Method, root: Path, language: str | None, decisions: Decisions) -> None:
        self.method, self.language, self.decisions = method, language, decisions
        self.folder, self.seen = PictureFolder(root), FolderPictures(method, root)

    def ask(self, rows: list[Row]) -> Iterator[CheckedRow]:
        questions: dict[int, Question] = {}
        problems: dict[int, str] = {}
        for place, row in enumerate(rows):
            try:
                questions[place] = self._question(row)
            except (BadRow, NotChecked) as problem:
                problems[place] = str(problem)
        names = list(dict.fromkeys(question.picture for question in questions.values()))
        if self.method.at_once is None:  # all of a table: looking takes long
            with bar("Looking at pictures", len(names)) as progress:
                looked = self.seen.look(names, progress.advance)
        else:
            looked = self.seen.look(names)
        good: dict[str, Vectors] = {name: found for name, found in looked.items() if not isinstance(found, str)}
        for place, question in questions.items():
            if question.picture not in good:
                problems[place] = f"the picture cannot be used: {looked[question.picture]}"
        asked = [place for place in questions if place not in problems]
        answers = self.method.answers([questions[place] for place in asked], good) if asked else []
        told = dict(zip(asked, answers, strict=True))
        return (self._checked(row, told.get(place), problems.get(place, "")) for place, row in enumerate(rows))

    def _question(self, row: Row) -> Question:
        picture = picture_name(needed_field(row.fields, "picture"))
        text = needed_field(row.fields, "text")
        reading = self.method.read(text, optional_field(row.fields, "language") or self.language)
        self.folder.require(picture)
        return Question(text, reading, picture, row.line)

    def _checked(self, row: Row, answer: Answer | None, problem: str) -> CheckedRow:
        picture, text, language = (_plain(row, name) for name in OURS)
        if not problem:
            picture = picture_name(picture)
        others = {name: value for name, value in row.fields.items() if name not in OURS}
        decision = self.decisions.of(picture, text)
        return CheckedRow(row.line, picture, text, language, answer, problem, others, decision)


def _plain(row: Row, name: str) -> str:
    value = row.fields.get(name)
    return "" if value is None else str(value)
