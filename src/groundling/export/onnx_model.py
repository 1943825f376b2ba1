"""An exported model, run by onnxruntime: what `groundling.model.Model` does, with no torch anywhere.

>>> model = OnnxModel.load("mine.onnx")                     # doctest: +SKIP
>>> texts = model.encode_text(["ein Hund"], "de")           # doctest: +SKIP
>>> texts @ model.encode_pictures(["dog.jpg"]).T            # doctest: +SKIP
"""

import json
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt

from groundling.calibration import probabilities
from groundling.errors import UserError
from groundling.export import manifest as manifests
from groundling.export.manifest import Manifest, ReaderFiles
from groundling.export.sessions import Session
from groundling.export.tokenisers import from_json
from groundling.text import Tokens
from groundling.vision.preprocessing import PictureError, Pixels, Preprocessing

Vectors = npt.NDArray[np.float32]
SQUARES_AT_ONCE = 4  # more do not fit a core's cache, and take longer
PICTURES_AT_ONCE = 4096
VERDICTS = 3  # in the order of `corpus.entailment.LABELS`


class Reader:
    """A tokeniser, and the graph that reads what it cuts."""

    def __init__(self, folder: Path, files: ReaderFiles) -> None:
        try:
            saved = json.loads(manifests.read_verified(folder, files.tokeniser))
        except (ValueError, RecursionError):
            saved = None
        self.languages = frozenset(files.languages)
        self.tokeniser = from_json(saved, str(folder / files.tokeniser.name))
        self._graph = Session(folder, files.text)

    def __call__(self, texts: Sequence[str], codes: Sequence[str], batch_size: int, out: Vectors) -> None:
        """The vectors of texts, into `out`. They go through in order of length."""
        tokens = self.tokeniser.encode(texts, codes)
        order = np.argsort(tokens.lengths, kind="stable")
        for start in range(0, len(order), batch_size):
            rows = order[start : start + batch_size]
            out[rows] = self._graph(**text_inputs(tokens, rows))


class OnnxModel:
    """Opened by `OnnxModel.load`. The graphs that look at pictures are read with the first picture.

    Attributes:
        folder: where it is.
        manifest: what it says of itself.
        readers: who reads captions; the last one who knows a language reads it, else the first.
    """

    def __init__(self, folder: Path, manifest: Manifest, readers: list[Reader]) -> None:
        self.folder, self.manifest, self.readers = folder, manifest, readers

    @staticmethod
    def load(folder: str | Path) -> "OnnxModel":
        """The model in a folder that `groundling export` wrote, whole or not at all."""
        folder = Path(folder).expanduser()
        manifest = manifests.read(folder)
        return OnnxModel(folder, manifest, [Reader(folder, files) for files in manifest.readers])

    @cached_property
    def _picture(self) -> Session:
        return Session(self.folder, self.manifest.picture)

    @cached_property
    def _looking(self) -> tuple[Session, Preprocessing]:
        looking, graph = self.manifest.looking, self.manifest.backbone
        if looking is None or graph is None:
            raise UserError(
                f"{self.folder}: this model was trained on a precomputed array, so it cannot look at picture files; "
                "train one with a backbone"
            )
        return Session(self.folder, graph), Preprocessing(**looking.model_dump())

    @cached_property
    def _verdict(self) -> Session:
        if self.manifest.verdict is None:
            raise UserError(
                f"{self.folder}: a model of system {self.manifest.system} cannot tell whether a sentence is true of a "
                "picture; export one that can"
            )
        return Session(self.folder, self.manifest.verdict)

    @property
    def judges(self) -> bool:
        """Whether it can tell if a sentence is true of a picture."""
        return self.manifest.verdict is not None

    def open_eyes(self) -> None:
        """Read the graphs that look at pictures, before several threads ask for them."""
        _ = self._looking, self._picture

    def encode_text(self, texts: Sequence[str], languages: str | Sequence[str], batch_size: int = 512) -> Vectors:
        """[texts, dimensions] unit vectors. `languages` is one code for all texts or one for each."""
        codes = [languages] * len(texts) if isinstance(languages, str) else list(languages)
        if len(codes) != len(texts):
            raise ValueError(f"{len(texts)} texts but {len(codes)} languages")
        vectors = np.zeros((len(texts), self.manifest.dimensions), dtype=np.float32)
        if not texts:
            return vectors
        who = np.array([self._reader_of(code) for code in codes])
        for number, reader in enumerate(self.readers):
            rows = np.flatnonzero(who == number).tolist()
            if len(rows):
                found = np.empty((len(rows), vectors.shape[1]), dtype=np.float32)
                reader([texts[row] for row in rows], [codes[row] for row in rows], batch_size, found)
                vectors[rows] = found
        return vectors

    def _reader_of(self, code: str) -> int:
        later = range(len(self.readers) - 1, 0, -1)
        return next((number for number in later if code in self.readers[number].languages), 0)

    def encode_features(self, features: Vectors) -> Vectors:
        """[pictures, dimensions] unit vectors of pictures given by their backbone's features."""
        if features.shape[1:] != (self.manifest.features,):
            raise UserError(
                f"this model looks at pictures through {self.manifest.features} features each, but was given "
                f"{' × '.join(map(str, features.shape[1:]))}; use the backbone it was trained with"
            )
        vectors = np.zeros((len(features), self.manifest.picture_dimensions), dtype=np.float32)
        for start in range(0, len(features), PICTURES_AT_ONCE):
            part = np.ascontiguousarray(features[start : start + PICTURES_AT_ONCE], dtype=np.float32)
            vectors[start : start + len(part)] = self._picture(features=part)
        return vectors

    def prepare(self, data: bytes) -> Pixels:
        """The pixels of a picture file that the backbone is shown. Raises `vision.preprocessing.PictureError`."""
        return self._looking[1].pixels(data)

    def encode_pixels(self, prepared: Sequence[Pixels]) -> Vectors:
        """[pictures, dimensions] unit vectors of what `prepare` gave."""
        return self.encode_features(self.features_of(prepared))

    def features_of(self, prepared: Sequence[Pixels]) -> Vectors:
        """[pictures, features]: the mean over all squares that were cut out of each picture."""
        if not prepared:
            return np.zeros((0, self.manifest.features), dtype=np.float32)
        backbone, stacked = self._looking[0], np.stack(prepared)
        squares = stacked.reshape(-1, *stacked.shape[-3:])
        portions = [squares[start : start + SQUARES_AT_ONCE] for start in range(0, len(squares), SQUARES_AT_ONCE)]
        parts = _one_core_each(lambda portion: backbone(pixels=portion), portions)
        features: Vectors = np.concatenate(parts).reshape(len(stacked), -1, self.manifest.features).mean(axis=1)
        return features

    def entails(self, texts: Sequence[str], pictures: Sequence[str | Path], languages: str | Sequence[str]) -> Vectors:
        """[n, 3] probabilities that picture i contradicts, leaves open, or shows what text i says."""
        return self._judged(self.encode_text(texts, languages), self.encode_pictures(pictures))

    def entails_features(
        self,
        texts: Sequence[str],
        features: Vectors,
        languages: str | Sequence[str],
        owners: npt.NDArray[np.int64] | None = None,
    ) -> Vectors:
        """The same for pictures given by their features: that of text i is row i, or row `owners[i]` where given."""
        pictures = self.encode_features(features)
        return self._judged(self.encode_text(texts, languages), pictures if owners is None else pictures[owners])

    def _judged(self, sentences: Vectors, pictures: Vectors) -> Vectors:
        verdict = self._verdict
        if len(sentences) != len(pictures):
            raise ValueError(f"{len(sentences)} texts but {len(pictures)} pictures")
        if not len(sentences):
            return np.zeros((0, VERDICTS), dtype=np.float32)
        return probabilities(verdict(sentences=sentences, pictures=pictures))

    def encode_pictures(self, paths: Iterable[str | Path]) -> Vectors:
        """[pictures, dimensions] unit vectors of picture files; an unreadable one is an error that names it."""
        self.open_eyes()
        vectors = [np.zeros((0, self.manifest.picture_dimensions), dtype=np.float32)]
        for path in map(Path, paths):
            try:
                vectors.append(self.encode_pixels([self.prepare(path.read_bytes())]))
            except PictureError as error:
                raise UserError(f"{path}: {error}") from None
            except OSError as error:
                raise UserError(f"{path}: cannot be read ({error.strerror})") from None
        return np.concatenate(vectors)


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
