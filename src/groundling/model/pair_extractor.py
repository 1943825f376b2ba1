"""The picture side of a pretrained model as what a run looks at pictures with: the run has a copy of it, and needs
nothing else to be used."""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy.typing as npt
import torch
from torch import Tensor

from groundling import hub
from groundling.dataset import Dataset
from groundling.files import read_json
from groundling.model.copied_sides import picture_side
from groundling.model.feature_extractor import FeatureExtractor
from groundling.model.fingerprint import side_fingerprint
from groundling.model.on_corpus import dataset_of
from groundling.model.sides import GPU_BATCH, PictureSide
from groundling.model.vectors import Vectors
from groundling.run import Run
from groundling.settings import CorpusSettings
from groundling.systems.plan import PretrainedPictures
from groundling.vision.tuned import read as read_tuned

if TYPE_CHECKING:
    from groundling.model.protocol import Model


class PairExtractor(FeatureExtractor):
    """What the picture side makes of a picture, as unit vectors, are the features that the picture encoder reads.

    Args:
        run: which holds the copy.
        weights: the folder of the weights of a picture side that was trained along.
        device: where it computes.
    """

    takes_features = False

    def __init__(self, run: Run, weights: str | None, device: torch.device) -> None:
        self.weights, self.device = weights, device
        self.batch = GPU_BATCH if device.type == "cuda" else 1
        saved = hub.placed(read_json(run.verified(run.pictures_file)), run.folder)
        self.kept: PretrainedPictures = PretrainedPictures(saved["model"], Path(saved["folder"]), saved["fingerprint"])

    @cached_property
    def pictures(self) -> PictureSide:
        side = picture_side(self.kept.folder, str(self.device))
        if self.weights is not None:
            side.network.load_state_dict(read_tuned(Path(self.weights)).tensors, strict=False)
        return side

    @property
    def backbone(self) -> str:
        return self.pictures.backbone

    @property
    def preparation(self) -> Callable[[bytes], npt.NDArray[Any]]:
        return self.pictures.preparation

    def features_of(self, prepared: Sequence[npt.NDArray[Any]]) -> Vectors:
        return self.pictures.encode(prepared)

    def fingerprint(self, weights: Mapping[str, Tensor]) -> str:
        """That of the pretrained model, where nothing was trained behind its picture side: its indexes serve on."""
        trained = {name: value for name, value in weights.items() if name.startswith("picture.")}
        side = self.kept.fingerprint
        if self.weights is not None:
            side = f"{side} {read_tuned(Path(self.weights)).fingerprint}"
        elif set(trained) <= {"picture.width"}:
            return side
        return side_fingerprint(side, trained, "picture.")

    def dataset(
        self, model: "Model", corpus: CorpusSettings, data: Path | None, splits: Collection[str] | None
    ) -> Dataset:
        return dataset_of(model, corpus, data, splits)
