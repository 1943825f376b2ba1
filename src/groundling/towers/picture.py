"""Picture features into the shared space: one linear layer (seed 002, section 3)."""

from torch import Tensor, nn
from torch.nn.functional import normalize


class PictureTower(nn.Module):
    """Unit features → linear → unit vectors. Xavier weights and no bias at the start, as published."""

    def __init__(self, features: int, dimensions: int) -> None:
        super().__init__()
        self.project = nn.Linear(features, dimensions)
        nn.init.xavier_uniform_(self.project.weight)
        nn.init.zeros_(self.project.bias)

    def forward(self, features: Tensor) -> Tensor:
        """[pictures, features] → [pictures, dimensions]"""
        return normalize(self.project(normalize(features, dim=-1)).float(), dim=-1)
