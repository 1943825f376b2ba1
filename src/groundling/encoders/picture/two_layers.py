"""Picture features into the shared space by two layers.

Wang, Li, Huang and Lazebnik 2018, "Learning two-branch neural networks for image-text matching tasks",
https://arxiv.org/abs/1704.03470; the picture branch of MULE and SMALR.

>>> import torch
>>> TwoLayerPictureEncoder(6, 4, TwoLayerSettings(hidden=8)).eval()(torch.rand(3, 6)).shape
torch.Size([3, 4])
"""

from typing import ClassVar

from pydantic import Field, PositiveInt
from torch import Tensor, nn
from torch.nn.functional import normalize, relu

from groundling.encoders.picture.base import PICTURE_ENCODERS, PictureEncoder
from groundling.encoders.settings import EncoderSettings


class TwoLayerSettings(EncoderSettings):
    hidden: PositiveInt = Field(2048, description="dimensions of the hidden layer")
    dropout: float = Field(0.5, ge=0, lt=1, description="of the hidden layer")
    normalise: bool = Field(
        True, description="false: batch normalisation is part of the first layer already (see `compact`)"
    )


@PICTURE_ENCODERS.register("two_layers")
class TwoLayerPictureEncoder(PictureEncoder):
    """Features → linear → batch normalisation → ReLU → dropout → linear → unit vectors."""

    Settings: ClassVar = TwoLayerSettings
    project_reads: ClassVar = True

    def __init__(self, features: int, dimensions: int, settings: TwoLayerSettings) -> None:
        super().__init__(features)
        self.project = nn.Linear(features, settings.hidden)
        self.norm = nn.BatchNorm1d(settings.hidden) if settings.normalise else nn.Identity()
        self.dropout = nn.Dropout(settings.dropout)
        self.narrow = nn.Linear(settings.hidden, dimensions)

    def forward(self, features: Tensor) -> Tensor:
        hidden = self.dropout(relu(self.norm(self.project(features))))
        return normalize(self.narrow(hidden).float(), dim=-1)
