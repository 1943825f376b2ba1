"""Words with their vectors, and vectors for words that are not in the list where there are subwords."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from groundling.large_arrays import rows_of
from groundling.words.blocks import Change, Matrix, changed_blocks
from groundling.words.subwords import Subwords

__all__ = ["HELD_UP_TO", "Matrix", "WordVectors", "unit"]

HELD_UP_TO = 256 * 2**20  # bytes of vectors that are read into memory; more lie in a file that is mapped

Mask = np.typing.NDArray[np.bool_]


def unit(matrix: Matrix) -> Matrix:
    """A copy with rows of length one; a row of zeros stays zero.

    >>> unit(np.array([[3, 4], [0, 0]], dtype=np.float32)).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    result = np.array(matrix, dtype=np.float32)
    for at in range(0, len(result), 16_384):
        part = result[at : at + 16_384]
        length = np.sqrt(np.einsum("ij,ij->i", part, part, dtype=np.float64))
        part /= np.where(length > 0, length, 1)[:, None].astype(np.float32)
    return result


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Words, most frequent first where the source knew, and one float32 row for each.

    Attributes:
        words: no word stands twice.
        matrix: row i is the vector of word i, subwords already in it.
        subwords: the n-gram table, for words that are not listed.
    """

    words: tuple[str, ...]
    matrix: Matrix
    subwords: Subwords | None = None
    rows: dict[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or len(self.matrix) != len(self.words):
            raise ValueError(f"{len(self.words)} words for a matrix of shape {self.matrix.shape}")
        if self.subwords is not None and self.subwords.table.shape[1] != self.dimensions:
            raise ValueError(f"subwords of {self.subwords.table.shape[1]} dimensions, words of {self.dimensions}")
        object.__setattr__(self, "rows", {word: row for row, word in enumerate(self.words)})
        if len(self.rows) != len(self.words):
            raise ValueError("a word stands twice")

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.rows

    @property
    def dimensions(self) -> int:
        return int(self.matrix.shape[1])

    def vector(self, word: str) -> Matrix | None:
        """The vector of any word: its row, else the mean of its pieces, else None."""
        row = self.rows.get(word)
        if row is not None:
            return self.matrix[row]
        return self.subwords.vector(word) if self.subwords else None

    def lookup(self, words: Sequence[str]) -> tuple[Matrix, Mask]:
        """One row per word, and whether there is a vector for it (a row of zeros where there is none)."""
        result = np.zeros((len(words), self.dimensions), dtype=np.float32)
        found = np.zeros(len(words), dtype=bool)
        for place, word in enumerate(words):
            vector = self.vector(word)
            if vector is not None:
                result[place], found[place] = vector, True
        return result, found

    def unit(self) -> Matrix:
        """The matrix with rows of length one."""
        return unit(self.matrix)

    def first(self, words: int) -> "WordVectors":
        """The first so many words; the subwords stay."""
        return WordVectors(self.words[:words], self.matrix[:words], self.subwords)

    def folded(self, fold: Callable[[str], str]) -> "WordVectors":
        """Words as captions are read, in lower case: a word that is listed so keeps its vector, any other has that of
        the first, most frequent, word that is folded to it ("Hund" for "hund"). The subwords stay.

        >>> words = WordVectors(("Hund", "HUND", "an", "An"), np.eye(4, dtype=np.float32))
        >>> folded = words.folded(str.lower)
        >>> folded.words, folded.matrix.argmax(axis=1).tolist()
        (('hund', 'an'), [0, 2])
        """
        chosen: dict[str, int] = {}
        for row, word in enumerate(self.words):
            key = fold(word)
            if key and (key not in chosen or key == word):
                chosen[key] = row
        matrix = rows_of(self.matrix, np.array(list(chosen.values()), dtype=np.int64), large=HELD_UP_TO)
        return WordVectors(tuple(chosen), matrix, self.subwords)

    def changed(self, change: Change) -> "WordVectors":
        """Every row of words and of subwords changed alike, all held in memory.

        For a change of the form x ↦ Mx + c a new word's vector is changed with its pieces, since it is their mean.
        """
        subwords = None if self.subwords is None else self.subwords.changed(change)
        return WordVectors(self.words, np.concatenate(list(changed_blocks(self.matrix, change))), subwords)
