"""Captions as rows of one table in which every language has words of its own.

MULE: Kim et al. 2020, "MULE: Multimodal universal language embedding", https://arxiv.org/abs/1909.03493

The German "pig" and the English "pig" are two words here, so that a row tells its language. Words outside the
vocabulary are dropped, as published, not mapped to an unknown one.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from groundling.errors import UserError, did_you_mean
from groundling.settings import TextSettings
from groundling.text.segmentation import words
from groundling.text.tokens import Tokeniser, Tokens, pad
from groundling.text.vocabulary import FIRST


def count_words(texts: Sequence[str], languages: Sequence[str], settings: TextSettings) -> dict[str, Counter[str]]:
    """How often each language uses each of its words; languages by name."""
    counts: dict[str, Counter[str]] = {code: Counter() for code in sorted(set(languages))}
    for text, language in zip(texts, languages, strict=True):
        counts[language].update(words(text, language, settings.segmentation))
    return counts


def frequent(counts: Counter[str], minimum: int) -> tuple[str, ...]:
    """Words with at least so many occurrences, the most frequent first; ties by name."""
    return tuple(sorted((word for word, count in counts.items() if count >= minimum), key=lambda w: (-counts[w], w)))


@dataclass(frozen=True, eq=False)
class LanguageTokeniser(Tokeniser):
    """Words of each language, in rows that follow one another.

    A language's rows begin with one that stands for nothing: what is left of a caption that loses all its words. It
    is learned like a word, so that such a caption is at least one of its language. Captions are cut after words were
    dropped.

    Attributes:
        vocabularies: language → its words, in the order of their rows.
        dimensions: numbers to a word.
        dictionary_mapping: language → word → (language, word) that it is read as: rare words that a dictionary knows.
        latent: language → word → the number of the latent token that it is read as: rare words of HEM (Burns et al.
            2020, https://arxiv.org/abs/2004.04312). Rows of tokens follow those of all languages.
        tokens: how many latent tokens there are.
        start: [bounds[-1], dimensions] the vectors that training begins with. Not saved: a trained model has its own.
        latent_start: [tokens, universal dimensions] those of the latent tokens.
    """

    kind: ClassVar[str] = "languages"
    vocabularies: Mapping[str, Sequence[str]]
    settings: TextSettings
    dimensions: int
    dictionary_mapping: Mapping[str, Mapping[str, tuple[str, str]]] = field(default_factory=dict)
    start: npt.NDArray[np.float32] | None = field(default=None, repr=False)
    latent: Mapping[str, Mapping[str, int]] = field(default_factory=dict, repr=False)
    tokens: int = 0
    latent_start: npt.NDArray[np.float32] | None = field(default=None, repr=False)
    rows: dict[str, dict[str, int]] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        rows = {}
        for first, (code, listed) in zip(self.bounds, self.vocabularies.items(), strict=False):
            rows[code] = {word: first + 1 + place for place, word in enumerate(listed)}
            if len(rows[code]) != len(listed):
                raise ValueError(f"a word stands twice in the vocabulary of {code}")
        shared = {
            code: {word: rows[other][as_word] for word, (other, as_word) in mapping.items()}
            for code, mapping in self.dictionary_mapping.items()
        }
        for code, numbers in self.latent.items():
            if not all(0 <= number < self.tokens for number in numbers.values()):
                raise ValueError(f"a word of {code} is a latent token that does not exist")
            shared[code] = {**shared.get(code, {}), **{word: self.bounds[-1] + n for word, n in numbers.items()}}
        object.__setattr__(self, "rows", {code: {**shared.get(code, {}), **own} for code, own in rows.items()})

    @property
    def codes(self) -> list[str]:
        return list(self.vocabularies)

    @property
    def bounds(self) -> list[int]:
        """Where the rows of each language begin, and where the last ones end."""
        sizes = [1 + len(listed) for listed in self.vocabularies.values()]
        return [FIRST + sum(sizes[:place]) for place in range(len(sizes) + 1)]

    @property
    def size(self) -> int:
        return self.bounds[-1] + self.tokens

    @classmethod
    def build(cls, texts: Sequence[str], languages: Sequence[str], settings: TextSettings, dimensions: int) -> Self:
        """Every word that is frequent enough in its language, from training captions only."""
        counts = count_words(texts, languages, settings)
        return cls(
            {code: frequent(found, settings.minimum_count) for code, found in counts.items()}, settings, dimensions
        )

    def encode(self, texts: Sequence[str], languages: Sequence[str]) -> Tokens:
        nothing = dict(zip(self.vocabularies, self.bounds, strict=False))
        lines = []
        for text, language in zip(texts, languages, strict=True):
            if language not in self.rows:
                raise UserError(
                    f'this model reads {", ".join(self.rows)}, not "{language}"{did_you_mean(language, self.rows)}'
                )
            known = self.rows[language]
            found = [known[word] for word in words(text, language, self.settings.segmentation) if word in known]
            lines.append(found[: self.settings.maximum_length] or [nothing[language]])
        return pad(lines)

    def listed_words(self) -> Mapping[str, Sequence[str]]:
        return self.vocabularies

    def to_json(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "settings": self.settings.model_dump(),
            "dimensions": self.dimensions,
            "languages": {code: len(listed) for code, listed in self.vocabularies.items()},
            "words": [word for listed in self.vocabularies.values() for word in listed],
            "loans": {  # so it is called in saved files
                code: {word: list(to) for word, to in mapping.items()}
                for code, mapping in self.dictionary_mapping.items()
            },
            "tokens": self.tokens,
            "latent": {code: dict(numbers) for code, numbers in self.latent.items()},
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        vocabularies, rest = {}, list(value["words"])
        for code, count in value["languages"].items():
            vocabularies[code], rest = tuple(rest[:count]), rest[count:]
        mapping = {
            code: {word: (to[0], to[1]) for word, to in entries.items()} for code, entries in value["loans"].items()
        }
        return cls(
            vocabularies,
            TextSettings(**value["settings"]),
            value["dimensions"],
            mapping,
            latent=value.get("latent", {}),
            tokens=value.get("tokens", 0),
        )
