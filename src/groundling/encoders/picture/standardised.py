"""Picture features into the shared space: standardised, with noise, one linear layer."""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

LEAST = 1e-3  # deviation to divide by, of features that hardly change


class StandardisedEncoder(nn.Module):
    """(features − mean) / deviation → Gaussian noise → dropout → linear → unit vectors.

    Features of one network differ a thousandfold in size. Brought to the same deviation over the training pictures,
    each can say something, and noise of one size blurs all of them alike: with few pictures it keeps the layer from
    remembering single ones. Noise and dropout are for training alone.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(self, features: int, dimensions: int, dropout: float = 0.3, noise: float = 0.0) -> None:
        super().__init__()
        self.noise, self.dropout = noise, nn.Dropout(dropout)
        self.project = nn.Linear(features, dimensions)
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("deviation", torch.ones(features))

    @torch.no_grad()
    def fit(self, features: Tensor) -> None:
        """Take mean and deviation from the training pictures, [pictures, features]."""
        self.mean.copy_(features.mean(dim=0))
        self.deviation.copy_(features.std(dim=0, correction=0).clamp(min=LEAST))

    def forward(self, features: Tensor) -> Tensor:
        """[pictures, features] → [pictures, dimensions]"""
        standard = (features.float() - self.mean) / self.deviation
        if self.training and self.noise:
            standard = standard + self.noise * torch.randn_like(standard)
        return normalize(self.project(self.dropout(standard)).float(), dim=-1)
