"""Words with their character n-grams, hashed into a table of fixed size.

fastText: Bojanowski et al. 2017, "Enriching word vectors with subword information", https://arxiv.org/abs/1607.04606

A word that was never seen still has pieces that were, which matters most for short captions, for compounds and for
rich inflection. Pairs of neighbouring words are hashed too: for scripts written by characters they are the words.
"""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, ClassVar, Self

from groundling.settings import TextSettings
from groundling.text.segmentation import words
from groundling.text.tokens import Tokeniser, Tokens, pad
from groundling.text.vocabulary import UNKNOWN, Vocabulary


@dataclass(frozen=True)
class NgramTokeniser(Tokeniser):
    """Rows of known words, then rows of hashed n-grams (`shortest` to `longest` letters) and neighbouring pairs."""

    kind: ClassVar[str] = "ngrams"
    vocabulary: Vocabulary
    settings: TextSettings
    buckets: int
    shortest: int = 3
    longest: int = 5
    _pieces: dict[str, list[int]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def size(self) -> int:
        return len(self.vocabulary) + self.buckets

    @classmethod
    def build(cls, texts: Sequence[str], languages: Sequence[str], settings: TextSettings, buckets: int) -> Self:
        captions = (
            (code, words(text, code, settings.segmentation)) for text, code in zip(texts, languages, strict=True)
        )
        return cls(Vocabulary.build(captions, settings.minimum_count), settings, buckets)

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

    def listed_words(self) -> Mapping[str, Sequence[str]]:
        return {"": self.vocabulary.words}

    def to_json(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "settings": self.settings.model_dump(),
            "buckets": self.buckets,
            "shortest": self.shortest,
            "longest": self.longest,
            "words": list(self.vocabulary.words),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        vocabulary = Vocabulary(tuple(value["words"]))
        settings = TextSettings(**value["settings"])
        return cls(vocabulary, settings, value["buckets"], value["shortest"], value["longest"])
