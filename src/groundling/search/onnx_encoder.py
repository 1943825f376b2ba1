"""A model that `groundling export` wrote as the model of an index: onnxruntime does the work, torch is never loaded."""

from collections.abc import Sequence
from pathlib import Path

from groundling.errors import UserError
from groundling.export import OnnxModel
from groundling.search.encoder import Vectors
from groundling.vision.preprocessing import Pixels


class OnnxEncoder:
    """See `search.encoder.Encoder`. It stands in for its run: an index built with one is searched with the other."""

    kind = "run"
    batch = 1

    def __init__(self, folder: Path) -> None:
        self.model = OnnxModel.load(folder)
        facts = self.model.manifest
        if facts.similarity != "cosine":
            raise UserError(
                f"{folder}: this model compares by `similarity: {facts.similarity}`, which is no inner product, so "
                "that no index can search it; export a run with `similarity: cosine`"
            )
        if facts.dimensions != facts.picture_dimensions:
            raise UserError(f"{folder}: this model judges pictures cell by cell, so that no index can search it")
        self.backbone, self.fingerprint, self.dimensions = facts.backbone_name, facts.fingerprint, facts.dimensions
        self.languages = list(facts.languages)

    def open_eyes(self) -> None:
        self.model.open_eyes()

    def prepare(self, data: bytes) -> Pixels:
        return self.model.prepare(data)

    def encode_pictures(self, prepared: Sequence[Pixels]) -> Vectors:
        return self.model.encode_pixels(prepared)

    def encode_text(self, texts: Sequence[str], languages: Sequence[str]) -> Vectors:
        return self.model.encode_text(texts, languages)
