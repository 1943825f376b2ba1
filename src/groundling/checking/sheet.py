"""The sheet for editors: each caption beside its picture, what is most likely wrong first, in one HTML file.

Nothing comes from elsewhere, and filters need no script: they are radio buttons that style sheets look at. A small
script keeps what editors decide in their browser and saves it as a CSV file; without it everything else works. A
picture that many captions are about is in the file once.
"""

import hashlib
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from groundling.checking.answer import Answer
from groundling.checking.caption_table import NOT_CHECKED, CheckedRow, CheckedTable
from groundling.corpus.formats.decisions import DECISIONS
from groundling.progress import bar
from groundling.report.html import Choice, Filter, Header, Page, Section, TemplateBlock, render
from groundling.report.languages import language_name
from groundling.report.picture_sheet import thumbnail
from groundling.search import walk
from groundling.search.walk import Unreadable

SIDE = 240  # pixels of a picture
SHOWN = 1000  # rows; a page of more is slow to scroll, and all of them are in the other outputs


@dataclass(frozen=True)
class CheckBlock(TemplateBlock):
    """Rows with their pictures; `spoken` are the languages in the order of the filter for them."""

    template = "check.html"
    rows: Sequence[CheckedRow]
    pictures: "_Pictures"
    spoken: Sequence[str]
    name: str
    side = SIDE
    decisions = DECISIONS

    def classes(self, row: CheckedRow) -> str:
        """What the filters know a row by."""
        return f"{_kind_class(row.kind)} {f'in-{self.spoken.index(row.answer.language)}' if row.answer else ''}"

    def language(self, row: CheckedRow) -> str:
        return row.answer.language if row.answer else row.language

    def facts(self, row: CheckedRow) -> str:
        code = self.language(row)
        detected = ", detected" if row.answer and row.answer.detected else ""
        facts = [f"{language_name(code)}{detected}" if code else "", row.picture, f"line {row.line:,}"]
        if row.answer and row.answer.unknown_words:
            facts.append(f"not known: {', '.join(dict.fromkeys(row.answer.unknown_words))}")
        return " · ".join(fact for fact in facts if fact)

    def in_words(self, row: CheckedRow) -> str:
        if row.answer is None:
            return ""
        said = row.answer.in_words[row.kind]
        # One that is more likely wrong than right is said with care.
        return said if row.answer.sure else f"Perhaps: {said[0].lower()}{said[1:]}"

    def marked(self, row: CheckedRow) -> Iterator[tuple[str, bool]]:
        """The text in pieces, each with whether it is a word that does not fit."""
        place = 0
        for one in sorted(row.answer.misfits, key=lambda one: one.start) if row.answer else ():
            yield row.text[place : one.start], False
            yield row.text[one.start : one.end], True
            place = one.end
        yield row.text[place:], False

    def better(self, row: CheckedRow) -> Answer | None:
        """The answer that says what fits better, where anything does and the caption is in doubt."""
        answer = row.answer if row.kind != "fits" else None
        return answer if answer and (answer.better_picture or answer.better_caption) else None


def sheet(checked: CheckedTable, at: Path, shown: int = SHOWN) -> str:
    """The page.

    Args:
        at: where the page will be, so that links to the picture files can be relative.
        shown: the most rows to show, of those that were checked and of those that were not.
    """
    judged = [row for row in checked.rows if row.answer is not None]
    others = [row for row in checked.rows if row.answer is None]
    rows = [*judged[:shown], *others[:shown]]
    pictures, languages = _Pictures(checked.pictures, at), _languages(rows)
    block = CheckBlock(rows, pictures, languages, _identity(checked))
    with bar("Drawing the sheet", len(rows)) as progress:
        for row in rows:
            pictures.add(row.picture)
            if (match := block.better(row)) and match.better_picture:
                pictures.add(match.better_picture)
            progress.advance()
    header = Header(
        "groundling check",
        f"Captions of {checked.table.name}, checked",
        _summary(checked),
        [*checked.notes, *_cut(checked, shown)],
        filters=_filters(checked, rows, languages),
    )
    there = {(row.kind, languages.index(row.answer.language)) for row in rows if row.answer}
    kinds = {kind: _kind_class(kind) for kind in checked.kinds}
    style = render("check.css", kinds=kinds, languages=range(len(languages)), there=there)
    title = "Captions, what is most likely wrong first"
    return Page(header, [Section(title, [block])], style, Markup(render("check.js"))).html()  # noqa: S704 (ours)


def _identity(checked: CheckedTable) -> str:
    """Under which a browser keeps decisions: of the table's rows, in any order."""
    digest = hashlib.sha256()
    for row in sorted(checked.rows, key=lambda row: row.line):
        digest.update(f"{row.line}\t{row.picture}\t{row.text}\n".encode("utf-8", "replace"))
    return digest.hexdigest()[:16]


class _Pictures:
    """Small copies of the pictures met so far, each kept once."""

    def __init__(self, root: Path, at: Path) -> None:
        self.root, self.beside = root.resolve(), at.resolve().parent
        self.found: dict[str, tuple[int, str]] = {}  # name → its number and data URI, "" where there is none

    def add(self, name: str) -> None:
        if name not in self.found:
            self.found[name] = len(self.found), self._small(name)

    def drawn(self) -> list[tuple[int, str]]:
        """All that can be shown, to be referred to by their numbers."""
        return [(number, source) for number, source in self.found.values() if source]

    def target(self, name: str) -> str:
        return quote(Path(os.path.relpath(self.root / name, self.beside)).as_posix())

    def _small(self, name: str) -> str:
        try:
            return thumbnail(walk.read(self.root, name)[0], SIDE) or ""
        except (Unreadable, ValueError):
            return ""


def _kind_class(kind: str) -> str:
    return kind.replace(" ", "-")


def _languages(rows: Sequence[CheckedRow]) -> list[str]:
    counts = Counter(row.answer.language for row in rows if row.answer)
    return sorted(counts, key=lambda code: (-counts[code], code))


def _filters(checked: CheckedTable, rows: Sequence[CheckedRow], languages: list[str]) -> list[Filter]:
    kinds, everything = Counter(row.kind for row in rows), Choice("all", "all", len(rows))
    judged = [Choice(_kind_class(kind), kind, kinds[kind]) for kind in checked.kinds]
    filters = [Filter("Judged", "kind", [everything, *judged])]
    if len(languages) > 1:
        counts = Counter(row.answer.language for row in rows if row.answer)
        spoken = [Choice(str(number), language_name(code), counts[code]) for number, code in enumerate(languages)]
        filters.append(Filter("Language", "in", [everything, *spoken]))
    return filters


def _summary(checked: CheckedTable) -> str:
    """ "1,240 captions: 37 contradicted by their picture, 310 left open, 890 shown, 3 not checked."."""
    counts, total = checked.counts(), len(checked.rows)
    parts = [f"{counts[label]:,} {words}" for label, words in checked.answers.labels.items()]
    parts += [f"{counts[NOT_CHECKED]:,} not checked"] if counts[NOT_CHECKED] else []
    return f"{total:,} caption{'' if total == 1 else 's'}: {', '.join(parts)}."


def _cut(checked: CheckedTable, shown: int) -> list[str]:
    """What is not shown."""
    others = checked.counts()[NOT_CHECKED]
    counts = ((len(checked.rows) - others, "judged"), (others, NOT_CHECKED))
    parts = [f"{shown:,} of {count:,} {what}" for count, what in counts if count > shown]
    return [f"Here are the first {' and '.join(parts)}; a CSV or JSON lines output holds all rows."] if parts else []
