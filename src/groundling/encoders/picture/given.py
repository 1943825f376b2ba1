"""Pictures that need no encoder: their features are the shared space already, or are not to be looked at.

>>> import torch
>>> GivenPictures(2, 2)(torch.tensor([[3.0, 4.0]]))
tensor([[0.6000, 0.8000]])
>>> BlankPictures(2, 3)(torch.tensor([[3.0, 4.0]]))
tensor([[0., 0., 0.]])
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.encoders.picture.base import PICTURE_ENCODERS, PictureEncoder
from groundling.encoders.settings import EncoderSettings
from groundling.errors import UserError


@PICTURE_ENCODERS.register("given")
class GivenPictures(PictureEncoder):
    """Features that are made to be compared with text, such as CLIP's projected embedding (Radford et al. 2021,
    https://arxiv.org/abs/2103.00020) → unit vectors. Nothing to train."""

    def __init__(self, features: int, dimensions: int, settings: EncoderSettings = EncoderSettings()) -> None:
        super().__init__(features)
        if features != dimensions:
            raise UserError(
                f"system.picture: given features are {features} numbers and sentences have {dimensions}; set "
                f"system.dimensions={features}, or features.projected=true where these are not CLIP's own vectors"
            )

    def forward(self, features: Tensor) -> Tensor:
        """[pictures, features] → the same, of length one"""
        return normalize(features.float(), dim=-1)


@PICTURE_ENCODERS.register("blank")
class BlankPictures(PictureEncoder):
    """Every picture is zero: what is left is what the text alone gives away."""

    def __init__(self, features: int, dimensions: int, settings: EncoderSettings = EncoderSettings()) -> None:
        super().__init__(features)
        self.dimensions = dimensions

    def forward(self, features: Tensor) -> Tensor:
        """[pictures, features] → [pictures, dimensions] zeros"""
        return features.new_zeros(len(features), self.dimensions, dtype=torch.float32)

    def export_graph(self) -> nn.Module:
        return BlankGraph(self.dimensions)


class BlankGraph(nn.Module):
    """Zeros that depend on the features, for a graph must have a use for its input."""

    def __init__(self, dimensions: int) -> None:
        super().__init__()
        self.dimensions = dimensions

    def forward(self, features: Tensor) -> Tensor:
        return features[:, :1].sign().mul(0).expand(-1, self.dimensions)
