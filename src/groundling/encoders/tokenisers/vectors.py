"""Captions as rows of a fixed table of word vectors; words that are not in it as the rows of their pieces.

What a model keeps of its word vectors, so that it needs no file of them afterwards:

- the first (most frequent) `most` words, and the words of its training captions, as unit vectors;
- where the vectors have subwords, the pieces that these words are made of. A new word is the sum of its pieces that are
  there. Published models have two million rows of pieces, most of them of no word anybody will ask for; of those that
  frequent words consist of there are some tens of thousands.

From all of them the mean of the words is taken off first, as is usual before languages are aligned (Artetxe et al.
2018). Words of a language have much in common (a mean cosine of .5 where vectors are trained on captions), and it is
what they do not have in common that tells them apart.

A word without a vector and without a known piece is left out of its caption.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from groundling.settings import TextSettings
from groundling.text.segmentation import words
from groundling.text.tokens import ANY, Tokeniser, Tokens, pad
from groundling.words.subwords import Subwords
from groundling.words.vectors import Matrix, WordVectors, unit

Table = npt.NDArray[np.float16]
MOST_PIECES = 256  # of a word; letters behind them, in words of more than sixty, are not read


@dataclass(frozen=True)
class VectorTokeniser(Tokeniser):
    """The table is [padding, words, pieces]; `spellings` are its rows, one for a listed word, several for another.

    Attributes:
        words: those that have a row of their own.
        pieces: how words are cut into pieces, and which of those have rows; its own table is empty.
        settings: how captions are cut into words.
        dimensions: of the vectors.
        table: [size, dimensions] float16, all less the mean of words: the unit vectors of words and, all of them made
            shorter alike, the vectors of pieces. It becomes a part of the text encoder and is saved with its weights,
            so that a tokeniser that was loaded has none.
    """

    kind: ClassVar[str] = "vectors"
    words: tuple[str, ...]
    pieces: Subwords | None = field(compare=False)
    settings: TextSettings
    dimensions: int
    table: Table | None = field(default=None, repr=False, compare=False)
    rows: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", {word: 1 + row for row, word in enumerate(self.words)})
        if len(self.rows) != len(self.words):
            raise ValueError("a word stands twice")

    @property
    def size(self) -> int:
        """Rows of the table."""
        return 1 + len(self.words) + (0 if self.pieces is None else len(self.pieces.table))

    @property
    def letters(self) -> int:
        return ANY

    @classmethod
    def build(
        cls,
        vectors: WordVectors,
        texts: Sequence[str],
        languages: Sequence[str],
        settings: TextSettings,
        most: int = 20_000,
        subwords: bool = True,
    ) -> Self:
        """For the training captions `texts`; words of theirs that are not among the first `most` are added."""
        found = {word for text, code in zip(texts, languages, strict=True) for word in _cut(text, code, settings)}
        more = sorted(word for word in found if vectors.rows.get(word, most) >= most)
        added, known = vectors.lookup(more)
        listed = (*vectors.words[:most], *(word for word, there in zip(more, known, strict=True) if there))
        nothing, mean = np.zeros((1, vectors.dimensions), dtype=np.float32), vectors.matrix[:most].mean(axis=0)
        parts: list[Matrix] = [nothing, unit(vectors.matrix[:most] - mean), unit(added[known] - mean)]
        pieces = None
        if subwords and vectors.subwords is not None:
            pieces, rows = _pruned(vectors.subwords, listed)
            rows -= mean  # so that the sum of a word's pieces has the direction of their mean less that of words
            parts.append(rows / np.float32(np.linalg.norm(rows, axis=1).max(initial=1e-9)))
        return cls(listed, pieces, settings, vectors.dimensions, np.concatenate(parts).astype(np.float16))

    def encode(self, texts: Sequence[str], languages: Sequence[str]) -> Tokens:
        """Row 0 of `spellings` is padding, a word without a vector; a caption without any known word is one of it."""
        numbers: dict[str, int] = {}
        spelled: list[list[int]] = [[]]
        lines = []
        for text, language in zip(texts, languages, strict=True):
            line = []
            for word in _cut(text, language, self.settings):
                if word not in numbers:
                    rows = self._spell(word)
                    numbers[word] = len(spelled) if rows else 0
                    if rows:
                        spelled.append(rows)
                if numbers[word]:
                    line.append(numbers[word])
            lines.append(line or [0])
        tokens = pad(lines)
        return Tokens(tokens.ids, tokens.lengths, pad(spelled).ids)

    def _spell(self, word: str) -> list[int]:
        row = self.rows.get(word)
        if row is not None:
            return [row]
        if self.pieces is None:
            return []
        return [1 + len(self.words) + piece for piece in self.pieces.rows(word)[:MOST_PIECES]]

    def listed_words(self) -> Mapping[str, Sequence[str]]:
        return {"": self.words}

    def to_json(self) -> dict[str, object]:
        pieces = None
        if self.pieces is not None:
            assert self.pieces.kept is not None  # noqa: S101 (for the type checker: only some are ever kept)
            pieces = {name: getattr(self.pieces, name) for name in ("shortest", "longest", "buckets")}
            pieces["kept"] = self.pieces.kept.tolist()
        return {
            "kind": self.kind,
            "settings": self.settings.model_dump(),
            "dimensions": self.dimensions,
            "words": list(self.words),
            "pieces": pieces,
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        pieces = value["pieces"]
        if pieces is not None:
            kept = np.array(pieces["kept"], dtype=np.int64)
            pieces = _without_table(pieces["shortest"], pieces["longest"], pieces["buckets"], kept)
        return cls(tuple(value["words"]), pieces, TextSettings(**value["settings"]), int(value["dimensions"]))


def _cut(text: str, language: str, settings: TextSettings) -> list[str]:
    return words(text, language, settings.segmentation)[: settings.maximum_length]


def _pruned(subwords: Subwords, listed: Sequence[str]) -> tuple[Subwords, npt.NDArray[np.float32]]:
    """The pieces that listed words consist of, and their vectors."""
    rows = np.array(sorted({row for word in listed for row in subwords.rows(word)}), dtype=np.int64)
    kept = rows if subwords.kept is None else subwords.kept[rows]
    pieces = _without_table(subwords.shortest, subwords.longest, subwords.buckets, kept)
    return pieces, np.array(subwords.table[rows], dtype=np.float32)


def _without_table(shortest: int, longest: int, buckets: int, kept: npt.NDArray[np.int64]) -> Subwords:
    return Subwords(np.zeros((len(kept), 0), dtype=np.float32), shortest, longest, buckets, kept)
