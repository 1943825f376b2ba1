"""Captions of languages that a model knew, and of languages that it was taught later, each cut by its own tokeniser."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from groundling.settings import TextSettings
from groundling.text.tokens import ANY, Tokeniser, Tokens


@dataclass(frozen=True, eq=False)
class TaughtTokeniser(Tokeniser):
    """The teacher's tokeniser for every language but the taught ones; those have the student's.

    Entries of the student stand behind those of the teacher, so that the first entry of a caption tells who reads it.
    Where either of the two spells words, a word of the other is spelled with one letter: itself.

    Attributes:
        languages: the taught ones.
        known: those that the teacher knows, taught ones of earlier lessons among them.
        about: the settings of the teacher's system, and of the student: what is needed to build their encoders again.
    """

    kind: ClassVar[str] = "taught"
    teacher: Tokeniser
    student: Tokeniser
    languages: tuple[str, ...]
    known: tuple[str, ...]
    about: dict[str, Any] = field(repr=False)
    settings: TextSettings = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", self.teacher.settings)

    @property
    def offset(self) -> int:
        """Where the student's entries begin."""
        return self.teacher.size

    @property
    def size(self) -> int:
        return self.teacher.size + self.student.size

    @property
    def reads(self) -> list[str]:
        """Every language that the model knows now."""
        return [*(code for code in self.known if code not in self.languages), *self.languages]

    @property
    def codes(self) -> list[str]:
        """One language for each of those who read."""
        inner = self.teacher.codes if len(self.teacher.readers()) > 1 else [self.known[0]]
        return [*inner, self.languages[0]]

    @property
    def letters(self) -> int:
        return ANY

    def readers(self) -> list[Tokeniser]:
        return [*self.teacher.readers(), self.student]

    def reader_of(self, language: str) -> int:
        return len(self.readers()) - 1 if language in self.languages else self.teacher.reader_of(language)

    def reader_languages(self) -> list[list[str]]:
        return [*self.teacher.reader_languages(), list(self.languages)]

    def encode(self, texts: Sequence[str], languages: Sequence[str]) -> Tokens:
        taught = np.array([code in self.languages for code in languages], dtype=bool)
        parts = []
        for tokeniser, mine in ((self.teacher, ~taught), (self.student, taught)):
            rows = np.flatnonzero(mine).tolist()
            parts.append(tokeniser.encode([texts[row] for row in rows], [languages[row] for row in rows]))
        if len(texts) and (all(taught) or not any(taught)):  # who reads nothing says nothing about letters
            spelled = parts[int(taught[0])].spellings is not None
        else:
            spelled = any(part.spellings is not None for part in parts)
        return _merged(parts, taught, self.offset, spelled)

    def to_json(self) -> dict[str, object]:
        return {
            "kind": self.kind,
            "settings": self.settings.model_dump(),
            "languages": list(self.languages),
            "known": list(self.known),
            "about": self.about,
            "teacher": self.teacher.to_json(),
            "student": self.student.to_json(),
        }

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        from groundling.encoders.tokenisers import from_json  # which knows this file

        teacher, student = from_json(value["teacher"]), from_json(value["student"])
        return cls(teacher, student, tuple(value["languages"]), tuple(value["known"]), value["about"])


def _merged(parts: list[Tokens], second: npt.NDArray[np.bool_], offset: int, spelled: bool) -> Tokens:
    """The lines of two tokenisers in the order of captions; entries of the second are moved by `offset`."""
    ids = np.zeros((len(second), max(part.ids.shape[1] for part in parts)), dtype=np.int32)
    lengths = np.zeros(len(second), dtype=np.int64)
    width = max(1 if part.spellings is None else part.spellings.shape[1] for part in parts)
    words = [np.zeros((1, width), dtype=np.int32)]  # the padding word, which nobody's letters spell
    for part, mine, first in zip(parts, (~second, second), (0, offset), strict=True):
        entries, spellings = part.ids, part.spellings
        if spelled:
            if spellings is None:
                found, places = np.unique(entries, return_inverse=True)
                entries, spellings = places.reshape(entries.shape).astype(np.int32), found[:, None]
            wide = np.zeros((len(spellings), width), dtype=np.int32)
            wide[:, : spellings.shape[1]] = spellings
            entries = entries + sum(map(len, words))
            words.append(wide + first)
        else:
            entries = entries + first
        real = np.arange(entries.shape[1]) < part.lengths[:, None]
        ids[mine, : entries.shape[1]] = np.where(real, entries, 0)
        lengths[mine] = part.lengths
    return Tokens(ids, lengths, np.concatenate(words) if spelled else None)
