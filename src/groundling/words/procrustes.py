"""The rotation that brings paired vectors closest to each other (Schönemann 1966)."""

import torch
from torch import Tensor


def procrustes(source: Tensor, target: Tensor) -> Tensor:
    """The orthogonal M [d, d] with the smallest Σᵢ ‖M aᵢ − bᵢ‖²: UVᵀ, where USVᵀ = Σᵢ bᵢ aᵢᵀ."""
    left, _, right = torch.linalg.svd((target.T @ source).double())
    return (left @ right).to(source.dtype)


def mean_squared_distance(matrix: Tensor, source: Tensor, target: Tensor) -> float:
    """What Procrustes makes small."""
    return float((source @ matrix.T - target).double().square().sum(dim=1).mean())
