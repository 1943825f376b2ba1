"""Captions as rows of a table of words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from groundling.settings import TextSettings
from groundling.text.segmentation import words
from groundling.text.tokens import Tokens, pad
from groundling.text.vocabulary import END, START, Vocabulary


@dataclass(frozen=True)
class WordTokeniser:
    """Words of a vocabulary between a start and an end symbol."""

    vocabulary: Vocabulary
    settings: TextSettings

    @property
    def size(self) -> int:
        return len(self.vocabulary)

    @staticmethod
    def build(texts: Sequence[str], languages: Sequence[str], settings: TextSettings) -> "WordTokeniser":
        """From training captions only."""
        captions = (
            (language, words(text, language, settings.segmentation))
            for text, language in zip(texts, languages, strict=True)
        )
        return WordTokeniser(Vocabulary.build(captions, settings.minimum_count), settings)

    def encode(self, texts: Sequence[str], languages: Sequence[str]) -> Tokens:
        row = self.vocabulary.row
        lines = []
        for text, language in zip(texts, languages, strict=True):
            found = words(text, language, self.settings.segmentation)[: self.settings.maximum_length]
            lines.append([START, *(row(word) for word in found), END])
        return pad(lines)

    def to_json(self) -> dict[str, Any]:
        return {"kind": "words", "settings": self.settings.model_dump(), "words": list(self.vocabulary.words)}

    @staticmethod
    def from_json(value: dict[str, Any]) -> "WordTokeniser":
        return WordTokeniser(Vocabulary(tuple(value["words"])), TextSettings(**value["settings"]))
