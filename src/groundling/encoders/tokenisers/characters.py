"""Words spelled out: the alphabet of the training captions, and each word as its first characters.

LIWE: Wehrmann et al. 2019, "Language-agnostic visual-semantic embeddings", ICCV.

A character is a Unicode code point of normalised (composed, NFKC) text, not a grapheme cluster: é is one character, but
a Devanagari or Thai letter and its vowel sign are two. Clusters are open-ended (every letter with every mark), so many
would never be seen in training; as code points a known letter keeps its vector whatever stands on it, and the alphabet
stays small. Right-to-left scripts need nothing: text is stored in the order it is read in.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from groundling.settings import TextSettings
from groundling.text.segmentation import words
from groundling.text.tokens import Tokeniser, Tokens, pad

PAD, UNKNOWN, START, END = range(4)
SPECIAL = 4
# Control characters (start and end of text, substitute) stand for what no word contains.
_STARTED, _ENDED, _NOTHING = "\x02", "\x03", "\x1a"


@dataclass(frozen=True)
class Cut:
    """How many words of the training captions were too long, so that only their beginning is read.

    Attributes:
        words, of_words: different words cut, and different words in all.
        occurrences, of_occurrences: the same in running text.
    """

    words: int = 0
    of_words: int = 0
    occurrences: int = 0
    of_occurrences: int = 0

    def __str__(self) -> str:
        return (
            f"{self.words:,} of {self.of_words:,} words cut ({self.occurrences:,} of {self.of_occurrences:,} "
            "in running text)"
        )

    @staticmethod
    def count(counts: Counter[str], longest: int) -> "Cut":
        long = {word: count for word, count in counts.items() if len(word) > longest}
        return Cut(len(long), len(counts), sum(long.values()), counts.total())


@dataclass(frozen=True)
class CharacterTokeniser(Tokeniser):
    """Captions as rows of a table of the words in them, and each word as rows of the table of characters.

    Attributes:
        alphabet: the characters that have a vector of their own, in the order of their rows; all others share one.
        longest: characters of a word that are read; the rest is cut (26, as published).
        boundaries: the released code's reading: a start symbol before the first character of the first word and an
            end symbol after the last one of the last word. The paper has none.
        cut: what was cut in the training captions.
    """

    kind: ClassVar[str] = "characters"
    alphabet: tuple[str, ...]
    settings: TextSettings
    longest: int = 26
    boundaries: bool = False
    cut: Cut = Cut()
    rows: dict[str, int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        rows = {character: SPECIAL + place for place, character in enumerate(self.alphabet)}
        if len(rows) != len(self.alphabet):
            raise ValueError("a character stands twice in the alphabet")
        object.__setattr__(self, "rows", {**rows, _STARTED: START, _ENDED: END})

    @property
    def size(self) -> int:
        """Rows of the character table."""
        return SPECIAL + len(self.alphabet)

    @property
    def letters(self) -> int:
        return self.longest

    @classmethod
    def build(
        cls,
        texts: Sequence[str],
        languages: Sequence[str],
        settings: TextSettings,
        longest: int = 26,
        boundaries: bool = False,
    ) -> Self:
        """From training captions only.

        Characters are counted over all languages together, for a letter is the same in each of them. Those rarer than
        the setting `minimum_count` teach the vector that unseen ones will share.
        """
        seen: Counter[str] = Counter()
        for text, language in zip(texts, languages, strict=True):
            seen.update(words(text, language, settings.segmentation)[: settings.maximum_length])
        characters: Counter[str] = Counter()
        for word, count in seen.items():
            for character in word[:longest]:
                characters[character] += count
        alphabet = sorted(character for character, count in characters.items() if count >= settings.minimum_count)
        return cls(tuple(alphabet), settings, longest, boundaries, Cut.count(seen, longest))

    def encode(self, texts: Sequence[str], languages: Sequence[str]) -> Tokens:
        """Row 0 of `spellings` is the padding word, which has no characters. A caption without words is one word of
        one unknown character."""
        numbers: dict[str, int] = {}
        lines = []
        for text, language in zip(texts, languages, strict=True):
            found = self._cut(text, language) or [_NOTHING]
            if self.boundaries:
                found[0] = _STARTED + found[0]
                found[-1] += _ENDED
            lines.append([numbers.setdefault(word, len(numbers) + 1) for word in found])
        tokens = pad(lines)
        return Tokens(tokens.ids, tokens.lengths, self.spell(numbers))

    def spell(self, found: Iterable[str]) -> npt.NDArray[np.int32]:
        """[1 + words, longest] rows of the character table; the padding word comes first."""
        row = self.rows.get
        return pad_to(
            [[], *([row(letter, UNKNOWN) for letter in word[: self.longest]] for word in found)], self.longest
        )

    def spans(self, text: str, language: str) -> tuple[list[str], list[int]]:
        found = self._cut(text, language)
        return found, list(range(len(found)))

    def row_names(self) -> Mapping[str, int]:
        """Special symbols have names that no text contains."""
        return {**self.rows, **{f"\0{row}": row for row in range(SPECIAL)}}

    def known_letters(self) -> set[str]:
        return set(self.alphabet)

    def _cut(self, text: str, language: str) -> list[str]:
        return words(text, language, self.settings.segmentation)[: self.settings.maximum_length]

    def to_json(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "settings": self.settings.model_dump(),
            "longest": self.longest,
            "boundaries": self.boundaries,
            "cut": asdict(self.cut),
            "alphabet": list(self.alphabet),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(
            tuple(value["alphabet"]),
            TextSettings(**value["settings"]),
            value["longest"],
            value["boundaries"],
            Cut(**value["cut"]),
        )


def pad_to(lines: Sequence[Sequence[int]], width: int) -> npt.NDArray[np.int32]:
    """The lines as a matrix of exactly this width, filled up with PAD."""
    matrix = np.full((len(lines), width), PAD, dtype=np.int32)
    lengths = np.array([len(line) for line in lines])
    matrix[np.arange(width) < lengths[:, None]] = [entry for line in lines for entry in line]
    return matrix
