"""A small collection of coloured squares, served: what all tests of the service share."""

import asyncio
import io
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import numpy as np
import pytest
from fastapi import FastAPI
from PIL import Image
from starlette.testclient import TestClient

sys.path.append(str(Path(__file__).parent.parent / "search"))

from colours import Toy, mean_colour, paint_many

from groundling.checking.checker import Checker
from groundling.model import FeatureModel, Vectors
from groundling.model.vectors import Owners
from groundling.search import Index, index, index_captions, index_pictures, index_request
from groundling.serve.access import Access
from groundling.serve.app import make_app
from groundling.serve.limits import Limits
from groundling.serve.service import Service

HERE = "http://localhost"
CAPTIONS = [("red", "en"), ("green", "en"), ("blue", "en"), ("rot", "de"), ("grün", "de"), ("أحمر", "ar")]


class Held(Toy):
    """A toy that stops before it encodes words while `go` is not set, fails on the word "poison", and counts calls."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.go.set()
        self.asked: list[list[str]] = []

    def _encode_text(self, texts: Sequence[str], languages: Sequence[str], batch_size: int = 0) -> Vectors:
        self.asked.append(list(texts))
        assert self.go.wait(30)
        if "poison" in texts:
            raise RuntimeError("this word cannot be encoded")
        return super()._encode_text(texts, languages)


class Collection(NamedTuple):
    folder: Path  # of the pictures
    index: Path
    captions: Path
    toy: Held

    def service(self, captions: bool = True, checker: Checker | None = None, **limits: Any) -> Service:
        told = Index.open(self.captions) if captions else None
        return Service(Index.open(self.index), told, checker, Limits(**limits))

    def app(self, access: Access | None = None, **options: Any) -> FastAPI:
        return make_app(self.service(**options), access, name="squares")

    @contextmanager
    def client(self, access: Access | None = None, **options: Any) -> Iterator[TestClient]:
        service = self.service(**options)
        app = make_app(service, access, name="squares")
        with TestClient(app, base_url=HERE, raise_server_exceptions=False) as client:
            yield client
        self.toy.go.set()
        service.close()


@contextmanager
def collection(folder: Path, pictures: int = 30) -> Iterator[Collection]:
    toy = Held()
    with pytest.MonkeyPatch.context() as patch:
        for module in (index, index_request):
            patch.setattr(module, "load", lambda *_, **__: toy)
        paint_many(folder / "squares", pictures)
        index_pictures(folder / "squares", folder / "index", "toy")
        index_captions(CAPTIONS, folder / "captions", "toy")
        toy.asked.clear()
        yield Collection(folder / "squares", folder / "index", folder / "captions", toy)
        toy.go.set()


def together(app: FastAPI, *asks: Callable[[httpx.AsyncClient], Any]) -> list[Any]:
    """All of these at the same time, in one event loop."""

    async def run() -> list[Any]:
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=HERE) as client:
            return await asyncio.gather(*(ask(client) for ask in asks))

    return asyncio.run(run())


def square(colour: Any = (250, 10, 10), side: int = 8, kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (side, side), colour).save(buffer, kind)
    return buffer.getvalue()


def problem(response: Any, status: int, words: str = "") -> dict[str, Any]:
    """What a response that tells a problem says."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    told: dict[str, Any] = response.json()
    assert told["status"] == status
    assert told["title"]
    assert words in told["detail"], told
    return told


class _Red(FeatureModel):
    """Says "entailment" of red pictures and texts that say so, and "contradiction" of all others."""

    kind, backbone, judges, dimensions, features = "run", "toy", True, 3, 3
    fingerprint = text_fingerprint = picture_fingerprint = "red"
    languages = ["en", "de"]  # noqa: RUF012
    preparation = staticmethod(mean_colour)

    def features_of(self, prepared: Sequence[Any]) -> Vectors:
        return np.array(prepared, dtype=np.float32)

    def encode_features(self, features: Vectors, batch_size: int = 0) -> Vectors:
        return features

    def _encode_text(self, texts: Sequence[str], languages: Sequence[str], batch_size: int) -> Vectors:
        raise NotImplementedError

    def check_judges(self) -> None: ...

    def _logits(self, texts: Sequence[str], codes: Sequence[str], features: Vectors, rows: Owners) -> Vectors:
        red = np.array([[text == "it is red"] for text in texts]) == (features[rows, :1] > 0.5)
        return np.log(np.where(red, [[0.1, 0.2, 0.7]], [[0.7, 0.2, 0.1]])).astype(np.float32)


def red_checker() -> Checker:
    return Checker(_Red())
