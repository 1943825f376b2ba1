"""A model that tells whether texts are true of pictures, asked with pictures and texts that anybody may have written.

>>> checker = Checker.load("runs/scenes")                        # doctest: +SKIP
>>> checker.check("photo.jpg", "Zwei Hunde am Strand").verdict   # doctest: +SKIP
'entailment'
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from groundling.checking.languages import language_of
from groundling.checking.looking import Eyes, Vectors, of_export, of_settings, picture_bytes
from groundling.checking.problem import NotChecked
from groundling.corpus.entailment import LABELS
from groundling.corpus.formats.checks import BadRow, caption_text
from groundling.errors import UserError
from groundling.export.manifest import is_exported
from groundling.export.tested import accuracy_of

if TYPE_CHECKING:
    from PIL import Image


@dataclass(frozen=True)
class Verdict:
    """What a model says of one text and one picture.

    Attributes:
        verdict: "contradiction", "neutral" or "entailment", the most probable of them.
        probabilities: of each of them.
        language: the text's, as the model knows it.
        detected: whether the language was detected rather than given.
    """

    verdict: str
    probabilities: dict[str, float]
    language: str
    detected: bool

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class Judge(Protocol):
    """What is asked of `groundling.model.Model` and of `groundling.export.OnnxModel` alike."""

    @property
    def judges(self) -> bool: ...

    def entails_features(
        self,
        texts: Sequence[str],
        features: Vectors,
        languages: str | Sequence[str],
        owners: npt.NDArray[np.int64] | None = None,
    ) -> Vectors: ...


class Checker:
    """A model with its eyes.

    Attributes:
        languages: those it was trained on; none where they are not known.
        accuracy: language → how many of 100 test statements it judged right, where it was tested.
    """

    def __init__(
        self,
        model: Judge,
        eyes: Eyes,
        languages: Sequence[str],
        accuracy: Mapping[str, float] | None = None,
        name: str = "this model",
    ) -> None:
        if not model.judges:
            raise UserError(
                f"{name}: finds pictures and captions, but cannot judge whether a text is true of a picture; train a "
                "model that can, e.g. `groundling train --corpus scenes --system clip_ve`"
            )
        self.model, self.eyes = model, eyes
        self.languages, self.accuracy = list(languages), dict(accuracy or {})

    @staticmethod
    def load(model: str | Path, device: str = "auto") -> "Checker":
        """From the folder of a run, or from one that `groundling export` made of it, which needs no torch."""
        folder = Path(model).expanduser()
        return _exported(folder) if is_exported(folder) else _trained(folder, device)

    def known(self, language: str) -> str:
        """A language that the user has named, as the model knows it."""
        try:
            return language_of("", language, self.languages)[0]
        except NotChecked as problem:
            raise UserError(f"--language: {problem}") from None

    def check(self, picture: "Path | str | Image.Image", text: str, language: str | None = None) -> Verdict:
        """One text about one picture, which is a file or a picture in memory. The language is detected where None.

        Raises UserError where the picture cannot be read, the text is empty, or the model does not know the language.
        """
        try:
            code, detected = self.language(text, language)
        except NotChecked as problem:
            raise UserError(str(problem)) from None
        name = picture if isinstance(picture, str | Path) else "the picture"
        try:
            features, problems = self.eyes.features([picture_bytes(picture)])
        except NotChecked as problem:
            raise UserError(f"{name}: {problem}") from None
        if problems:
            raise UserError(f"{name}: {problems[0]}")
        return verdict(self.model.entails_features([text], features, [code])[0], code, detected)

    def language(self, text: str, given: str | None = None) -> tuple[str, bool]:
        """The language of a text that can be judged, and whether it was detected. Raises NotChecked."""
        try:
            caption_text(text)
        except BadRow as problem:
            raise NotChecked(str(problem)) from None
        return language_of(text, given, self.languages)


def verdict(probabilities: Vectors, language: str, detected: bool) -> Verdict:
    """From the three probabilities of one text."""
    shares = {label: float(share) for label, share in zip(LABELS, probabilities, strict=True)}
    return Verdict(max(LABELS, key=lambda label: shares[label]), shares, language, detected)


def _trained(folder: Path, device: str) -> Checker:
    from groundling.evaluation.unseen import trained_languages
    from groundling.model import Model
    from groundling.run import Run

    run, model = Run.open(folder), Model.load(folder, device)
    eyes = Eyes(partial(of_settings, model.looks))
    return Checker(model, eyes, trained_languages(run, model), accuracy_of(run.evaluation_file), str(folder))


def _exported(folder: Path) -> Checker:
    from groundling.export import OnnxModel

    model = OnnxModel.load(folder)
    facts = model.manifest
    return Checker(model, Eyes(partial(of_export, model)), facts.languages, facts.accuracy, str(folder))
