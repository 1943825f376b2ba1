"""How a model reads a text: in which language, and which of its words it knows. What it cannot read it only guesses."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from groundling.text.language_detection import checked_language, detect_language, foreign_language
from groundling.text.segmentation import words

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


def languages_of(texts: Sequence[str], languages: str | Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """A language for each text: the one given for all, or for each; where none is given, one of `known` is detected."""
    if languages is None:
        return [detect_language(text, known) for text in texts]
    codes = [languages] * len(texts) if isinstance(languages, str) else list(languages)
    if len(codes) != len(texts):
        raise ValueError(f"{len(texts)} texts but {len(codes)} languages")
    return codes


def read_text(
    text: str, language: str | None, known: Sequence[str], vocabulary: Collection[str] | None, segmentation: str
) -> TextReading:
    """How a model reads a text that knows these languages and words (None: it has no list of words).

    A language that it does not read is an error where it is given, and told where it is detected.
    """
    given = checked_language(language, known) if language else ""
    code = given or detect_language(text, known)
    found = () if vocabulary is None else tuple(words(text, code, segmentation))
    unknown = tuple(word for word in found if vocabulary is not None and word not in vocabulary)
    reading = TextReading(code, not given, "", known, found, unknown)
    foreign = "" if given else foreign_language(text, known, reading.known)
    return replace(reading, foreign=foreign)
