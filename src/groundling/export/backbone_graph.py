"""A backbone in a form that becomes an ONNX graph."""

import torch
from torch import Tensor, nn

from groundling.vision.backbones import Backbone


class BackboneGraph(nn.Module):
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
