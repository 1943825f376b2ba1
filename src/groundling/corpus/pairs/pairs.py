"""Sentences of new languages, and for each the known ones that mean the same: one split of them, of any size."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from groundling.corpus.corpus import Corpus
from groundling.corpus.pairs.distinct import Hashes, hash_of
from groundling.corpus.texts import Codes, ListedTexts, Texts

Numbers = npt.NDArray[np.integer]


@dataclass(frozen=True)
class SentencePairs:
    """What a student reads, and what its teacher has read.

    Attributes:
        new, languages: sentences, and the language of each.
        known, known_languages: the same of known ones, each there once.
        hashes: [known] of language and text.
        partners: for all new sentences one after the other, the known ones that mean the same.
        starts: [new + 1] where those of each begin.
        folder: where what is made of them may be kept; None: nowhere.
    """

    name: str
    new: Texts
    languages: Codes
    known: Texts
    known_languages: Codes
    hashes: Hashes
    partners: Numbers
    starts: Numbers
    folder: Path | None = None

    def __len__(self) -> int:
        return len(self.new)

    def partner(self, rows: Numbers, draw: npt.NDArray[np.float64] | None = None) -> npt.NDArray[np.int64]:
        """A known sentence for each of these new ones: the first, or one drawn by numbers from 0 to below 1."""
        first = self.starts[rows]
        turn = 0 if draw is None else (draw * (self.starts[rows + 1] - first)).astype(np.int64)
        return self.partners[first + turn].astype(np.int64)

    @staticmethod
    def of_corpus(corpus: Corpus, new: Sequence[str]) -> "SentencePairs":
        """Captions in new languages with the known ones of the same owner; those without any are left out."""
        codes, languages = np.unique(corpus.languages, return_inverse=True)
        is_new = np.isin(corpus.languages, list(new))
        by_owner: dict[int, list[int]] = {}
        places: dict[tuple[str, str], int] = {}
        for row in np.flatnonzero(~is_new).tolist():
            said = (str(corpus.languages[row]), corpus.texts[row])
            by_owner.setdefault(int(corpus.owners[row]), []).append(places.setdefault(said, len(places)))
        rows = [row for row in np.flatnonzero(is_new).tolist() if int(corpus.owners[row]) in by_owner]
        beside = [by_owner[int(corpus.owners[row])] for row in rows]
        known_codes = sorted({code for code, _ in places})
        digests = b"".join(hash_of(code, text) for code, text in places)
        return SentencePairs(
            corpus.name,
            ListedTexts([corpus.texts[row] for row in rows]),
            Codes(codes.tolist(), languages[rows]),
            ListedTexts([text for _, text in places]),
            Codes(known_codes, np.array([known_codes.index(code) for code, _ in places], dtype=np.int16)),
            np.frombuffer(digests, dtype=">u8").astype(np.uint64),
            np.array([number for numbers in beside for number in numbers], dtype=np.int64),
            np.cumsum([0, *map(len, beside)], dtype=np.int64),
        )
