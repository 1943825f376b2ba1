"""Pictures that need no encoder: their features are the shared space already, or are not to be looked at."""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize


class GivenPictures(nn.Module):
    """Features that are made to be compared with text (CLIP's projected embedding) → unit vectors. Nothing to train."""

    width: Tensor

    def __init__(self, features: int) -> None:
        super().__init__()
        self.register_buffer("width", torch.tensor(features))  # so that saved weights tell it

    def forward(self, features: Tensor) -> Tensor:
        """[pictures, features] → the same, of length one"""
        return normalize(features.float(), dim=-1)


class UnseenPictures(nn.Module):
    """Every picture is zero: what is left is what the text alone gives away."""

    width: Tensor

    def __init__(self, features: int, dimensions: int) -> None:
        super().__init__()
        self.dimensions = dimensions
        self.register_buffer("width", torch.tensor(features))

    def forward(self, features: Tensor) -> Tensor:
        """[pictures, features] → [pictures, dimensions] zeros"""
        return features.new_zeros(len(features), self.dimensions, dtype=torch.float32)
