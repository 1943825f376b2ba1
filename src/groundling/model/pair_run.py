"""A run that looks at pictures with the picture side of a pretrained model, of which it has a copy: nothing else is
needed to use it."""

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy.typing as npt

from groundling import hub
from groundling.dataset import Dataset
from groundling.files import read_json
from groundling.model.feature_model import FeatureModel
from groundling.model.fingerprint import side_fingerprint
from groundling.model.kept_sides import picture_side
from groundling.model.pictures import Picture
from groundling.model.sides import GPU_BATCH, PictureSide
from groundling.model.trained import TrainedModel
from groundling.model.vectors import Vectors
from groundling.settings import CorpusSettings
from groundling.systems.plan import NO_CORPUS, KeptPictures
from groundling.vision.tuned import read as read_tuned


class PairRun(TrainedModel):
    """What its picture side makes of a picture, as unit vectors, are the features that its picture encoder reads."""

    takes_features = False

    @cached_property
    def pictures(self) -> PictureSide:
        side = picture_side(self._kept.folder, str(self.device))
        if self.recipe.features.weights is not None:  # a picture side that was trained along
            side.network.load_state_dict(read_tuned(Path(self.recipe.features.weights)).tensors, strict=False)
        return side

    @cached_property
    def _kept(self) -> KeptPictures:
        assert self.run is not None  # noqa: S101 (it was loaded)
        saved = hub.placed(read_json(self.run.verified(self.run.pictures_file)), self.run.folder)
        return KeptPictures(saved["model"], Path(saved["folder"]), saved["fingerprint"])

    @property
    def kept_pictures(self) -> KeptPictures:
        return self._kept

    @property
    def backbone(self) -> str:  # type: ignore[override]  # known once it is loaded
        return self.pictures.backbone

    @property
    def batch(self) -> int:  # type: ignore[override]
        return GPU_BATCH if self.device.type == "cuda" else 1

    @cached_property
    def picture_fingerprint(self) -> str:
        """That of the pretrained model, where nothing was trained behind its picture side: its indexes serve on."""
        trained = {name: value for name, value in self.encoders.state_dict().items() if name.startswith("picture.")}
        side = self._kept.fingerprint
        if self.recipe.features.weights is not None:
            side = f"{side} {read_tuned(Path(self.recipe.features.weights)).fingerprint}"
        elif set(trained) <= {"picture.width"}:
            return side
        return side_fingerprint(side, trained, "picture.")

    @property
    def corpus(self) -> CorpusSettings | None:  # type: ignore[override]  # a pair that was taught has met none
        return None if self.recipe.corpus.name == NO_CORPUS else self.recipe.corpus

    def dataset(
        self, corpus: CorpusSettings, data: Path | None = None, splits: Collection[str] | None = None
    ) -> Dataset:
        return FeatureModel.dataset(self, corpus, data, splits)

    @property
    def preparation(self) -> Callable[[bytes], npt.NDArray[Any]]:  # type: ignore[override]  # the pair cuts pictures itself
        return self.pictures.preparation

    def features_of(self, prepared: Sequence[npt.NDArray[Any]]) -> Vectors:
        return self.pictures.encode(prepared)

    def picture_features(self, pictures: Picture | Iterable[Picture]) -> Vectors:
        return FeatureModel.picture_features(self, pictures)
