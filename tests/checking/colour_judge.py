"""A judge for tests that knows three colours in two languages: quick, exact, and it counts what it is shown."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from torch import Tensor

from groundling.checking import looking
from groundling.checking.checker import Checker
from groundling.settings import FeatureSettings, check
from groundling.vision import backbones
from groundling.vision.backbones import Backbone, View

WORDS = {"red": 0, "green": 1, "blue": 2, "rot": 0, "grün": 1, "blau": 2}


class ColourJudge:
    """What a text names is there (entailment) or not (contradiction); a text that names nothing is neutral."""

    judges = True

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.calls = 0

    def entails_features(
        self,
        texts: Sequence[str],
        features: np.ndarray,
        languages: str | Sequence[str],
        owners: np.ndarray | None = None,
    ) -> np.ndarray:
        self.calls += 1
        self.asked += zip(texts, languages, strict=True)
        seen = features if owners is None else features[owners]
        return np.array([self._one(text, colour) for text, colour in zip(texts, seen, strict=True)], dtype=np.float32)

    def _one(self, text: str, colour: np.ndarray) -> list[float]:
        named = [WORDS[word] for word in text.lower().split() if word in WORDS]
        if not named:
            return [0.2, 0.7, 0.1]
        share = float((colour[named[0]] + 3) / 6)  # normalised colours lie between about −2 and 3
        share = min(max(share, 0.0), 1.0) * 0.9
        return [0.9 - share, 0.1, share]


FEATURES = check(FeatureSettings, {"backbone": "colours", "size": 32}, "test")


class Eyes:
    """The backbone "colours": the mean colour of a picture. `looked` counts pictures."""

    def __init__(self) -> None:
        self.looked = 0

    def load(self, size: int | None, view: View, tuned: object = None, trainable: bool = False) -> Backbone:
        def network(pictures: Tensor) -> Tensor:
            self.looked += len(pictures)
            return pictures.mean(dim=(2, 3))

        return Backbone("colours", 3, size or 32, network)


@pytest.fixture
def eyes(monkeypatch: pytest.MonkeyPatch) -> Eyes:
    made = Eyes()
    monkeypatch.setitem(backbones.LOADERS, "colours", made.load)
    return made


@pytest.fixture
def checker(eyes: Eyes) -> Checker:
    return Checker(ColourJudge(), own_eyes(), ["en", "de"])


def own_eyes() -> looking.Eyes:
    return looking.Eyes(lambda: looking.of_settings(FEATURES))


def paint(path: Path, colour: tuple[int, int, int]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (40, 40), colour).save(path)
    return path


RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)
