"""How a model reads a text: in which language, and which of its words it knows. What it cannot read it only guesses."""

from collections.abc import Sequence
from dataclasses import dataclass

KNOWN = 0.5  # the share of the words of a text that a model must know to be more than guessing


@dataclass(frozen=True)
class TextReading:
    """What a model makes of a text before it encodes it.

    Attributes:
        language: the code that the model reads it by, one of its own where these are known; "" where nothing tells.
        detected: whether that was detected rather than given.
        foreign: the language that the text seems to be in where it is none of the model's; else "".
        languages: those that the model reads; none where they are not known.
        words: the words of the text, as the model cuts it; none where it does not say which words it knows.
        unknown: those of them that it does not know.
    """

    language: str
    detected: bool
    foreign: str = ""
    languages: Sequence[str] = ()
    words: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    @property
    def known(self) -> float | None:
        """The share of the words that the model knows; None where it cannot tell."""
        return 1 - len(self.unknown) / len(self.words) if self.words else None

    @property
    def guess(self) -> bool:
        """Whether what the model says of the text is a guess: in another language, or of words that it never met."""
        return bool(self.foreign) or (self.known is not None and self.known < KNOWN)
