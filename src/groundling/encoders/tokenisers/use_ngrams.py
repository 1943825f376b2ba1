"""Captions both ways: as the Universal Sentence Encoder has them, and as their words and letter n-grams. Extra `use`.

A caption is one word. Its first 512 letters are the encoder's vector (see `use`), all of them 0 in a language that the
encoder does not know, for what it makes of Czech misleads; the others are its words and n-grams (see `ngrams`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from groundling.encoders.tokenisers import use
from groundling.encoders.tokenisers.ngrams import NgramTokeniser
from groundling.settings import TextSettings
from groundling.text.tokens import Tokeniser, Tokens

PIECES = 96  # of a caption, as many as fifteen words have; what follows them is left to the sentence vector


@dataclass(frozen=True)
class UseNgramTokeniser(Tokeniser):
    """`version` is that of the package that carries the sentence encoder."""

    kind: ClassVar[str] = "use_ngrams"
    pretrained: ClassVar[bool] = True
    ngrams: NgramTokeniser
    version: str

    @property
    def settings(self) -> TextSettings:  # type: ignore[override]
        return self.ngrams.settings

    @property
    def size(self) -> int:
        return max(self.ngrams.size, use.STEPS + 2)

    @property
    def letters(self) -> int:
        return use.LETTERS + PIECES

    @classmethod
    def build(cls, texts: Sequence[str], languages: Sequence[str], settings: TextSettings, buckets: int) -> Self:
        return cls(NgramTokeniser.build(texts, languages, settings, buckets), use.version())

    def encode(self, texts: Sequence[str], languages: Sequence[str]) -> Tokens:
        """Captions that are the same in the same language are one word."""
        place: dict[tuple[str, str], int] = {}
        ids = [place.setdefault(caption, 1 + len(place)) for caption in zip(texts, languages, strict=True)]
        pieces = self.ngrams.encode([text for text, _ in place], [code for _, code in place]).ids[:, :PIECES]
        spellings = np.zeros((1 + len(place), self.letters), dtype=np.int32)
        spellings[1:, use.LETTERS : use.LETTERS + pieces.shape[1]] = pieces
        known = [(row, text) for (text, code), row in place.items() if code.split("-")[0] in use.LANGUAGES]
        number = {text: number for number, text in enumerate(dict.fromkeys(text for _, text in known))}
        vectors = use.spelled(list(number))
        spellings[[row for row, _ in known], : use.LETTERS] = vectors[[number[text] for _, text in known]]
        return Tokens(np.array(ids, dtype=np.int32).reshape(-1, 1), np.ones(len(ids), dtype=np.int64), spellings)

    def listed_words(self) -> Mapping[str, Sequence[str]]:
        return self.ngrams.listed_words()

    def to_json(self) -> dict[str, object]:
        return {**self.ngrams.to_json(), "kind": self.kind, "version": self.version}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(NgramTokeniser.from_json(value), use.checked_version(value["version"]))
