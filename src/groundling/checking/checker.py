"""A model that tells whether texts are true of pictures, asked with pictures and texts that anybody may have written.

>>> checker = Checker.load("runs/scenes")                      # doctest: +SKIP
>>> checker.check("photo.jpg", "Zwei Hunde am Strand").label   # doctest: +SKIP
'entailment'
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
import numpy.typing as npt

from groundling.checking.answer import Answer, Value
from groundling.checking.method import Method, Question
from groundling.checking.pictures import picture_bytes, vectors_of
from groundling.checking.problem import NotChecked
from groundling.corpus.entailment import LABELS
from groundling.errors import UserError
from groundling.model import FeatureModel, Model, Vectors
from groundling.model.reading import TextReading
from groundling.report.languages import language_name

if TYPE_CHECKING:
    from PIL import Image

KEY = "verdict"  # the label that is predicted, in tables and JSON: those who read them know it by this name


@dataclass(frozen=True)
class Prediction(Answer):
    """What a model says of one text and one picture.

    Attributes:
        label: "contradiction", "neutral" or "entailment", the most probable of them.
        probabilities: of each of them.
    """

    labels: ClassVar = {
        "contradiction": "contradicted by their picture",
        "neutral": "left open by it",
        "entailment": "shown by it",
    }
    signs: ClassVar = {"contradiction": "✗", "neutral": "?", "entailment": "✓"}
    in_words: ClassVar = {
        "contradiction": "The picture says otherwise",
        "neutral": "The picture does not tell",
        "entailment": "The picture shows it",
    }
    heads: ClassVar = ("contra %", "neutral %", "entail %")

    label: str
    probabilities: dict[str, float]
    language: str
    detected: bool
    unknown_words: tuple[str, ...] = ()

    @property
    def badness(self) -> tuple[float, ...]:
        return self.probabilities["contradiction"], -self.probabilities["entailment"]

    @property
    def shares(self) -> dict[str, float]:
        return self.probabilities

    @property
    def sure(self) -> bool:
        return self.probabilities[self.label] >= 0.5

    def cells(self) -> tuple[str, ...]:
        return tuple(f"{100 * share:.0f}" for share in self.probabilities.values())

    def told(self) -> str:
        return ", ".join(f"{label} {100 * share:.1f} %" for label, share in self.probabilities.items())

    @staticmethod
    def columns() -> tuple[str, ...]:
        return KEY, *LABELS

    def fields(self) -> dict[str, Value]:
        return {KEY: self.label, **self.probabilities}

    def as_json(self) -> dict[str, object]:
        return {
            KEY: self.label,
            "probabilities": self.probabilities,
            "language": self.language,
            "detected": self.detected,
            "unknown_words": list(self.unknown_words),
        }


class Checker(Method):
    """A model that judges, with the languages it is asked in.

    Attributes:
        languages: those it was trained on; none where they are not known.
        accuracy: language → how many of 100 test statements it judged right, where it was tested.
    """

    answer = Prediction
    at_once = 256
    model: FeatureModel

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

    def look(self, prepared: Sequence[npt.NDArray[Any]]) -> Vectors:
        return self.model.features_of(prepared)

    def check(
        self,
        picture: "Path | str | Image.Image",
        text: str,
        language: str | None = None,
        others: Sequence[str | Path] = (),
    ) -> Prediction:
        """One text about one picture, which is a file or a picture in memory. The language is detected where None.

        A judge needs no other pictures to compare it with.

        Raises UserError where the picture cannot be read, the text is empty, or the model does not know the language.
        """
        try:
            reading = self.read(text, language)
        except NotChecked as problem:
            raise UserError(str(problem)) from None
        name = picture if isinstance(picture, str | Path) else "the picture"
        try:
            [features] = vectors_of(self, [picture_bytes(picture)])
        except NotChecked as problem:
            raise UserError(f"{name}: {problem}") from None
        if isinstance(features, str):
            raise UserError(f"{name}: {features}")
        return prediction(self.model.judge_features([text], features[None], [reading.language])[0], reading)

    def answers(self, questions: Sequence[Question], looked: Mapping[str, Vectors]) -> list[Answer]:
        place = {name: row for row, name in enumerate(dict.fromkeys(one.picture for one in questions))}
        texts, codes = [one.text for one in questions], [one.reading.language for one in questions]
        owners = np.array([place[one.picture] for one in questions], dtype=np.int64)
        shares = self.model.judge_features(texts, np.stack([looked[name] for name in place]), codes, owners)
        return [prediction(three, one.reading) for three, one in zip(shares, questions, strict=True)]

    def notes(self, languages: Sequence[str]) -> list[str]:
        notes = [
            f"Judged by the model {self.model.name}, which can be wrong: it marks what deserves a look, and does not "
            "replace one. The probabilities are the model's own; its report says how far they can be trusted."
        ]
        known = [code for code in languages if code in self.accuracy]
        if known:
            shares = ", ".join(f"{language_name(code)} {self.accuracy[code]:.0f} %" for code in known)
            notes.append(f"On the statements it was tested with, it was right in: {shares}; a guess is right in 33 %.")
        alone = self.model.words_alone
        if known and all(code in alone for code in known):
            shares = ", ".join(f"{language_name(code)} {alone[code]:.0f} %" for code in known)
            notes.append(f"The words of these statements alone, without a picture, tell: {shares}.")
        else:
            notes.append("Whether it does better than the words alone was not tested: `groundling evaluate` does.")
        return notes


def prediction(probabilities: Vectors, reading: TextReading) -> Prediction:
    """From the three probabilities of one text."""
    shares = {label: float(share) for label, share in zip(LABELS, probabilities, strict=True)}
    label = max(LABELS, key=lambda label: shares[label])
    return Prediction(label, shares, reading.language, reading.detected, reading.unknown)
