"""The sheet for editors: each caption beside its picture, what is most likely wrong first, in one HTML file.

No script and nothing from elsewhere: filters are radio buttons that style sheets look at, and a picture that many
captions are about is in the file once.
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from groundling.checking.caption_table import NOT_CHECKED, CheckedRow, CheckedTable
from groundling.corpus.entailment import LABELS
from groundling.progress import bar
from groundling.report.html import Choice, Filter, Header, Page, Section, TemplateBlock, render
from groundling.report.languages import language_name
from groundling.report.picture_sheet import thumbnail
from groundling.search import walk
from groundling.search.walk import Unreadable

SIDE = 240  # pixels of a picture
SHOWN = 1000  # rows; a page of more is slow to scroll, and all of them are in the other outputs

IN_WORDS = {
    "contradiction": "The picture says otherwise",
    "neutral": "The picture does not tell",
    "entailment": "The picture shows it",
}
SIGNS = {"contradiction": "✗", "neutral": "?", "entailment": "✓"}


@dataclass(frozen=True)
class CheckBlock(TemplateBlock):
    """Rows with their pictures; `spoken` are the languages in the order of the filter for them."""

    template = "check.html"
    rows: Sequence[CheckedRow]
    pictures: "_Pictures"
    spoken: Sequence[str]
    labels = LABELS
    signs = SIGNS
    side = SIDE

    def classes(self, row: CheckedRow) -> str:
        """What the filters know a row by."""
        return f"{_kind_class(row.kind)} {f'in-{self.spoken.index(row.prediction.language)}' if row.prediction else ''}"

    def language(self, row: CheckedRow) -> str:
        return row.prediction.language if row.prediction else row.language

    def facts(self, row: CheckedRow) -> str:
        code = self.language(row)
        detected = ", detected" if row.prediction and row.prediction.detected else ""
        facts = [f"{language_name(code)}{detected}" if code else "", row.picture, f"line {row.line:,}"]
        return " · ".join(fact for fact in facts if fact)

    def in_words(self, row: CheckedRow) -> str:
        said = IN_WORDS[row.kind]
        # One that is more likely wrong than right is said with care.
        unsure = row.prediction is not None and row.prediction.probabilities[row.kind] < 0.5
        return f"Perhaps: {said[0].lower()}{said[1:]}" if unsure else said


def sheet(
    checked: CheckedTable, model: str, at: Path, accuracy: Mapping[str, float] | None = None, shown: int = SHOWN
) -> str:
    """The page.

    Args:
        model: what the model is called.
        at: where the page will be, so that links to the picture files can be relative.
        accuracy: language → how many of 100 test statements in it the model judges right, where that is known.
        shown: the most rows to show, of those that were judged and of those that were not.
    """
    judged = [row for row in checked.rows if row.prediction is not None]
    others = [row for row in checked.rows if row.prediction is None]
    rows = [*judged[:shown], *others[:shown]]
    pictures, languages = _Pictures(checked.pictures, at), _languages(rows)
    with bar("Drawing the sheet", len(rows)) as progress:
        for row in rows:
            pictures.add(row.picture)
            progress.advance()
    header = Header(
        "groundling check",
        f"Captions of {checked.table.name}, checked",
        _summary(checked),
        _notes(checked, model, accuracy or {}, shown),
        filters=_filters(rows, languages),
    )
    there = {(row.kind, languages.index(row.prediction.language)) for row in rows if row.prediction}
    kinds = {kind: _kind_class(kind) for kind in (*LABELS, NOT_CHECKED)}
    style = render("check.css", kinds=kinds, languages=range(len(languages)), there=there)
    title = "Captions, what is most likely wrong first"
    return Page(header, [Section(title, [CheckBlock(rows, pictures, languages)])], style).html()


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
    counts = Counter(row.prediction.language for row in rows if row.prediction)
    return sorted(counts, key=lambda code: (-counts[code], code))


def _filters(rows: Sequence[CheckedRow], languages: list[str]) -> list[Filter]:
    kinds, everything = Counter(row.kind for row in rows), Choice("all", "all", len(rows))
    judged = [Choice(_kind_class(kind), kind, kinds[kind]) for kind in (*LABELS, NOT_CHECKED)]
    filters = [Filter("Judged", "kind", [everything, *judged])]
    if len(languages) > 1:
        counts = Counter(row.prediction.language for row in rows if row.prediction)
        spoken = [Choice(str(number), language_name(code), counts[code]) for number, code in enumerate(languages)]
        filters.append(Filter("Language", "in", [everything, *spoken]))
    return filters


def _summary(checked: CheckedTable) -> str:
    """ "1,240 captions: 37 contradicted by their picture, 310 left open, 890 shown, 3 not checked."."""
    counts, total = checked.counts(), len(checked.rows)
    told = {"contradiction": "contradicted by their picture", "neutral": "left open by it", "entailment": "shown by it"}
    parts = [f"{counts[label]:,} {words}" for label, words in told.items()]
    parts += [f"{counts[NOT_CHECKED]:,} not checked"] if counts[NOT_CHECKED] else []
    return f"{total:,} caption{'' if total == 1 else 's'}: {', '.join(parts)}."


def _notes(checked: CheckedTable, model: str, accuracy: Mapping[str, float], shown: int) -> list[str]:
    notes = [
        f"Judged by the model {model}, which can be wrong: it marks what deserves a look, and does not replace one. "
        "The probabilities are the model's own; its report says how far they can be trusted."
    ]
    known = [code for code in _languages(checked.rows) if code in accuracy]
    if known:
        shares = ", ".join(f"{language_name(code)} {accuracy[code]:.0f} %" for code in known)
        notes.append(f"On the statements it was tested with, it was right in: {shares}; a guess is right in 33 %.")
    counts = checked.counts()
    judged, others = len(checked.rows) - counts[NOT_CHECKED], counts[NOT_CHECKED]
    if judged > shown or others > shown:
        parts = [
            f"{shown:,} of {count:,} {what}"
            for count, what in ((judged, "judged"), (others, NOT_CHECKED))
            if count > shown
        ]
        notes.append(f"Here are the first {' and '.join(parts)}; a CSV or JSON lines output holds all rows.")
    return notes
