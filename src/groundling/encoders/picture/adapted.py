"""Vectors of a pretrained pair's pictures through one layer that begins as the identity: a linear adapter.

>>> import torch
>>> AdaptedPictures(2, 2)(torch.tensor([[3.0, 4.0]]))
tensor([[0.6000, 0.8000]], grad_fn=<DivBackward0>)
"""

from typing import ClassVar

from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.encoders.picture.base import PICTURE_ENCODERS, PictureEncoder
from groundling.encoders.settings import EncoderSettings


@PICTURE_ENCODERS.register("adapted")
class AdaptedPictures(PictureEncoder):
    """Unit features → linear, no bias → unit vectors."""

    project_reads: ClassVar = True

    def __init__(self, features: int, dimensions: int, settings: EncoderSettings = EncoderSettings()) -> None:
        super().__init__(features)
        self.project = nn.Linear(features, dimensions, bias=False)
        nn.init.eye_(self.project.weight)

    def forward(self, features: Tensor) -> Tensor:
        return normalize(self.project(normalize(features.float(), dim=-1)).float(), dim=-1)
