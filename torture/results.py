"""What was tried and what came of it, as rows of a table."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Row:
    """One kind of trouble for one part of the program.

    Attributes:
        part: the kind: readers, kills, full disks, two writers, clients.
        name: what was troubled.
        tried: how often.
        held: how often all was as it should be.
        note: figures, in words.
        failures: what was not, the first few.
        figures: numbers that the note is made of.
    """

    part: str
    name: str
    tried: int = 0
    held: int = 0
    note: str = ""
    failures: list[str] = field(default_factory=list)
    figures: dict[str, float] = field(default_factory=dict)

    def count(self, problem: str | None) -> None:
        self.tried += 1
        if problem is None:
            self.held += 1
        elif len(self.failures) < 10:
            self.failures.append(problem)

    @property
    def whole(self) -> bool:
        return self.tried > 0 and self.held == self.tried

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def markdown(rows: Sequence[Row]) -> str:
    """A table, for the page and for the terminal."""
    lines = ["| trouble | of what | tried | held | |", "|---|---|---|---|---|"]
    lines += [f"| {row.part} | {row.name} | {row.tried:,} | {row.held:,} | {row.note} |" for row in rows]
    return "\n".join(lines)
