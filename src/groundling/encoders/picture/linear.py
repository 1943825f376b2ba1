"""Picture features into the shared space: one linear layer (seed 002, section 3)."""

from torch import Tensor, nn
from torch.nn.functional import normalize


class LinearPictureEncoder(nn.Module):
    """Unit features → dropout (none as published) → linear → unit vectors. Xavier weights, zero bias at the start."""

    def __init__(self, features: int, dimensions: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.dropout = nn.Dropout(dropout)
        self.project = nn.Linear(features, dimensions)
        nn.init.xavier_uniform_(self.project.weight)
        nn.init.zeros_(self.project.bias)

    def forward(self, features: Tensor) -> Tensor:
        """[pictures, features] → [pictures, dimensions]"""
        return normalize(self.project(self.dropout(normalize(features, dim=-1))).float(), dim=-1)
