"""A judge for tests that knows three colours in two languages: quick, exact, and it counts what it is shown."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from torch import Tensor

from groundling.checking.checker import Checker
from groundling.model import FeatureModel
from groundling.vision import backbones
from groundling.vision.backbones import Backbone, View
from groundling.vision.preprocessing import Preprocessing

WORDS = {"red": 0, "green": 1, "blue": 2, "rot": 0, "grün": 1, "blau": 2}


class Backbones:
    """The backbone "colours": the mean colour of a picture. `looked` counts pictures."""

    def __init__(self) -> None:
        self.looked = 0

    def load(self, size: int | None, view: View, tuned: object = None, trainable: bool = False) -> Backbone:
        def network(pictures: Tensor) -> Tensor:
            self.looked += len(pictures)
            return pictures.mean(dim=(2, 3))

        return Backbone("colours", 3, size or 32, network)


class ColourJudge(FeatureModel):
    """What a text names is there (entailment) or not (contradiction); a text that names nothing is neutral.

    Pictures are seen through the backbone "colours".
    """

    kind, backbone, judges, dimensions, features = "run", "colours", True, 3, 3
    fingerprint = text_fingerprint = picture_fingerprint = "colours"

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.calls = 0
        self.languages = ["en", "de"]

    @cached_property
    def _network(self) -> Backbone:
        return backbones.get("colours", 32)

    @property
    def preparation(self) -> Preprocessing:
        return Preprocessing(32)

    def features_of(self, prepared: Sequence[np.ndarray]) -> np.ndarray:
        return self._network.features(prepared, self.preparation).numpy()

    def encode_features(self, features: np.ndarray, batch_size: int = 0) -> np.ndarray:
        return features

    def _encode_text(self, texts: Sequence[str], languages: Sequence[str], batch_size: int) -> np.ndarray:
        raise NotImplementedError

    def check_judges(self) -> None: ...

    def _logits(self, texts: Sequence[str], codes: Sequence[str], features: np.ndarray, rows: np.ndarray) -> np.ndarray:
        self.calls += 1
        self.asked += zip(texts, codes, strict=True)
        shares = [self._one(text, colour) for text, colour in zip(texts, features[rows], strict=True)]
        return np.log(np.maximum(shares, 1e-30), dtype=np.float32)

    def _one(self, text: str, colour: np.ndarray) -> list[float]:
        named = [WORDS[word] for word in text.lower().split() if word in WORDS]
        if not named:
            return [0.2, 0.7, 0.1]
        share = float((colour[named[0]] + 3) / 6)  # normalised colours lie between about −2 and 3
        share = min(max(share, 0.0), 1.0) * 0.9
        return [0.9 - share, 0.1, share]


@pytest.fixture
def counter(monkeypatch: pytest.MonkeyPatch) -> Backbones:
    made = Backbones()
    monkeypatch.setitem(backbones.LOADERS, "colours", made.load)
    return made


@pytest.fixture
def checker(counter: Backbones) -> Checker:
    return Checker(ColourJudge())


def paint(path: Path, colour: tuple[int, int, int]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (40, 40), colour).save(path)
    return path


RED, GREEN, BLUE = (255, 0, 0), (0, 255, 0), (0, 0, 255)
