"""Picture features into the shared space by two layers (Wang et al. 2018; the picture branch of MULE and SMALR)."""

from torch import Tensor, nn
from torch.nn.functional import normalize, relu


class TwoLayerPictureEncoder(nn.Module):
    """Features → linear → batch normalisation → ReLU → dropout → linear → unit vectors.

    `project` is the layer that reads the features, as in every picture encoder. Without `normalise` there is no batch
    normalisation: it is part of `project` already (see `compact`).
    """

    def __init__(
        self, features: int, hidden: int, dimensions: int, dropout: float = 0.5, normalise: bool = True
    ) -> None:
        super().__init__()
        self.project = nn.Linear(features, hidden)
        self.norm = nn.BatchNorm1d(hidden) if normalise else nn.Identity()
        self.dropout = nn.Dropout(dropout)
        self.narrow = nn.Linear(hidden, dimensions)

    def forward(self, features: Tensor) -> Tensor:
        """[pictures, features] → [pictures, dimensions]"""
        hidden = self.dropout(relu(self.norm(self.project(features))))
        return normalize(self.narrow(hidden).float(), dim=-1)
