"""What a reader left out of a file, and why: where it stands, one sentence each, and counts that are exact."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

MOST_SENTENCES = 1000  # a million bad lines are counted, but nobody reads a million sentences


@dataclass
class Problems:
    """Grows while a file is read.

    Attributes:
        path: the file.
        counts: bad lines by kind ("duplicate word", "wrong length", …).
        sentences: the first thousand, each with file and line.
        notes: what is odd about the file as a whole, but cost no line.
    """

    path: Path
    counts: Counter[str] = field(default_factory=Counter)
    sentences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, line: int, kind: str, sentence: str) -> None:
        self.counts[kind] += 1
        if len(self.sentences) < MOST_SENTENCES:
            self.sentences.append(f"{self.path}:{line}: {sentence}")

    def note(self, sentence: str) -> None:
        self.notes.append(f"{self.path}: {sentence}")

    @property
    def total(self) -> int:
        return self.counts.total()

    def to_json(self) -> dict[str, object]:
        return {"left_out": dict(self.counts), "sentences": self.sentences, "notes": self.notes}


def shown(word: str, most: int = 40) -> str:
    """A word from a stranger's file, fit to stand in a sentence."""
    clean = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in word)
    return clean if len(clean) <= most else clean[: most - 1] + "…"
