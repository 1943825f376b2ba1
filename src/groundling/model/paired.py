"""The picture side of one pretrained model with the text side of another, made for each other.

So work the multilingual CLIPs of sentence-transformers (Reimers & Gurevych 2020, "Making monolingual sentence
embeddings multilingual using knowledge distillation", https://arxiv.org/abs/2004.09813), whose text encoder was taught
CLIP's space in fifty languages.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from groundling.errors import UserError
from groundling.model.pretrained import PretrainedModel
from groundling.model.protocol import Model, Vectors
from groundling.model.sentence_encoder import SentenceEncoder
from groundling.model.snapshot import fingerprint
from groundling.vision.preprocessing import Pixels, Upright


class PairedModel(Model):
    """See `protocol.Model`."""

    kind = "pretrained"
    asks_language = False

    def __init__(self, pictures: PretrainedModel, text: SentenceEncoder) -> None:
        if text.dimensions != pictures.dimensions:
            raise UserError(
                f"{text.name} gives vectors of {text.dimensions} numbers, but {pictures.name} of "
                f"{pictures.dimensions}: they were not made for each other"
            )
        self.pictures, self.text = pictures, text
        self.name, self.backbone, self.batch = pictures.name, pictures.backbone, pictures.batch
        self.languages = []  # not known: no checkpoint says

    @property
    def dimensions(self) -> int:
        return self.pictures.dimensions

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(self.pictures.folder, self.text.folder)

    @cached_property
    def text_fingerprint(self) -> str:
        return fingerprint(self.text.folder)

    @property
    def picture_fingerprint(self) -> str:
        return self.pictures.picture_fingerprint

    def load_picture_side(self) -> None:
        self.pictures.load_picture_side()

    @property
    def preparation(self) -> Upright:
        return self.pictures.preparation

    def encode_prepared(self, prepared: Sequence[Pixels]) -> Vectors:
        return self.pictures.encode_prepared(prepared)

    def _encode_text(self, texts: Sequence[str], languages: Sequence[str], batch_size: int) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        return self.text.encode(texts, batch_size)
