"""What a model says of a caption and its picture, in the form that tables, sheets and programs share."""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from groundling.checking.words import MisfitWord

Value = str | float | None  # of a cell, where whole numbers are floats, too


class Answer(ABC):
    """One row's answer. The kinds of answers are its subclasses, which are dataclasses.

    Class attributes:
        labels: what it may be, the worst first, each with the words for "so many captions are …".
        signs, in_words: of each label, for the sheet.
        heads: of the columns that `cells` fill.

    Attributes:
        label: what it is.
        language: the text's, as the model reads it.
        detected: whether that was detected rather than given.
        unknown_words: words of the text that the model does not know.
        better_picture, better_caption: what fits better, where such things are compared and anything does.
        misfits: words without which the text fits better, where such words are looked for.
    """

    labels: ClassVar[dict[str, str]]
    signs: ClassVar[dict[str, str]]
    in_words: ClassVar[dict[str, str]]
    heads: ClassVar[tuple[str, ...]]

    label: str
    language: str
    detected: bool
    unknown_words: tuple[str, ...]
    better_picture: str = ""
    better_caption: str = ""
    misfits: "tuple[MisfitWord, ...]" = ()

    @property
    @abstractmethod
    def badness(self) -> tuple[float, ...]:
        """Larger for what should be looked at first."""

    @property
    @abstractmethod
    def shares(self) -> dict[str, float]:
        """Probabilities by name, for bars; none where it has none."""

    @property
    def sure(self) -> bool:
        """Whether the label is more probable than all others together."""
        return True

    @abstractmethod
    def cells(self) -> tuple[str, ...]:
        """The numbers, for a table in a terminal."""

    @abstractmethod
    def told(self) -> str:
        """The numbers, in a line."""

    @abstractmethod
    def as_json(self) -> dict[str, object]:
        """All of it, for a program that has asked about one picture."""

    @staticmethod
    @abstractmethod
    def columns() -> tuple[str, ...]:
        """The names of `fields`, which are the same for all."""

    @abstractmethod
    def fields(self) -> dict[str, Value]:
        """Flat, for JSON and CSV alike."""
