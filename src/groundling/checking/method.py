"""A way to check captions against pictures: what a model is asked, and what it needs to see for that."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy.typing as npt

from groundling.checking.answer import Answer
from groundling.checking.languages import reading_of
from groundling.checking.problem import NotChecked
from groundling.corpus.formats.checks import BadRow, caption_text
from groundling.model import Model, Vectors
from groundling.model.reading import TextReading
from groundling.text.language_detection import checked_language


@dataclass(frozen=True)
class Question:
    """A caption, how the model reads it, the name of its picture, and where it stands in its table."""

    text: str
    reading: TextReading
    picture: str
    line: int = 0


class Method(ABC):
    """The ways are its subclasses: `checker.Checker` and `matcher.Matcher`.

    Class attributes:
        answer: what it answers with.
        at_once: how many captions of a table are asked about together; all of them where None.

    Attributes:
        model: who is asked.
    """

    answer: ClassVar[type[Answer]]
    at_once: ClassVar[int | None]
    model: Model

    @abstractmethod
    def look(self, prepared: Sequence[npt.NDArray[Any]]) -> Vectors:
        """[pictures, …] what is kept of pictures that the model's `preparation` gave."""

    @abstractmethod
    def answers(self, questions: Sequence[Question], looked: Mapping[str, Vectors]) -> list[Answer]:
        """To questions about pictures that were looked at."""

    @abstractmethod
    def notes(self, languages: Sequence[str]) -> list[str]:
        """What a reader of the answers, in these languages, should know of how they were made."""

    @abstractmethod
    def check(self, picture: str | Path, text: str, language: str | None, others: Sequence[str | Path]) -> Answer:
        """One text about one picture file, compared with others where that helps."""

    def known(self, language: str) -> str:
        """A language that the user has named, as the model knows it."""
        return checked_language(language, self.model.languages)

    def read(self, text: str, given: str | None = None) -> TextReading:
        """How a text that can be checked is read. Raises NotChecked where the model does not know language or words."""
        try:
            caption_text(text)
        except BadRow as problem:
            raise NotChecked(str(problem)) from None
        return reading_of(self.model, text, given)
