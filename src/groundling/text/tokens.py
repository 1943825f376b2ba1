"""Captions as numbers: a padded matrix of table rows and the number of real entries in each line."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from groundling.text.vocabulary import PAD


@dataclass(frozen=True)
class Tokens:
    """`ids[i, :lengths[i]]` are the entries of caption i; what follows is padding (0).

    Where words are read letter by letter, `spellings[w]` are the letters of word w and `ids` are rows of it.
    """

    ids: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int64]
    spellings: npt.NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.lengths)


class Tokeniser(Protocol):
    """What a text encoder reads. It is saved with the model as plain JSON."""

    @property
    def size(self) -> int:
        """Rows of the embedding table."""
        ...

    def encode(self, texts: Sequence[str], languages: Sequence[str]) -> Tokens: ...

    def to_json(self) -> dict[str, Any]: ...


def pad(lines: Sequence[Sequence[int]]) -> Tokens:
    lengths = np.array([len(line) for line in lines], dtype=np.int64)
    ids = np.full((len(lines), max(1, int(lengths.max(initial=0)))), PAD, dtype=np.int32)
    ids[np.arange(ids.shape[1]) < lengths[:, None]] = (
        np.concatenate([np.asarray(line, dtype=np.int32) for line in lines]) if len(lines) else []
    )
    return Tokens(ids, lengths)
