"""A run of ours as the model of an index."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from groundling.errors import UserError
from groundling.evaluation.unseen import trained_languages
from groundling.export.fingerprint import run_fingerprint
from groundling.model import Model, Vectors
from groundling.run import Run
from groundling.vision.backbones import Backbone
from groundling.vision.from_settings import backbone_of, check_looks, preprocessing_of
from groundling.vision.preprocessing import Pixels, Preprocessing


class RunEncoder:
    """See `search.encoder.Encoder`. The backbone is loaded with the first picture: a text query never needs it."""

    kind = "run"

    def __init__(self, folder: Path, device: str = "auto") -> None:
        run, self.model = Run.open(folder), Model.load(folder, device)
        if self.model.system.similarity != "cosine":
            raise UserError(
                f"{folder}: this model compares by `similarity: {self.model.system.similarity}`, which is no inner "
                "product, so that no index can search it; choose a run with `similarity: cosine`"
            )
        self.folder, self.batch = folder, 1
        self.languages = trained_languages(run, self.model)
        features = self.model.recipe.features
        known = self.model.looks is not None and features.array is None
        self.backbone = features.backbone if known else "a precomputed array"
        self.model.check_finds()
        self.dimensions = self.model.encode_features(np.zeros((1, self.model.features), dtype=np.float32)).shape[1]
        self.fingerprint = run_fingerprint(run, features)

    @cached_property
    def _looking(self) -> tuple[Backbone, Preprocessing]:
        try:
            features = check_looks(self.model.looks)
        except UserError as error:
            raise UserError(f"{self.folder}: {error}") from None
        backbone = backbone_of(features)
        if backbone.dim != self.model.features:
            raise UserError(f"{self.folder}: its backbone {backbone.name} is not the one that it was trained with")
        return backbone, preprocessing_of(features, backbone)

    def open_eyes(self) -> None:
        _ = self._looking

    def prepare(self, data: bytes) -> Pixels:
        return self._looking[1].pixels(data)

    def encode_pictures(self, prepared: Sequence[Pixels]) -> Vectors:
        backbone, preprocessing = self._looking
        return self.model.encode_features(backbone.features(prepared, preprocessing).numpy())

    def encode_text(self, texts: Sequence[str], languages: Sequence[str]) -> Vectors:
        return self.model.encode_text(texts, languages)
