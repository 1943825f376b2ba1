"""What every model can be asked, whatever it is made of.

>>> model = Model.load("runs/demo")                                         # doctest: +SKIP
>>> model.score(["a dog", "ein Hund"], ["dog.png"])                         # doctest: +SKIP
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from groundling.decoding.structure import PictureError
from groundling.errors import UserError
from groundling.model.pictures import Picture, as_list, named_bytes
from groundling.model.reading import TextReading
from groundling.progress import bar
from groundling.settings import CorpusSettings, EvaluationSettings
from groundling.text.language_detection import checked_language, detect_language, foreign_language
from groundling.text.segmentation import words

if TYPE_CHECKING:
    from groundling.dataset import Dataset
    from groundling.run import Run
    from groundling.systems import Start

Vectors = npt.NDArray[np.float32]
Owners = npt.NDArray[np.int64]

PICTURES_AT_ONCE = 64


@dataclass(frozen=True)
class Description:
    """What a model says of itself.

    Attributes:
        kind: "run" for a run and what was exported from it, "pretrained" for models of other people.
        name: what it was loaded by.
        backbone: what looks at the pictures.
        dimensions: the length of a text's vector.
        languages: codes it was trained on; none where that is not known.
        similarity: how vectors are compared: "cosine", or "order" (see `encoders.similarity`).
        judges: whether it can tell if a text is true of a picture.
    """

    kind: str
    name: str
    backbone: str
    dimensions: int
    languages: list[str]
    similarity: str
    judges: bool


class Model(ABC):
    """Pictures and texts into one space. The kinds of models are its subclasses.

    Attributes:
        kind, name, backbone, languages, similarity, judges: see `Description`.
        asks_language: whether it must know the language of a text; most pretrained models read all alike.
        batch: how many pictures are best encoded together: one for each core, more on a GPU.
        text_name: what its text side was loaded by, where that is a model of its own.
        prompt: what a text is put into before it is read; None where it is read as it is.
        run: the run that it was loaded from; None for all that is not a run.
        takes_features: whether pictures can be given by features that somebody else computed.
        temperature: what the logits of entailment are divided by, so that probabilities are as sure as they are right.
    """

    kind: str
    name: str = "this model"
    backbone: str
    languages: list[str]
    similarity: str = "cosine"
    asks_language: bool = True
    batch: int = 1
    text_name: str | None = None
    prompt: str | None = None
    run: "Run | None" = None
    takes_features: bool = False
    temperature: float = 1.0

    @staticmethod
    def load(
        name: str | os.PathLike[str], device: str = "auto", text: str | None = None, prompt: str | None = None
    ) -> "Model":
        """A run or an exported model by its folder, a pretrained model by folder or hub name (see `loading.load`)."""
        from groundling.model.loading import load

        return load(os.fspath(name), text, device, prompt)

    @property
    @abstractmethod
    def dimensions(self) -> int:
        """The length of a text's vector."""

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Of all files that decide what the vectors are."""

    @property
    @abstractmethod
    def text_fingerprint(self) -> str:
        """Of what decides the vectors of texts."""

    @property
    @abstractmethod
    def picture_fingerprint(self) -> str:
        """Of what decides the vectors of pictures: while it stays, an index of pictures need not be built again."""

    @property
    def judges(self) -> bool:
        """Whether it can tell if a text is true of a picture."""
        return False

    @property
    def system_name(self) -> str:
        """The system that it was trained as, or the kind of network that it is."""
        return f"{self.kind} {self.backbone}"

    @property
    def parameter_sizes(self) -> Mapping[str, int]:
        """Parameter by its path → how many numbers it has. Paths begin with "text." (those of words with "text.words.")
        or "picture."."""
        raise UserError(
            f"{self.name}: its parameters are inside of graphs and cannot be told apart; ask of the model that it was "
            "made from"
        )

    @property
    def accuracy(self) -> dict[str, float]:
        """Language → how many of 100 test statements it judged right, where it was tested."""
        return {}

    @property
    def words_alone(self) -> dict[str, float]:
        """Language → how many of the same statements were judged right by their words, without a picture."""
        return {}

    def __repr__(self) -> str:
        reads = ", ".join(self.languages) or "any language"
        kind = type(self).__name__
        return f"{kind} {self.name}: reads {reads}; {self.dimensions} dimensions; pictures by {self.backbone}"

    def describe(self) -> Description:
        return Description(
            self.kind, self.name, self.backbone, self.dimensions, list(self.languages), self.similarity, self.judges
        )

    def as_start(self) -> "Start":
        """What a training that starts from this model, or is taught by it, builds on."""
        raise UserError(f"{self.name}: a model of this kind cannot be taught or tuned; name what it was made from")

    # Texts

    def encode_text(
        self, texts: str | Sequence[str], languages: str | Sequence[str] | None = None, batch_size: int = 512
    ) -> Vectors:
        """[texts, dimensions] unit vectors.

        `languages` is one code for all texts or one for each; left out, each is detected among those of the model.
        """
        texts = [texts] if isinstance(texts, str) else list(texts)
        if languages is None:
            codes = [detect_language(text, self.languages) if self.asks_language else "" for text in texts]
        else:
            codes = [languages] * len(texts) if isinstance(languages, str) else list(languages)
        if len(codes) != len(texts):
            raise ValueError(f"{len(texts)} texts but {len(codes)} languages")
        return self._encode_text(texts, codes, batch_size)

    @property
    def segmentation(self) -> str:
        """How it cuts texts into words (see `text.segmentation`)."""
        return "script"

    @property
    def vocabulary(self) -> frozenset[str] | None:
        """All words that it knows; None where it has no list of them, as of pieces of words that make up any word."""
        return None

    def read(self, text: str, language: str | None = None) -> TextReading:
        """How it would read a text: in which language, given or detected, and which of the words it knows.

        A language that the model does not read is an error where it is given, and told where it is detected.
        """
        given = checked_language(language, self.languages) if language else ""
        code = given or detect_language(text, self.languages)
        listed = self.vocabulary
        found = () if listed is None else tuple(words(text, code, self.segmentation))
        unknown = tuple(word for word in found if listed is not None and word not in listed)
        reading = TextReading(code, not given, "", self.languages, found, unknown)
        foreign = "" if given else foreign_language(text, self.languages, reading.known)
        return replace(reading, foreign=foreign)

    @abstractmethod
    def _encode_text(self, texts: Sequence[str], languages: Sequence[str], batch_size: int) -> Vectors: ...

    # Pictures

    def load_picture_side(self) -> None:
        """Load what looks at pictures, before several threads ask for it; text alone does not need it."""
        _ = self.preparation

    @property
    @abstractmethod
    def preparation(self) -> Callable[[bytes], npt.NDArray[Any]]:
        """What makes of the bytes of a picture file the array that the model is given.

        It is sent to a process of its own (see `decoding.workers`), where it needs no more than Pillow and NumPy, and
        raises `decoding.structure.PictureError`.
        """

    @abstractmethod
    def encode_prepared(self, prepared: Sequence[npt.NDArray[Any]]) -> Vectors:
        """[pictures, dimensions] unit vectors of what `preparation` gave; safe to call from several threads."""

    def encode_pictures(self, pictures: Picture | Iterable[Picture]) -> Vectors:
        """[pictures, dimensions] unit vectors of files, their bytes, Pillow images or arrays [height, width, 3].

        One that cannot be read is an error that names it.
        """
        return self._in_portions(pictures, self.encode_prepared, self.dimensions)

    def _in_portions(
        self, pictures: Picture | Iterable[Picture], work: Callable[[list[npt.NDArray[Any]]], Vectors], size: int
    ) -> Vectors:
        given = as_list(pictures)
        if not given:
            return np.zeros((0, size), dtype=np.float32)
        self.load_picture_side()
        parts = []
        with bar("Pictures", len(given)) as progress:
            for start in range(0, len(given), PICTURES_AT_ONCE):
                some = given[start : start + PICTURES_AT_ONCE]
                parts.append(work(self._prepared(some)))
                progress.advance(len(some))
        return np.concatenate(parts)

    def _prepared(self, pictures: Sequence[Picture]) -> list[npt.NDArray[Any]]:
        """Files and bytes are decoded in processes of their own: nobody knows who made them."""
        from groundling.decoding.workers import shared

        names, files = zip(*(named_bytes(picture) for picture in pictures), strict=True)
        prepared = []
        for name, found in zip(names, shared().arrays(files, self.preparation), strict=True):
            if isinstance(found, PictureError):
                raise UserError(f"{name}: {found}")
            prepared.append(found)
        return prepared

    # A corpus

    @property
    def corpus(self) -> CorpusSettings | None:
        """What it was trained on, and is tested on where nobody names another; None where that is not known."""
        return None

    @property
    def evaluation(self) -> EvaluationSettings:
        """How it is tested where nobody says: which captions ask, and in how many folds."""
        return EvaluationSettings()

    def dataset(
        self, corpus: CorpusSettings, data: Path | None = None, splits: Collection[str] | None = None
    ) -> "Dataset":
        """A corpus with the features of its pictures, as this model needs them; with `splits` only pictures of these.

        Features are kept between calls.
        """
        from groundling.model.on_corpus import dataset_of

        return dataset_of(self, corpus, data, splits)

    @property
    def features(self) -> int:
        """The length of a picture's features; those of a model without a frozen backbone are its vectors."""
        return self.dimensions

    def features_of(self, prepared: Sequence[npt.NDArray[Any]]) -> Vectors:
        """[pictures, features] of what `preparation` gave."""
        return self.encode_prepared(prepared)

    def encode_features(self, features: Vectors, batch_size: int = 4096) -> Vectors:
        """[pictures, dimensions] unit vectors of pictures given by their features."""
        return features

    # Both

    @property
    def finds(self) -> bool:
        """Whether its texts and pictures share a space, so that each can be found by the other."""
        return True

    def check_finds(self) -> None:
        if not self.finds:
            raise UserError(
                f"{self.name}: judges pictures cell by cell and cannot find them; train one of another system"
            )

    def score(
        self,
        texts: str | Sequence[str],
        pictures: Picture | Iterable[Picture],
        languages: str | Sequence[str] | None = None,
    ) -> Vectors:
        """[texts, pictures] similarities: the higher, the better they match.

        Cosines, from −1 to 1, but for models trained with `similarity: order`: theirs are no cosines, nor can they be
        had from a dot product; they run from −1 up to 0, where the text says nothing that the picture lacks.
        """
        self.check_finds()
        captions, seen = self.encode_text(texts, languages), self.encode_pictures(pictures)
        return similarities(self.similarity, captions, seen)

    def judge(
        self,
        texts: str | Sequence[str],
        pictures: Picture | Iterable[Picture],
        languages: str | Sequence[str] | None = None,
    ) -> Vectors:
        """[n, 3] probabilities that picture i contradicts, leaves open, or shows what text i says (see `LABELS`)."""
        raise UserError(f"{self.name}: cannot tell whether a text is true of a picture")


class FeatureModel(Model):
    """A model that looks at pictures through a frozen backbone: what the backbone gives, its features, can be kept."""

    takes_features = True

    @property
    @abstractmethod
    def features(self) -> int:
        """The length of what the backbone gives."""

    @abstractmethod
    def features_of(self, prepared: Sequence[npt.NDArray[Any]]) -> Vectors:
        """[pictures, features] of what `preparation` gave."""

    @abstractmethod
    def encode_features(self, features: Vectors, batch_size: int = 4096) -> Vectors:
        """[pictures, dimensions] unit vectors of pictures given by their backbone's features."""

    @abstractmethod
    def judge_features(
        self,
        texts: Sequence[str],
        features: Vectors,
        languages: str | Sequence[str],
        owners: Owners | None = None,
    ) -> Vectors:
        """`judge` of pictures given by their features: row i is of text i, or row `owners[i]` where these are given."""

    def entailment_logits(
        self,
        texts: Sequence[str],
        features: Vectors,
        languages: str | Sequence[str],
        owners: Owners | None = None,
    ) -> Vectors:
        """What these probabilities are made of, before the temperature: their logarithms, where no more is known."""
        shares = self.judge_features(texts, features, languages, owners)
        return np.log(np.maximum(shares, np.finfo(np.float32).tiny))

    def encode_prepared(self, prepared: Sequence[npt.NDArray[Any]]) -> Vectors:
        return self.encode_features(self.features_of(prepared))

    def picture_features(self, pictures: Picture | Iterable[Picture]) -> Vectors:
        """[pictures, features] of files, bytes, images or arrays; one that cannot be read is an error that names it."""
        return self._in_portions(pictures, self.features_of, self.features)

    def encode_pictures(self, pictures: Picture | Iterable[Picture]) -> Vectors:
        return self.encode_features(self.picture_features(pictures))

    def judge(
        self,
        texts: str | Sequence[str],
        pictures: Picture | Iterable[Picture],
        languages: str | Sequence[str] | None = None,
    ) -> Vectors:
        """[n, 3] probabilities; a picture that several texts are about is looked at once."""
        self.check_judges()
        texts, given = [texts] if isinstance(texts, str) else list(texts), as_list(pictures)
        if len(texts) != len(given):
            raise ValueError(f"{len(texts)} texts but {len(given)} pictures")
        if languages is None:
            languages = [detect_language(text, self.languages) for text in texts]
        keys = [str(one) if isinstance(one, str | Path) else id(one) for one in given]
        place = {key: row for row, key in enumerate(dict.fromkeys(keys))}
        features = self.picture_features([given[keys.index(key)] for key in place])
        return self.judge_features(texts, features, languages, np.array([place[key] for key in keys], dtype=np.int64))

    @abstractmethod
    def check_judges(self) -> None:
        """An error that says why, where it cannot judge."""


def refuse_options(name: str, text: str | None, prompt: str | None) -> None:
    """Of a model that reads texts as it was trained to: neither another text side nor a prompt goes with it."""
    if text is not None or prompt is not None:
        option = "a separate text encoder" if text is not None else "a prompt"
        raise UserError(f"{name}: reads texts as it was trained to; {option} goes with a pretrained model")


def similarities(kind: str, captions: Vectors, pictures: Vectors) -> Vectors:
    """[captions, pictures] of unit vectors: their cosine, or −‖max(0, |caption| − |picture|)‖² for "order"."""
    if kind != "order":
        return captions @ pictures.T
    sizes = np.abs(pictures)
    scores = np.zeros((len(captions), len(pictures)), dtype=np.float32)
    for row, caption in enumerate(np.abs(captions)):
        scores[row] = -np.square(np.maximum(caption - sizes, 0)).sum(axis=1)
    return scores
