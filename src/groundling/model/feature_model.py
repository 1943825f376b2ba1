"""Models that look at pictures through a frozen backbone."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from groundling.calibration import probabilities
from groundling.corpus.entailment import LABELS
from groundling.model.pictures import Picture, as_list
from groundling.model.protocol import Model
from groundling.model.reading import languages_of
from groundling.model.vectors import Owners, Vectors


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

    def entailment_logits(
        self, texts: Sequence[str], features: Vectors, languages: str | Sequence[str], owners: Owners | None = None
    ) -> Vectors:
        """[n, 3] what the probabilities of `judge` are made of, before the temperature, of pictures given by their
        features: row i is of text i, or row `owners[i]` where these are given."""
        self.check_judges()
        codes = languages_of(texts, languages, self.languages)
        rows = np.arange(len(features)) if owners is None else owners
        if len(texts) != len(rows):
            raise ValueError(f"{len(texts)} texts but {len(rows)} pictures")
        if not len(texts):
            return np.zeros((0, len(LABELS)), dtype=np.float32)
        return self._logits(texts, codes, features, rows)

    @abstractmethod
    def _logits(self, texts: Sequence[str], codes: Sequence[str], features: Vectors, rows: Owners) -> Vectors:
        """The same for at least one text: text i is in the language `codes[i]`, about row `rows[i]` of the features."""

    def judge_features(
        self, texts: Sequence[str], features: Vectors, languages: str | Sequence[str], owners: Owners | None = None
    ) -> Vectors:
        """`judge` of pictures given by their features, as `entailment_logits` takes them."""
        return probabilities(self.entailment_logits(texts, features, languages, owners), self.temperature)

    def encode_prepared(self, prepared: Sequence[npt.NDArray[Any]]) -> Vectors:
        return self.encode_features(self.features_of(prepared))

    def picture_features(self, pictures: Picture | Iterable[Picture]) -> Vectors:
        """[pictures, features] of files, bytes, images or arrays; one that cannot be read is an error that names it."""
        return self.in_portions(pictures, self.features_of, self.features)

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
        keys = [str(one) if isinstance(one, str | Path) else id(one) for one in given]
        place = {key: row for row, key in enumerate(dict.fromkeys(keys))}
        features = self.picture_features([given[keys.index(key)] for key in place])
        codes = languages_of(texts, languages, self.languages)
        return self.judge_features(texts, features, codes, np.array([place[key] for key in keys], dtype=np.int64))

    @abstractmethod
    def check_judges(self) -> None:
        """An error that says why, where it cannot judge."""
