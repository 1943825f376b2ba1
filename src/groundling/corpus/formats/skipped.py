"""What a reader left out, and why: one sentence per bad row or picture, and exact counts."""

from dataclasses import dataclass, field

from groundling.errors import UserError

MOST_SENTENCES = 1000  # a million bad rows are counted, but nobody reads a million sentences


@dataclass
class Report:
    """Grows while a table is read.

    Attributes:
        rows: rows read, good and bad.
        bad_rows: rows skipped.
        bad_pictures: pictures skipped because they cannot be read or have no caption.
        lost_captions: good rows that went with the bad pictures.
        hashed: pictures that came without a split and got one by a hash of their name.
        problems: a sentence for each bad row and picture, in the order they were met, the first thousand.
    """

    rows: int = 0
    bad_rows: int = 0
    bad_pictures: int = 0
    lost_captions: int = 0
    hashed: int = 0
    problems: list[str] = field(default_factory=list)

    def bad_row(self, sentence: str) -> None:
        self.bad_rows += 1
        self._note(sentence)

    def bad_picture(self, sentence: str, captions: int = 0) -> None:
        self.bad_pictures += 1
        self.lost_captions += captions
        self._note(sentence)

    def _note(self, sentence: str) -> None:
        if len(self.problems) < MOST_SENTENCES:
            self.problems.append(sentence)

    @property
    def bad(self) -> int:
        return self.bad_rows + self.bad_pictures

    def stop_if_bad(self) -> None:
        """For strict readers: the first problem as the user's error, and how many more there are."""
        if self.bad:
            more = f" (and {self.bad - 1:,} more; without strict they are skipped)" if self.bad > 1 else ""
            raise UserError(self.problems[0] + more)

    def sentences(self) -> list[str]:
        """The problems, and how many more there were."""
        unlisted = self.bad - len(self.problems)
        return [*self.problems, f"and {unlisted:,} more"] if unlisted else list(self.problems)

    def summary(self) -> str:
        """One line for the terminal."""
        parts = [f"{self.rows:,} rows read", f"{self.bad_rows:,} skipped"]
        if self.bad_pictures:
            parts.append(f"{self.bad_pictures:,} pictures skipped with {self.lost_captions:,} captions")
        if self.hashed:
            parts.append(f"{self.hashed:,} pictures had no split and got one by their name (80/10/10)")
        return ", ".join(parts)
