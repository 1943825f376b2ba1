"""RCSLS: a map between languages learned under the criterion that words are retrieved with (Joulin et al. 2018).

Over n pairs of unit vectors (a, b), with k nearest neighbours among all words A and B of both languages,

    f(M) = 1/n Σ −2 aᵀMᵀb + 1/k Σ_{y ∈ kNN(Ma, B)} aᵀMᵀy + 1/k Σ_{x ∈ kNN(b, MA)} bᵀMx

is convex in M: a largest sum of k terms is. It has no minimum (2M is twice as good as M), so it is followed for a few
steps only, or kept among maps of spectral norm at most one.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from groundling.progress import bar
from groundling.words.neighbours import MovingNeighbours


@dataclass(frozen=True)
class Descent:
    """A learned map.

    Attributes:
        matrix: the map, [d, d].
        objective: f after each iteration; it never rises.
        start: f of the map it began with.
        learning_rate: what halving has left of it.
    """

    matrix: Tensor
    objective: list[float]
    start: float
    learning_rate: float


class Criterion:
    """f and its gradient. Neighbours are searched once for each different word, and in Mᵀb instead of MA.

    bᵀ(Mx) = (Mᵀb)ᵀx: both searches are of moving queries among candidates that stand still.
    """

    def __init__(self, pairs: Tensor, source: Tensor, target: Tensor, k: int = 10, max_neg: int | None = None) -> None:
        """`pairs` [n, 2] are rows of the unit vectors `source` and `target`; `max_neg` limits the candidates."""
        self.k = k
        sources, source_counts = pairs[:, 0].unique(return_counts=True)
        targets, target_counts = pairs[:, 1].unique(return_counts=True)
        self.source, self.source_share = source[sources], source_counts[:, None] / len(pairs)
        self.target, self.target_share = target[targets], target_counts[:, None] / len(pairs)
        self.matching = target[pairs[:, 1]].T @ source[pairs[:, 0]] / len(pairs)  # mean of b aᵀ
        self.to_target = MovingNeighbours(target[:max_neg], k)
        self.to_source = MovingNeighbours(source[:max_neg], k)

    def __call__(self, matrix: Tensor) -> tuple[float, Tensor]:
        """f(M) and ∂f/∂M."""
        of_source, near_target = self._density(self.source @ matrix.T, self.source_share, self.to_target)
        of_target, near_source = self._density(self.target @ matrix, self.target_share, self.to_source)
        value = of_source + of_target - 2 * float((self.matching.double() * matrix.double()).sum())
        gradient = near_target.T @ self.source + self.target.T @ near_source - 2 * self.matching
        return value, gradient

    def _density(self, queries: Tensor, share: Tensor, search: MovingNeighbours) -> tuple[float, Tensor]:
        """Mean similarity to the k nearest, averaged over pairs; and each query's share in it, as a vector."""
        scores, rows = search(queries)
        sums = torch.nn.functional.embedding_bag(rows, search.candidates, mode="sum")
        return float((scores.double().sum(dim=1, keepdim=True) * share).sum()) / search.k, sums * (share / search.k)


def limit_spectral_norm(matrix: Tensor) -> Tensor:
    """The nearest matrix that makes no vector longer: singular values above one become one."""
    left, values, right = torch.linalg.svd(matrix)
    return (left * values.clamp(max=1)) @ right


def rcsls(
    criterion: Criterion, start: Tensor, iterations: int = 10, learning_rate: float = 1.0, spectral: bool = False
) -> Descent:
    """Full-batch subgradient steps from `start`.

    A step that makes f larger (or not a number) is taken back, map and gradient both, and the step size is halved.
    """
    matrix = start.clone()
    value, gradient = criterion(matrix)
    first, values = value, []
    with bar("RCSLS", iterations) as progress:
        for _ in range(iterations):
            trial = matrix - learning_rate * gradient
            if spectral:
                trial = limit_spectral_norm(trial)
            new_value, new_gradient = criterion(trial)
            if new_value <= value:
                matrix, value, gradient = trial, new_value, new_gradient
            else:
                learning_rate /= 2
            values.append(value)
            progress.advance(note=f"objective {value:.4f}")
    return Descent(matrix, values, first, learning_rate)
