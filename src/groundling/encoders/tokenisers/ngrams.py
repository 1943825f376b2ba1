"""Words with their character n-grams, hashed into a table of fixed size (Bojanowski et al. 2017, fastText).

A word that was never seen still has pieces that were, which matters most for short captions, for compounds and for
rich inflection. Pairs of neighbouring words are hashed too: for scripts written by characters they are the words.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from groundling.settings import TextSettings
from groundling.text.segmentation import words
from groundling.text.tokens import Tokens, pad
from groundling.text.vocabulary import UNKNOWN, Vocabulary


@dataclass(frozen=True)
class NgramTokeniser:
    """Rows of known words, then rows of hashed n-grams (`shortest` to `longest` letters) and neighbouring pairs."""

    vocabulary: Vocabulary
    settings: TextSettings
    buckets: int
    shortest: int = 3
    longest: int = 5
    _pieces: dict[str, list[int]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def size(self) -> int:
        return len(self.vocabulary) + self.buckets

    @staticmethod
    def build(texts: Sequence[str], languages: Sequence[str], settings: TextSettings, buckets: int) -> "NgramTokeniser":
        captions = (
            (code, words(text, code, settings.segmentation)) for text, code in zip(texts, languages, strict=True)
        )
        return NgramTokeniser(Vocabulary.build(captions, settings.minimum_count), settings, buckets)

    def encode(self, texts: Sequence[str], languages: Sequence[str]) -> Tokens:
        lines = []
        for text, language in zip(texts, languages, strict=True):
            found = words(text, language, self.settings.segmentation)[: self.settings.maximum_length]
            line = [piece for word in found for piece in self._of_word(word)]
            line += [self._bucket(f"{a} {b}") for a, b in pairwise(found)]
            lines.append(line or [UNKNOWN])
        return pad(lines)

    def _of_word(self, word: str) -> list[int]:
        pieces = self._pieces.get(word)
        if pieces is None:
            row = self.vocabulary.rows.get(word)
            framed = f"<{word}>"
            pieces = [] if row is None else [row]
            for size in range(self.shortest, self.longest + 1):
                if size < len(framed):
                    pieces += [self._bucket(framed[at : at + size]) for at in range(len(framed) - size + 1)]
            if len(word) == 1 and row is None:
                pieces.append(self._bucket(framed))
            self._pieces[word] = pieces
        return pieces

    def _bucket(self, piece: str) -> int:
        return len(self.vocabulary) + zlib.crc32(piece.encode()) % self.buckets

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": "ngrams",
            "settings": self.settings.model_dump(),
            "buckets": self.buckets,
            "shortest": self.shortest,
            "longest": self.longest,
            "words": list(self.vocabulary.words),
        }

    @staticmethod
    def from_json(value: dict[str, Any]) -> "NgramTokeniser":
        vocabulary = Vocabulary(tuple(value["words"]))
        settings = TextSettings(**value["settings"])
        return NgramTokeniser(vocabulary, settings, value["buckets"], value["shortest"], value["longest"])
