"""What editors decide: a caption is right, wrong, or should read otherwise. A CSV, as the sheet of `check` saves it.

Columns: picture, text, language, decision (right, wrong or corrected) and corrected, the text that it should be. Given
to `check`, decisions are shown with their rows again; `calibrate` learns from them; a table of captions that has these
columns is built into a corpus without its wrong captions, and with corrected ones as they should be.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from groundling.corpus.formats.checks import BadRow, short
from groundling.corpus.formats.rows import read_rows
from groundling.errors import UserError, did_you_mean

NEEDED = ("picture", "text", "decision")
RIGHT, WRONG, CORRECTED = "right", "wrong", "corrected"
DECISIONS = (RIGHT, WRONG, CORRECTED)


def decision_of(decision: str, corrected: str) -> tuple[str, str]:
    """The decision in our form, "" where there is none, and the text that was put in place of the old one.

    >>> decision_of(" Right", ""), decision_of("", "two dogs")
    (('right', ''), ('corrected', 'two dogs'))
    """
    name, text = decision.strip().casefold(), corrected.strip()
    if not name:
        return (CORRECTED, text) if text else ("", "")
    if name not in DECISIONS:
        raise BadRow(f'unknown decision "{short(decision)}"{did_you_mean(name, DECISIONS)}')
    if name == CORRECTED and not text:
        raise BadRow('"corrected" is empty, where the text is that should be there instead')
    return name, text if name == CORRECTED else ""


def corrected_text(text: str, decision: str, corrected: str) -> str:
    """A caption as its editor wants it. Raises BadRow where it is wrong, and nothing was put in its place."""
    name, other = decision_of(decision, corrected)
    if name == WRONG:
        raise BadRow("an editor has decided that the caption is wrong")
    return other or text


@dataclass(frozen=True)
class Decision:
    """Of one caption of one picture; `corrected` is the text that it should be, where it is "corrected"."""

    picture: str
    text: str
    language: str
    decision: str
    corrected: str = ""

    def statements(self) -> Iterator[tuple[str, str]]:
        """Texts with their labels: what is right is shown by the picture, and what is not is contradicted by it."""
        yield self.text, "entailment" if self.decision == RIGHT else "contradiction"
        if self.corrected:
            yield self.corrected, "entailment"


@dataclass(frozen=True)
class Decisions:
    """By picture and text; the last one of each counts."""

    known: dict[tuple[str, str], Decision] = field(default_factory=dict)

    @staticmethod
    def read(path: Path) -> "Decisions":
        """From a table with the columns picture, text and decision; rows without a decision are passed over."""
        known: dict[tuple[str, str], Decision] = {}
        for row in read_rows(path, NEEDED, everything=True):
            if row.problem:
                raise UserError(f"{path.name}:{row.line}: {row.problem}")
            plain = {name: "" if value is None else str(value) for name, value in row.fields.items()}
            try:
                decision, corrected = decision_of(plain.get("decision", ""), plain.get("corrected", ""))
            except BadRow as problem:
                raise UserError(f"{path.name}:{row.line}: {problem}") from None
            if decision:
                picture, text = plain.get("picture", ""), plain.get("text", "")
                known[picture, text] = Decision(picture, text, plain.get("language", ""), decision, corrected)
        if not known:
            raise UserError(f"{path.name}: no row has a decision ({', '.join(DECISIONS)})")
        return Decisions(known)

    def of(self, picture: str, text: str) -> Decision | None:
        return self.known.get((picture, text))

    def __len__(self) -> int:
        return len(self.known)

    def __iter__(self) -> Iterator[Decision]:
        return iter(self.known.values())
