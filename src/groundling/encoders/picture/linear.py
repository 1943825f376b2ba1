"""Picture features into the shared space: one linear layer.

Kádár et al. 2018, "Lessons learned in multilingual grounded language learning", section 3,
https://arxiv.org/abs/1809.07615

>>> import torch
>>> LinearPictureEncoder(6, 4, LinearSettings())(torch.rand(3, 6)).shape
torch.Size([3, 4])
"""

from typing import ClassVar

from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.encoders.picture.base import PICTURE_ENCODERS, PictureEncoder
from groundling.encoders.settings import EncoderSettings


class LinearSettings(EncoderSettings):
    dropout: float = Field(0.0, ge=0, lt=1, description="of the picture's features; none as published")


@PICTURE_ENCODERS.register("linear")
class LinearPictureEncoder(PictureEncoder):
    """Unit features → dropout → linear → unit vectors. Xavier weights, zero bias at the start."""

    Settings: ClassVar = LinearSettings
    project_reads: ClassVar = True

    def __init__(self, features: int, dimensions: int, settings: LinearSettings = LinearSettings()) -> None:
        super().__init__(features)
        self.dropout = nn.Dropout(settings.dropout)
        self.project = nn.Linear(features, dimensions)
        nn.init.xavier_uniform_(self.project.weight)
        nn.init.zeros_(self.project.bias)

    def forward(self, features: Tensor) -> Tensor:
        return normalize(self.project(self.dropout(normalize(features, dim=-1))).float(), dim=-1)
