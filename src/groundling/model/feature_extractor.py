"""What a run makes of pictures before its picture encoder sees them: their features, from a frozen network."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt
from torch import Tensor

from groundling.dataset import Dataset
from groundling.devices import pick_device
from groundling.errors import UserError
from groundling.model.fingerprint import side_fingerprint
from groundling.model.sides import GPU_BATCH, PictureSide
from groundling.model.vectors import Vectors
from groundling.settings import CorpusSettings, FeatureSettings
from groundling.systems.plan import PretrainedPictures
from groundling.vision.preprocessing import Pixels, Preprocessing
from groundling.vision.tuned import read as read_tuned

if TYPE_CHECKING:
    from groundling.model.protocol import Model


class FeatureExtractor(ABC):
    """
    Attributes:
        takes_features: whether pictures can be given by features that somebody else computed.
        batch: how many pictures are best looked at together.
        kept: the copy of a pretrained picture side, where it is one.
    """

    takes_features: bool
    batch: int = 1
    kept: PretrainedPictures | None = None

    @property
    def pictures(self) -> PictureSide | None:
        """The side of a pretrained model that looks at the pictures; None where a backbone does."""
        return None

    @property
    @abstractmethod
    def backbone(self) -> str:
        """What looks at the pictures, in a word."""

    @property
    @abstractmethod
    def preparation(self) -> Callable[[bytes], npt.NDArray[Any]]:
        """See `protocol.Model.preparation`."""

    @abstractmethod
    def features_of(self, prepared: Sequence[npt.NDArray[Any]]) -> Vectors:
        """[pictures, features] of what `preparation` gave."""

    def features_of_files(self, paths: list[Path]) -> Vectors | None:
        """[pictures, features] that are kept, and found again by content; None where nothing is kept."""
        return None

    @abstractmethod
    def fingerprint(self, weights: Mapping[str, Tensor]) -> str:
        """Of what decides the vectors of pictures: this extractor, and the weights of the picture encoder behind it."""

    @abstractmethod
    def dataset(
        self, model: "Model", corpus: CorpusSettings, data: Path | None, splits: Collection[str] | None
    ) -> Dataset:
        """A corpus with the features that `model`, whose extractor this is, needs."""


class BackboneExtractor(FeatureExtractor):
    """A backbone by name, with the settings of the recipe.

    Args:
        name: of the model, for errors.
        settings: what its recipe says.
        known: whether these say how it looks at picture files; not so where features came with a corpus.
        features: the length of the features that its picture encoder was trained on.
    """

    takes_features = True

    def __init__(self, name: str, settings: FeatureSettings, known: bool, features: int) -> None:
        self.name, self.settings, self.known, self.features = name, settings, known, features
        self.batch = GPU_BATCH if pick_device().type == "cuda" else 1

    @property
    def backbone(self) -> str:
        return self.settings.backbone if self.known and self.settings.array is None else "a precomputed array"

    @cached_property
    def _network(self) -> tuple[Callable[[Sequence[Pixels]], Vectors], Preprocessing]:
        from groundling.vision.from_settings import backbone_of, check_features, preprocessing_of

        try:
            settings = check_features(self.settings if self.known else None)
        except UserError as error:
            raise UserError(f"{self.name}: {error}") from None
        backbone = backbone_of(settings)
        if backbone.dim != self.features:
            raise UserError(f"{self.name}: its backbone {backbone.name} is not the one that it was trained with")
        preprocessing = preprocessing_of(settings, backbone)
        return lambda pixels: backbone.features(pixels, preprocessing).numpy(), preprocessing

    @property
    def preparation(self) -> Preprocessing:
        return self._network[1]

    def features_of(self, prepared: Sequence[npt.NDArray[Any]]) -> Vectors:
        return self._network[0](prepared)

    def features_of_files(self, paths: list[Path]) -> Vectors:
        """Kept by `vision.cache`."""
        from groundling.vision.from_settings import file_features

        return file_features(paths, self.settings if self.known else None)

    def fingerprint(self, weights: Mapping[str, Tensor]) -> str:
        settings = self.settings.model_dump(exclude_defaults=True)
        if self.settings.weights is not None:  # what they are, not where they lie
            settings["weights"] = read_tuned(Path(self.settings.weights)).fingerprint
        return side_fingerprint(settings, weights, "picture.")

    def dataset(
        self, model: "Model", corpus: CorpusSettings, data: Path | None, splits: Collection[str] | None
    ) -> Dataset:
        """Features of all pictures are kept, but of a run with a picture network of its own only those of its dev and
        test pictures, and looking at all others takes long."""
        return Dataset.load(corpus, self.settings, data, None if self.settings.weights is None else splits)
