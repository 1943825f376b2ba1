"""Picture features into the shared space: standardised, with noise, one linear layer.

>>> encoder = StandardisedEncoder(6, 4, StandardisedSettings())
>>> encoder.fit(torch.rand(20, 6))
>>> encoder(torch.rand(3, 6)).shape
torch.Size([3, 4])
"""

from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.encoders.picture.base import PICTURE_ENCODERS, PictureEncoder
from groundling.encoders.settings import EncoderSettings

LEAST = 1e-3  # deviation to divide by, of features that hardly change


class StandardisedSettings(EncoderSettings):
    dropout: float = Field(0.3, ge=0, lt=1, description="of the standardised features")
    noise: float = Field(0.0, ge=0, description="deviation of the noise on them")


@PICTURE_ENCODERS.register("standardised")
class StandardisedEncoder(PictureEncoder):
    """(features − mean) / deviation → Gaussian noise → dropout → linear → unit vectors.

    Features of one network differ a thousandfold in size. Brought to the same deviation over the training pictures,
    each can say something, and noise of one size blurs all of them alike: with few pictures it keeps the layer from
    remembering single ones. Noise and dropout are for training alone.
    """

    Settings: ClassVar = StandardisedSettings
    project_reads: ClassVar = True
    mean: Tensor
    deviation: Tensor

    def __init__(self, features: int, dimensions: int, settings: StandardisedSettings) -> None:
        super().__init__(features)
        self.noise, self.dropout = settings.noise, nn.Dropout(settings.dropout)
        self.project = nn.Linear(features, dimensions)
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("deviation", torch.ones(features))

    @torch.no_grad()
    def fit(self, features: Tensor) -> None:
        """Take mean and deviation from the training pictures, [pictures, features]."""
        self.mean.copy_(features.mean(dim=0))
        self.deviation.copy_(features.std(dim=0, correction=0).clamp(min=LEAST))

    def forward(self, features: Tensor) -> Tensor:
        standard = (features.float() - self.mean) / self.deviation
        if self.training and self.noise:
            standard = standard + self.noise * torch.randn_like(standard)
        return normalize(self.project(self.dropout(standard)).float(), dim=-1)
