"""Character n-grams of a word, hashed into a table as fastText does it (Bojanowski et al. 2017).

A word is framed (`<dog>`), cut into pieces of `shortest` to `longest` letters, and every piece has a bucket of the
table. The vector of a word that was never seen is the mean of its pieces. The hash must be fastText's to the bit:
it is how the rows of a published table are found.
"""

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from groundling.words.blocks import Change, Matrix, changed_blocks

Rows = npt.NDArray[np.int64]

END_OF_SENTENCE = "</s>"  # fastText's line break: a word without pieces
_PRIME, _START, _MASK = 16777619, 2166136261, 0xFFFFFFFF
# FNV-1a works on unsigned bytes, but fastText's bytes are signed: from 128 on they fill the upper 24 bits with ones.
_SIGNED = [byte if byte < 128 else byte | 0xFFFFFF00 for byte in range(256)]


def piece_hashes(word: str, shortest: int, longest: int) -> list[int]:
    """Hashes of all pieces of `<word>`, in fastText's order: by first letter, then by length.

    The frame alone (`<` or `>`) is no piece. Hashes are carried on from the shorter piece to the longer one.
    """
    if word == END_OF_SENTENCE:
        return []
    letters = [letter.encode("utf-8", "surrogatepass") for letter in f"<{word}>"]
    found = []
    last = len(letters)
    for start in range(last):
        value = _START
        for stop in range(start, min(start + longest, last)):
            for byte in letters[stop]:
                value = ((value ^ _SIGNED[byte]) * _PRIME) & _MASK
            size = stop - start + 1
            if size >= shortest and not (size == 1 and (start == 0 or stop == last - 1)):
                found.append(value)
    return found


@dataclass(frozen=True, eq=False)
class Subwords:
    """The table of n-gram vectors.

    Attributes:
        table: one row per bucket that is kept, float32.
        shortest, longest: letters of a piece.
        buckets: what hashes are taken modulo of.
        kept: the bucket of each row, ascending; None where every bucket has its row. Vectors trained on a small corpus
            use a small part of the buckets: the others hold nothing but the noise they started with.
    """

    table: Matrix
    shortest: int
    longest: int
    buckets: int
    kept: Rows | None = None
    _row_of: dict[int, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not 1 <= self.shortest <= self.longest:
            raise ValueError(f"pieces of {self.shortest} to {self.longest} letters")
        rows = self.buckets if self.kept is None else len(self.kept)
        if self.buckets < 1 or len(self.table) != rows:
            raise ValueError(f"{len(self.table)} rows for {rows} buckets")
        kept = [] if self.kept is None else self.kept.tolist()
        object.__setattr__(self, "_row_of", {bucket: row for row, bucket in enumerate(kept)})

    def rows(self, word: str) -> list[int]:
        """Rows of the table for the pieces of `word`; pieces without a row are left out."""
        buckets = (value % self.buckets for value in piece_hashes(word, self.shortest, self.longest))
        if self.kept is None:
            return list(buckets)
        return [self._row_of[bucket] for bucket in buckets if bucket in self._row_of]

    def vector(self, word: str) -> Matrix | None:
        """The mean of the word's pieces; None where no piece is known."""
        rows = self.rows(word)
        return np.asarray(self.table[rows], dtype=np.float32).mean(axis=0) if rows else None

    def changed(self, change: Change) -> "Subwords":
        """The same pieces with every row changed, all held in memory (`storage.save` can change rows as it writes)."""
        table = np.concatenate(list(changed_blocks(self.table, change)))
        return Subwords(table, self.shortest, self.longest, self.buckets, self.kept)
