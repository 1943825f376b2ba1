"""Captions as rows of a table of words, which all languages share.

>>> tokeniser = WordTokeniser.build(["a dog", "ein Hund"], ["en", "de"], TextSettings(minimum_count=1))
>>> tokeniser.encode(["a dog sleeps"], ["en"]).ids.tolist()  # start, a, dog, an unknown word, end
[[1, 4, 5, 3, 2]]
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from groundling.settings import TextSettings
from groundling.text.segmentation import words
from groundling.text.tokens import Tokeniser, TokenizerRules, Tokens, pad
from groundling.text.vocabulary import END, SPECIAL, START, Vocabulary


@dataclass(frozen=True)
class WordTokeniser(Tokeniser):
    """Words of a vocabulary between a start and an end symbol."""

    kind: ClassVar[str] = "words"
    vocabulary: Vocabulary
    settings: TextSettings

    @property
    def size(self) -> int:
        return len(self.vocabulary)

    @property
    def symbols(self) -> Sequence[int]:
        return START, END

    @classmethod
    def build(cls, texts: Sequence[str], languages: Sequence[str], settings: TextSettings) -> Self:
        """From training captions only."""
        captions = (
            (language, words(text, language, settings.segmentation))
            for text, language in zip(texts, languages, strict=True)
        )
        return cls(Vocabulary.build(captions, settings.minimum_count), settings)

    def encode(self, texts: Sequence[str], languages: Sequence[str]) -> Tokens:
        row = self.vocabulary.row
        lines = []
        for text, language in zip(texts, languages, strict=True):
            lines.append([START, *(row(word) for word in self._cut(text, language)), END])
        return pad(lines)

    def spans(self, text: str, language: str) -> tuple[list[str], list[int]]:
        found = self._cut(text, language)
        return found, list(range(1, 1 + len(found)))  # after the symbol for the start

    def row_names(self) -> Mapping[str, int]:
        """Special symbols have names that no text contains."""
        return {**self.vocabulary.rows, **{f"\0{row}": row for row in range(len(SPECIAL))}}

    def listed_words(self) -> Mapping[str, Sequence[str]]:
        return {"": self.vocabulary.words}

    def tokenizer_rules(self) -> TokenizerRules:
        from groundling.encoders.tokenisers.word_rules import word_rules

        return word_rules(self.vocabulary, self.settings)

    def to_json(self) -> dict[str, object]:
        return {"kind": self.kind, "settings": self.settings.model_dump(), "words": list(self.vocabulary.words)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(Vocabulary(tuple(value["words"])), TextSettings(**value["settings"]))

    def _cut(self, text: str, language: str) -> list[str]:
        return words(text, language, self.settings.segmentation)[: self.settings.maximum_length]
