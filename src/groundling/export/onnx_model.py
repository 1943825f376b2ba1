"""An exported model, run by onnxruntime: the same answers as those of its run, with no torch anywhere.

>>> model = OnnxModel.load("mine.onnx")                     # doctest: +SKIP
>>> texts = model.encode_text(["ein Hund"], "de")           # doctest: +SKIP
>>> texts @ model.encode_pictures(["dog.jpg"]).T            # doctest: +SKIP
"""

import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from groundling.encoders import tokenisers
from groundling.errors import UserError
from groundling.export import manifest as manifests
from groundling.export.manifest import GraphFile, Manifest, ReaderFiles
from groundling.export.sessions import Session
from groundling.model import FeatureModel
from groundling.model.prompt import refuse_options
from groundling.model.vectors import Owners, Vectors
from groundling.text import Tokens
from groundling.vision.preprocessing import Pixels, Preprocessing, ProcessorCut, TorchvisionCut

SQUARES_AT_ONCE = 4  # more do not fit a core's cache, and take longer
PICTURES_AT_ONCE = 4096
CUTS: dict[str, type[Preprocessing]] = {
    "groundling": Preprocessing, "transformers": ProcessorCut, "torchvision": TorchvisionCut,
}  # fmt: skip


class Reader:
    """A tokeniser, and the graph that reads what it cuts."""

    def __init__(self, folder: Path, files: ReaderFiles) -> None:
        saved = manifests.read_verified(folder, files.tokeniser)
        try:
            self.tokeniser = tokenisers.from_json(json.loads(saved))
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
            raise UserError(
                f"{folder / files.tokeniser.name}: not a tokeniser that this groundling knows; export the model again"
            ) from None
        self.languages = frozenset(files.languages)
        self._graph = Session(folder, files.text)

    def __call__(self, texts: Sequence[str], codes: Sequence[str], batch_size: int, out: Vectors) -> None:
        """The vectors of texts, into `out`. They go through in order of length."""
        tokens = self.tokeniser.encode(texts, codes)
        order = np.argsort(tokens.lengths, kind="stable")
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            out[rows] = self._graph(**text_inputs(tokens, rows))


class OnnxModel(FeatureModel):
    """See `model.protocol.Model`. The graphs that look at pictures are read with the first picture.

    Attributes:
        folder: where it is.
        manifest: what it says of itself.
        readers: who reads captions; the last one who knows a language reads it, else the first.
    """

    def __init__(self, folder: Path, manifest: Manifest, readers: list[Reader]) -> None:
        # It stands in for what it was exported from: an index built with one is searched with the other.
        self.kind, self.asks_language = manifest.source, manifest.source == "run"
        self.folder, self.manifest, self.readers = folder, manifest, readers
        self.name, self.backbone, self.similarity = str(folder), manifest.backbone_name, manifest.similarity
        self.languages = list(manifest.languages)

    @staticmethod
    def load(
        folder: str | os.PathLike[str], device: str = "auto", text: str | None = None, prompt: str | None = None
    ) -> "OnnxModel":
        """The model in a folder that `groundling export` wrote, whole or not at all. It runs on the CPU."""
        folder = Path(folder).expanduser()
        refuse_options(str(folder), text, prompt)
        manifest = manifests.read(folder)
        return OnnxModel(folder, manifest, [Reader(folder, files) for files in manifest.readers])

    @cached_property
    def _picture(self) -> Session:
        return Session(self.folder, self.manifest.picture)

    @cached_property
    def _backbone(self) -> tuple[Session, Preprocessing]:
        settings, graph = self.manifest.looking, self.manifest.backbone
        if settings is None or graph is None:
            raise UserError(
                f"{self.folder}: this model was trained on a precomputed array, so it cannot look at picture files; "
                "train one with a backbone"
            )
        said = settings.model_dump(exclude={"like"})
        return Session(self.folder, graph), CUTS[settings.like](**said)

    @cached_property
    def _entailment(self) -> Session:
        self.check_judges()
        return Session(self.folder, cast(GraphFile, self.manifest.verdict))

    @property
    def features(self) -> int:
        return self.manifest.features

    @property
    def dimensions(self) -> int:
        return self.manifest.dimensions

    @property
    def fingerprint(self) -> str:
        return self.manifest.fingerprint

    @property
    def text_fingerprint(self) -> str:
        return self.manifest.text_fingerprint

    @property
    def picture_fingerprint(self) -> str:
        return self.manifest.picture_fingerprint

    @property
    def judges(self) -> bool:
        return self.manifest.verdict is not None

    @property
    def accuracy(self) -> dict[str, float]:
        return dict(self.manifest.accuracy)

    @property
    def words_alone(self) -> dict[str, float]:
        return dict(self.manifest.words_alone)

    def check_judges(self) -> None:
        if not self.judges:
            raise UserError(
                f"{self.folder}: a model of system {self.manifest.system} cannot tell whether a sentence is true of a "
                "picture; export one that can"
            )

    @property
    def finds(self) -> bool:
        return self.manifest.dimensions == self.manifest.picture_dimensions

    def load_picture_side(self) -> None:
        """Read the graphs that look at pictures, before several threads ask for them."""
        _ = self._backbone, self._picture

    @property
    def segmentation(self) -> str:
        return self.readers[0].tokeniser.settings.segmentation

    @cached_property
    def vocabulary(self) -> frozenset[str] | None:
        listed = [reader.tokeniser.all_words() for reader in self.readers]
        known = [words for words in listed if words is not None]
        return frozenset().union(*known) if len(known) == len(listed) else None

    def _encode_text(self, texts: Sequence[str], languages: Sequence[str], batch_size: int) -> Vectors:
        vectors = np.zeros((len(texts), self.manifest.dimensions), dtype=np.float32)
        if not texts:
            return vectors
        who = np.array([self._reader_of(code) for code in languages])
        for number, reader in enumerate(self.readers):
            rows = np.flatnonzero(who == number).tolist()
            if len(rows):
                found = np.empty((len(rows), vectors.shape[1]), dtype=np.float32)
                reader([texts[row] for row in rows], [languages[row] for row in rows], batch_size, found)
                vectors[rows] = found
        return vectors

    def _reader_of(self, code: str) -> int:
        later = range(len(self.readers) - 1, 0, -1)
        return next((number for number in later if code in self.readers[number].languages), 0)

    def encode_features(self, features: Vectors, batch_size: int = PICTURES_AT_ONCE) -> Vectors:
        """[pictures, dimensions] unit vectors of pictures given by their backbone's features."""
        if features.shape[1:] != (self.manifest.features,):
            raise UserError(
                f"this model looks at pictures through {self.manifest.features} features each, but was given "
                f"{' × '.join(map(str, features.shape[1:]))}; use the backbone it was trained with"
            )
        vectors = np.zeros((len(features), self.manifest.picture_dimensions), dtype=np.float32)
        for start in range(0, len(features), batch_size):
            part = np.ascontiguousarray(features[start : start + batch_size], dtype=np.float32)
            vectors[start : start + len(part)] = self._picture(features=part)
        return vectors

    @property
    def preparation(self) -> Preprocessing:
        return self._backbone[1]

    def features_of(self, prepared: Sequence[Pixels]) -> Vectors:
        """[pictures, features]: the mean over all squares that were cut out of each picture."""
        if not prepared:
            return np.zeros((0, self.manifest.features), dtype=np.float32)
        backbone, stacked = self._backbone[0], np.stack(prepared)
        squares = stacked.reshape(-1, *stacked.shape[-3:])
        portions = [squares[start : start + SQUARES_AT_ONCE] for start in range(0, len(squares), SQUARES_AT_ONCE)]
        parts = _one_core_each(lambda portion: backbone(pixels=portion), portions)
        features: Vectors = np.concatenate(parts).reshape(len(stacked), -1, self.manifest.features).mean(axis=1)
        return features

    def _logits(self, texts: Sequence[str], codes: Sequence[str], features: Vectors, rows: Owners) -> Vectors:
        sentences, pictures = self.encode_text(texts, codes), self.encode_features(features)[rows]
        return self._entailment(sentences=sentences, pictures=pictures)


def _one_core_each(work: Callable[[Pixels], Vectors], portions: Sequence[Pixels]) -> list[Vectors]:
    cores = min(os.cpu_count() or 1, len(portions))
    if cores < 2:
        return [work(portion) for portion in portions]
    with ThreadPoolExecutor(cores) as pool:
        return list(pool.map(work, portions))


def text_inputs(tokens: Tokens, rows: npt.NDArray[np.int64]) -> dict[str, npt.NDArray[np.integer]]:
    """What the text graph is given for some captions: no more columns, and no more spelled words, than they have."""
    lengths = tokens.lengths[rows]
    ids = np.ascontiguousarray(tokens.ids[rows, : int(lengths.max())])
    if tokens.spellings is None:
        return {"ids": ids, "lengths": lengths}
    words, places = np.unique(ids, return_inverse=True)
    spelled = places.reshape(ids.shape).astype(np.int32)
    return {"ids": spelled, "lengths": lengths, "spellings": tokens.spellings[words]}
