"""The words a model knows: those frequent enough in the training captions, one table for all languages."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

PAD, START, END, UNKNOWN = range(4)
FIRST = 1  # row of a table whose only symbol is padding
SPECIAL = ("<pad>", "<start>", "<end>", "<unknown>")


@dataclass(frozen=True)
class Vocabulary:
    """Words in a fixed order; the row of a word in the embedding table is its place here plus the special symbols."""

    words: tuple[str, ...]
    rows: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", {word: len(SPECIAL) + place for place, word in enumerate(self.words)})
        if len(self.rows) != len(self.words):
            raise ValueError("a word stands twice in the vocabulary")

    def __len__(self) -> int:
        return len(SPECIAL) + len(self.words)

    def row(self, word: str) -> int:
        return self.rows.get(word, UNKNOWN)

    @staticmethod
    def build(captions: Iterable[tuple[str, list[str]]], minimum_count: int) -> "Vocabulary":
        """From (language, words) of the training captions: words seen often enough in one language, their union.

        Counting per language is how the paper counts: a word is kept where some language uses it often enough.
        """
        counts: dict[str, Counter[str]] = {}
        for language, words in captions:
            counts.setdefault(language, Counter()).update(words)
        kept = {word for counter in counts.values() for word, count in counter.items() if count >= minimum_count}
        return Vocabulary(tuple(sorted(kept)))
