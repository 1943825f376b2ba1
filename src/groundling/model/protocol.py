"""What every model can be asked, whatever it is made of.

>>> model = Model.load("runs/demo")                                         # doctest: +SKIP
>>> model.score(["a dog", "ein Hund"], ["dog.png"])                         # doctest: +SKIP
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from groundling.errors import UserError
from groundling.model.description import Description
from groundling.model.pictures import Picture, as_list, prepared_portions
from groundling.model.reading import TextReading, languages_of, read_text
from groundling.model.vectors import Vectors, similarities
from groundling.settings import CorpusSettings, EvaluationSettings

if TYPE_CHECKING:
    from groundling.dataset import Dataset
    from groundling.run import Run
    from groundling.systems import Start


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
        if languages is None and not self.asks_language:
            languages = ""
        return self._encode_text(texts, languages_of(texts, languages, self.languages), batch_size)

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
        return read_text(text, language, self.languages, self.vocabulary, self.segmentation)

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
        return self.in_portions(pictures, self.encode_prepared, self.dimensions)

    def in_portions(
        self, pictures: Picture | Iterable[Picture], work: Callable[[list[npt.NDArray[Any]]], Vectors], size: int
    ) -> Vectors:
        """[pictures, size] what `work` makes of pictures that were prepared for this model."""
        given = as_list(pictures)
        if not given:
            return np.zeros((0, size), dtype=np.float32)
        self.load_picture_side()
        return np.concatenate([work(some) for some in prepared_portions(given, self.preparation)])

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
