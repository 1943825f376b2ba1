"""A model for tests that knows colours: quick, exact, and it counts what it is shown."""

import io
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from groundling.decoding.structure import PictureError
from groundling.model import Model, Vectors
from groundling.search import index, index_request

WORDS = {
    "red": (1, 0, 0),
    "green": (0, 1, 0),
    "blue": (0, 0, 1),
    "rot": (1, 0, 0),
    "grün": (0, 1, 0),
    "blau": (0, 0, 1),
}


def mean_colour(data: bytes) -> Any:
    """What the toy is given of a picture file."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            image.thumbnail((1000, 1000))
            return np.asarray(image.convert("RGB"), dtype=np.float64).mean(axis=(0, 1)) / 255
    except Exception as error:
        raise PictureError(f"not a readable picture ({error})") from error


class Toy(Model):
    """A picture is its mean colour on a sphere, in `dimensions` numbers; `log` gets a line for each picture encoded."""

    kind, backbone, asks_language = "pretrained", "toy", False
    fingerprint = text_fingerprint = picture_fingerprint = "toy"
    dimensions = 8

    def __init__(
        self, log: Path | None = None, pause: float = 0.0, fingerprint: str = "toy", dimensions: int = 8
    ) -> None:
        self.log, self.pause, self.dimensions = log, pause, dimensions
        self.fingerprint = self.text_fingerprint = self.picture_fingerprint = fingerprint
        self.languages: list[str] = []
        self.mix = np.random.default_rng(0).standard_normal((3, dimensions))

    preparation = staticmethod(mean_colour)

    def encode_prepared(self, prepared: Sequence[Any]) -> Vectors:
        time.sleep(self.pause)
        if self.log is not None:
            with self.log.open("a") as file:
                file.writelines(f"{colour.tolist()}\n" for colour in prepared)
        return self._unit(np.stack(prepared))

    def _encode_text(self, texts: Sequence[str], languages: Sequence[str], batch_size: int = 0) -> Vectors:
        return self._unit(
            np.stack([np.sum([WORDS.get(word, (0.01, 0.01, 0.01)) for word in text.split()], axis=0) for text in texts])
        )

    def _unit(self, colours: Any) -> Vectors:
        mixed = (colours + 1e-3) @ self.mix
        return np.asarray(mixed / np.linalg.norm(mixed, axis=1, keepdims=True), dtype=np.float32)

    @property
    def encoded(self) -> int:
        return len(self.log.read_text().splitlines()) if self.log is not None and self.log.exists() else 0


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Toy:
    """In the place of every model."""
    made = Toy(tmp_path / "encoded.log")
    for module in (index, index_request):
        monkeypatch.setattr(module, "load", lambda *_, **__: made)
    return made


def paint(path: Path, colour: tuple[int, int, int], **options: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (8, 8), colour).save(path, **options)
    return path


def paint_many(folder: Path, count: int, seed: int = 0) -> list[str]:
    """Pictures of different colours, some in folders; their paths in order."""
    draw = np.random.default_rng(seed)
    names = [f"{('', 'a/', 'a/b/')[number % 3]}{number:03}.png" for number in range(count)]
    for number, name in enumerate(names):
        colour = draw.integers(0, 255, 3)
        paint(folder / name, (int(colour[0]), int(colour[1]), number % 256))
    return sorted(names)
