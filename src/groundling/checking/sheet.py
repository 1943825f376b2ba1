"""The sheet for editors: each caption beside its picture, what is most likely wrong first, in one HTML file.

No script and nothing from elsewhere: filters are radio buttons that style sheets look at, and a picture that many
captions are about is in the file once.
"""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from urllib.parse import quote

from groundling.checking.caption_table import NOT_CHECKED, CheckedRow, CheckedTable
from groundling.corpus.entailment import LABELS
from groundling.progress import bar
from groundling.report.document import document
from groundling.report.escape import escape
from groundling.report.languages import language_name
from groundling.report.sheet import thumbnail, words
from groundling.search import walk
from groundling.search.walk import Unreadable

SIDE = 240  # pixels of a picture
SHOWN = 1000  # rows; a page of more is slow to scroll, and all of them are in the other outputs

IN_WORDS = {
    "contradiction": "The picture says otherwise",
    "neutral": "The picture does not tell",
    "entailment": "The picture shows it",
}
NOTHING = '<p class="nothing">No caption here was judged so in this language.</p>'
SIGNS = {"contradiction": "✗", "neutral": "?", "entailment": "✓"}


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
    items = []
    with bar("Drawing the sheet", len(rows)) as progress:
        for row in rows:
            items.append(_item(row, pictures, languages))
            progress.advance()
    title = f"Captions of {checked.table.name}, checked"
    head = (
        f'<header><p class="kind">groundling check</p><h1>{escape(title)}</h1>'
        f'<p class="lead">{escape(_summary(checked))}</p>'
        + "".join(f'<p class="note">{escape(note)}</p>' for note in _notes(checked, model, accuracy or {}, shown))
        + _filters(rows, languages)
        + "</header>"
    )
    body = f'{pictures.drawn()}<ol class="checks" role="list">{"".join(items)}</ol>{NOTHING}'
    own = files("groundling.checking").joinpath("sheet.css").read_text(encoding="utf-8")
    return document(title, head, {"Captions, what is most likely wrong first": body}, own + _rules(rows, languages))


class _Pictures:
    """Small copies of the pictures met so far, each kept once."""

    def __init__(self, root: Path, at: Path) -> None:
        self.root, self.beside = root.resolve(), at.resolve().parent
        self._found: dict[str, tuple[int, str]] = {}  # name → its number and data URI, "" where there is none

    def frame(self, name: str) -> str:
        """The picture, which links to its file; its name where it cannot be shown."""
        if name not in self._found:
            self._found[name] = len(self._found), self._small(name)
        number, source = self._found[name]
        label = escape(name or "no picture")
        if not source:
            return f'<div class="frame"><span class="lost">{label}</span></div>'
        target = escape(quote(Path(os.path.relpath(self.root / name, self.beside)).as_posix()))
        drawing = (
            f'<svg viewBox="0 0 {SIDE} {SIDE}" role="img" aria-label="{label}"><title>{label}</title>'
            f'<use href="#picture-{number}"/></svg>'
        )
        return f'<div class="frame"><a href="{target}">{drawing}</a></div>'

    def drawn(self) -> str:
        """All pictures, to be referred to."""
        images = "".join(
            f'<image id="picture-{number}" href="{source}" width="{SIDE}" height="{SIDE}"/>'
            for number, source in self._found.values()
            if source
        )
        return f'<svg class="drawn" aria-hidden="true"><defs>{images}</defs></svg>' if images else ""

    def _small(self, name: str) -> str:
        try:
            return thumbnail(walk.read(self.root, name)[0], SIDE) or ""
        except (Unreadable, ValueError):
            return ""


def _item(row: CheckedRow, pictures: _Pictures, languages: list[str]) -> str:
    code = row.prediction.language if row.prediction else row.language
    said = words(row.text, code) if row.text.strip() else '<span class="words">(no text)</span>'
    detected = ", detected" if row.prediction and row.prediction.detected else ""
    facts = [escape(language_name(code)) + detected] if code else []
    spoken = f"in-{languages.index(row.prediction.language)}" if row.prediction else ""
    facts += [escape(row.picture), f"line {row.line:,}"]
    return (
        f'<li class="check {_kind_class(row.kind)} {spoken}">{pictures.frame(row.picture)}'
        f'<div><p class="said">{said}</p><p class="facts">{" · ".join(fact for fact in facts if fact)}</p></div>'
        f'<div class="judged">{_judged(row)}</div></li>'
    )


def _judged(row: CheckedRow) -> str:
    """The label in words and the three probabilities; or what kept the row from being judged."""
    if row.prediction is None:
        return f'<p class="label"><span aria-hidden="true">–</span>Not checked</p><p>{escape(row.problem)}</p>'
    shares = []
    for label in LABELS:
        percent = 100 * row.prediction.probabilities[label]
        first = ' class="first"' if label == row.prediction.label else ""
        shares.append(
            f"<dt>{label}</dt><dd{first}>"
            f'<span class="track" aria-hidden="true"><span class="fill" style="width:{percent:.1f}%"></span></span>'
            f'<span class="number">{percent:.0f} %</span></dd>'
        )
    sign, said = f'<span aria-hidden="true">{SIGNS[row.kind]}</span>', IN_WORDS[row.kind]
    if row.prediction.probabilities[row.kind] < 0.5:  # more likely wrong than right
        said = f"Perhaps: {said[0].lower()}{said[1:]}"
    return f'<p class="label">{sign}<span>{said}</span></p><dl class="shares">{"".join(shares)}</dl>'


def _kind_class(kind: str) -> str:
    return kind.replace(" ", "-")


def _languages(rows: Sequence[CheckedRow]) -> list[str]:
    counts = Counter(row.prediction.language for row in rows if row.prediction)
    return sorted(counts, key=lambda code: (-counts[code], code))


def _filters(rows: Sequence[CheckedRow], languages: list[str]) -> str:
    kinds = Counter(row.kind for row in rows)
    labels = [(_kind_class(kind), kind, kinds[kind]) for kind in (*LABELS, NOT_CHECKED)]
    parts = [_radios("Judged", "kind", [("all", "all", len(rows)), *labels])]
    if len(languages) > 1:
        counts = Counter(row.prediction.language for row in rows if row.prediction)
        spoken = [(str(number), language_name(code), counts[code]) for number, code in enumerate(languages)]
        parts.append(_radios("Language", "in", [("all", "all", len(rows)), *spoken]))
    return f'<div class="filters" role="group" aria-label="Which captions to show">{"".join(parts)}</div>'


def _radios(legend: str, name: str, choices: Sequence[tuple[str, str, int]]) -> str:
    labels = "".join(
        f'<label><input type="radio" name="{name}" id="{name}-{escape(value)}"{" checked" if value == "all" else ""}'
        f'{"" if count else " disabled"}>{escape(text)} <span class="count">{count:,}</span></label>'
        for value, text, count in choices
    )
    return f"<fieldset><legend>{legend}</legend>{labels}</fieldset>"


def _rules(rows: Sequence[CheckedRow], languages: list[str]) -> str:
    """While a filter is chosen, what is of another kind is not there, for screen readers too; nor is nothing untold."""
    kinds, codes = [*LABELS, NOT_CHECKED], range(len(languages))
    chosen = {f"#kind-{_kind_class(kind)}": f".{_kind_class(kind)}" for kind in kinds}
    chosen |= {f"#in-{number}": f".in-{number}" for number in codes}
    rules = [f"main:has({one}:checked) .check:not({shown}) {{ display: none; }}" for one, shown in chosen.items()]
    there = {(row.kind, languages.index(row.prediction.language)) for row in rows if row.prediction}
    rules += [
        f"main:has(#kind-{_kind_class(kind)}:checked):has(#in-{number}:checked) .nothing {{ display: block; }}"
        for kind in kinds
        for number in codes
        if (kind, number) not in there
    ]
    return "@media screen {\n" + "\n".join(rules) + "\n}\n"


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
