"""A question made of several: words and a picture that are wanted, and words that are not.

The vectors of the parts are added, those that are not wanted taken away, and the sum is looked for: what is found is
near all that is wanted, and turned away from the rest.

>>> Query(["dog", "beach"], without=["child"])
"dog" + "beach" − "child"
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundling.errors import UserError
from groundling.model.vectors import Vectors

if TYPE_CHECKING:
    from groundling.search.index import Index

NOTHING_LEFT = 1e-3  # length of a sum whose parts cancel each other


@dataclass(frozen=True, repr=False)
class Query:
    """What to look for.

    Attributes:
        words: all of them are wanted.
        without: words that are not.
        picture: a file, or its bytes, that what is found should be like.
        languages: of the words; several are read at once, none are guessed for each of the words by itself.
    """

    words: Sequence[str] = ()
    without: Sequence[str] = ()
    picture: str | Path | bytes | None = None
    languages: Sequence[str] = ()

    def __repr__(self) -> str:
        wanted = ["(picture)"] if isinstance(self.picture, bytes) else [str(self.picture)] if self.picture else []
        wanted += [f'"{text}"' for text in self.words]
        return " − ".join([" + ".join(wanted), *(f'"{text}"' for text in self.without)])

    def vector(self, index: "Index") -> Vectors:
        """A unit vector in the space of an index."""
        if not self.words and self.picture is None:
            raise UserError("say what to look for, not only what to leave out")
        parts = [self._read(index, text) for text in self.words]
        if self.picture is not None:
            parts.append(index.look(self.picture))
        if len(parts) == 1 and not self.without:
            return parts[0]
        total = np.sum(parts, axis=0) - sum(self._read(index, text) for text in self.without)
        length = float(np.linalg.norm(total))
        if length < NOTHING_LEFT:
            raise UserError("what is wanted and what is not are the same, so that nothing is left to look for")
        return np.asarray(total / length, dtype=np.float32)

    def _read(self, index: "Index", text: str) -> Vectors:
        """The vector of some words: read in each of the languages, and the mean of these."""
        if len(self.languages) < 2:
            return index.encode(text, next(iter(self.languages), None))
        read = [index.encode(text, code) for code in self.languages]
        mean = np.mean(read, axis=0)
        return np.asarray(mean / max(float(np.linalg.norm(mean)), NOTHING_LEFT), dtype=np.float32)
