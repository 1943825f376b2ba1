"""What looks at pictures, in a form that becomes an ONNX graph: the backbone, and the picture encoder behind it."""

import torch
from torch import Tensor, nn

from groundling.encoders.picture.given import UnseenPictures
from groundling.vision.backbones import Backbone


def picture_graph(encoder: nn.Module) -> nn.Module:
    """A module that traces to the graph of a picture encoder: most are nothing but linear layers, and do as they are."""
    return Blank(encoder.dimensions) if isinstance(encoder, UnseenPictures) else encoder


class Blank(nn.Module):
    def __init__(self, dimensions: int) -> None:
        super().__init__()
        self.dimensions = dimensions

    def forward(self, features: Tensor) -> Tensor:
        return features[:, :1].sign().mul(0).expand(-1, self.dimensions)


class Eyes(nn.Module):
    """A backbone with what comes before it: [squares, size, size, 3] bytes → colours as it knows them → features."""

    mean: Tensor
    std: Tensor

    def __init__(self, backbone: Backbone, mirror: bool) -> None:
        super().__init__()
        self.network, self.mirror = backbone.network, mirror
        self.register_buffer("mean", torch.tensor(backbone.mean)[:, None, None])
        self.register_buffer("std", torch.tensor(backbone.std)[:, None, None])

    def forward(self, pixels: Tensor) -> Tensor:
        squares = (pixels.permute(0, 3, 1, 2).float() / 255 - self.mean) / self.std
        features = self.network(squares)
        return (features + self.network(squares.flip(3))) / 2 if self.mirror else features
