"""A model that tells whether texts are true of pictures, asked with pictures and texts that anybody may have written.

>>> checker = Checker.load("runs/scenes")                      # doctest: +SKIP
>>> checker.check("photo.jpg", "Zwei Hunde am Strand").label   # doctest: +SKIP
'entailment'
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from groundling.checking.features import features_of, picture_bytes
from groundling.checking.languages import reading_of
from groundling.checking.problem import NotChecked
from groundling.corpus.entailment import LABELS
from groundling.corpus.formats.checks import BadRow, caption_text
from groundling.decoding.workers import Workers
from groundling.errors import UserError
from groundling.model import FeatureModel, Model, Vectors
from groundling.model.reading import TextReading
from groundling.text.language_detection import checked_language

if TYPE_CHECKING:
    from PIL import Image


@dataclass(frozen=True)
class Prediction:
    """What a model says of one text and one picture.

    Attributes:
        label: "contradiction", "neutral" or "entailment", the most probable of them.
        probabilities: of each of them.
        language: the text's, as the model knows it.
        detected: whether the language was detected rather than given.
        unknown_words: words of the text that the model does not know.
    """

    label: str
    probabilities: dict[str, float]
    language: str
    detected: bool
    unknown_words: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "verdict": self.label,
            "probabilities": self.probabilities,
            "language": self.language,
            "detected": self.detected,
            "unknown_words": list(self.unknown_words),
        }


class Checker:
    """A model that judges, with the languages it is asked in.

    Attributes:
        languages: those it was trained on; none where they are not known.
        accuracy: language → how many of 100 test statements it judged right, where it was tested.
    """

    def __init__(self, model: FeatureModel, name: str | None = None) -> None:
        if not model.judges:
            raise UserError(
                f"{name or model.name}: finds pictures and captions, but cannot judge whether a text is true of a "
                "picture; train a model that can, e.g. `groundling train --corpus scenes --system clip_ve`"
            )
        self.model, self.languages, self.accuracy = model, list(model.languages), dict(model.accuracy)

    @staticmethod
    def load(model: str | Path, device: str = "auto") -> "Checker":
        """From the folder of a run, or from one that `groundling export` made of it, which needs no torch."""
        loaded = Model.load(Path(model).expanduser(), device)
        return Checker(cast(FeatureModel, loaded), str(model))  # what judges looks through a backbone

    def features(self, pictures: Sequence[bytes], workers: Workers | None = None) -> tuple[Vectors, dict[int, str]]:
        """[pictures, features], and for those that cannot be decoded why; their rows are zero."""
        return features_of(self.model, pictures, workers)

    def known(self, language: str) -> str:
        """A language that the user has named, as the model knows it."""
        return checked_language(language, self.languages)

    def check(self, picture: "Path | str | Image.Image", text: str, language: str | None = None) -> Prediction:
        """One text about one picture, which is a file or a picture in memory. The language is detected where None.

        Raises UserError where the picture cannot be read, the text is empty, or the model does not know the language.
        """
        try:
            reading = self.read(text, language)
        except NotChecked as problem:
            raise UserError(str(problem)) from None
        name = picture if isinstance(picture, str | Path) else "the picture"
        try:
            features, problems = self.features([picture_bytes(picture)])
        except NotChecked as problem:
            raise UserError(f"{name}: {problem}") from None
        if problems:
            raise UserError(f"{name}: {problems[0]}")
        return prediction(self.model.judge_features([text], features, [reading.language])[0], reading)

    def read(self, text: str, given: str | None = None) -> TextReading:
        """How a text that can be judged is read. Raises NotChecked where the model does not know language or words."""
        try:
            caption_text(text)
        except BadRow as problem:
            raise NotChecked(str(problem)) from None
        return reading_of(self.model, text, given)


def prediction(probabilities: Vectors, reading: TextReading) -> Prediction:
    """From the three probabilities of one text."""
    shares = {label: float(share) for label, share in zip(LABELS, probabilities, strict=True)}
    return Prediction(
        max(LABELS, key=lambda label: shares[label]), shares, reading.language, reading.detected, reading.unknown
    )
