"""Procrustes and RCSLS: plain loops from the formula, gradients by finite differences, a monotone objective."""

from itertools import pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from groundling.words.procrustes import mean_squared_distance, procrustes
from groundling.words.rcsls import Criterion, limit_spectral_norm, rcsls


def unit_rows(rows: int, dimensions: int, seed: int) -> Tensor:
    vectors = torch.randn(rows, dimensions, generator=torch.Generator().manual_seed(seed))
    return torch.nn.functional.normalize(vectors)


def random_pairs(count: int, sources: int, targets: int, seed: int) -> Tensor:
    draw = torch.Generator().manual_seed(seed)
    return torch.stack([torch.randint(n, (count,), generator=draw) for n in (sources, targets)], dim=1)


def slow_objective(matrix: Tensor, pairs: Tensor, source: Tensor, target: Tensor, k: int) -> float:
    """The formula, a pair at a time, in float64; the neighbours of b are searched among the mapped source words."""
    matrix, source, target = matrix.double(), source.double(), target.double()
    total = 0.0
    for i, j in pairs.tolist():
        a, b = source[i], target[j]
        mapped = matrix @ a
        to_target = sorted((float(mapped @ y) for y in target), reverse=True)[:k]
        to_source = sorted((float(b @ (matrix @ x)) for x in source), reverse=True)[:k]
        total += -2 * float(mapped @ b) + sum(to_target) / k + sum(to_source) / k
    return total / len(pairs)


@pytest.mark.parametrize("seed", range(3))
def test_objective_is_the_formulas(seed: int) -> None:
    source, target = unit_rows(30, 5, seed), unit_rows(25, 5, seed + 10)
    pairs = random_pairs(20, 30, 25, seed)  # words stand in several pairs
    matrix = torch.randn(5, 5, generator=torch.Generator().manual_seed(seed))
    value, _ = Criterion(pairs, source, target, k=4)(matrix)
    assert value == pytest.approx(slow_objective(matrix, pairs, source, target, 4), abs=1e-5)
    value, _ = Criterion(pairs, source, target, k=4, max_neg=7)(matrix)
    total = slow_objective(matrix, pairs, source, target, 4)
    assert value < total  # fewer candidates, neighbours that are less near


def test_one_pair_by_hand() -> None:
    source = torch.tensor([[1.0, 0], [0, 1]])
    target = torch.tensor([[1.0, 0], [0.6, 0.8]])
    value, gradient = Criterion(torch.tensor([[0, 1]]), source, target, k=1)(torch.eye(2))
    # −2·a·b + best of (a·y) + best of (b·x) = −2·0.6 + 1 + 0.8
    assert value == pytest.approx(0.6)
    # −2 b aᵀ + y aᵀ + b xᵀ with y = (1, 0), x = (0, 1)
    assert torch.allclose(gradient, torch.tensor([[-1.2 + 1, 0.6], [-1.6, 0.8]]))


@pytest.mark.parametrize("seed", range(3))
def test_gradient_by_finite_differences(seed: int) -> None:
    source, target, pairs = unit_rows(40, 4, seed), unit_rows(40, 4, seed + 10), random_pairs(15, 40, 40, seed)
    matrix = torch.randn(4, 4, generator=torch.Generator().manual_seed(seed))
    _, gradient = Criterion(pairs, source, target, k=3)(matrix)
    step = 1e-6  # small enough to keep the neighbours
    for i in range(4):
        for j in range(4):
            change = torch.zeros(4, 4, dtype=torch.float64)
            change[i, j] = step
            up, down = (slow_objective(matrix.double() + s * change, pairs, source, target, 3) for s in (1, -1))
            assert (up - down) / (2 * step) == pytest.approx(float(gradient[i, j]), abs=1e-3)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.01, 1e4), st.booleans(), st.integers(1, 12))
def test_objective_never_rises(seed: int, learning_rate: float, spectral: bool, k: int) -> None:
    source, target, pairs = unit_rows(50, 6, seed), unit_rows(60, 6, seed + 1), random_pairs(20, 50, 60, seed)
    start = procrustes(source[pairs[:, 0]], target[pairs[:, 1]])
    found = rcsls(Criterion(pairs, source, target, k), start, 12, learning_rate, spectral)
    values = [found.start, *found.objective]
    assert len(found.objective) == 12
    assert all(later <= earlier for earlier, later in pairwise(values))
    # the map that is handed back is the one the last value belongs to: a step taken back is really back
    again, _ = Criterion(pairs, source, target, k)(found.matrix)
    assert again == pytest.approx(found.objective[-1], rel=1e-5, abs=1e-5)
    if spectral:
        assert float(torch.linalg.matrix_norm(found.matrix, 2)) <= 1 + 1e-5


def test_a_step_too_long_is_taken_back_and_halved() -> None:
    source, target, pairs = unit_rows(50, 6, 0), unit_rows(60, 6, 1), random_pairs(20, 50, 60, 2)
    start = procrustes(source[pairs[:, 0]], target[pairs[:, 1]])
    found = rcsls(Criterion(pairs, source, target), start, 3, 1e30)
    assert found.objective == [found.start] * 3
    assert torch.equal(found.matrix, start)
    assert found.learning_rate == 1e30 / 8


def test_objective_is_convex_and_grows_with_the_map() -> None:
    source, target, pairs = unit_rows(50, 6, 0), unit_rows(60, 6, 1), random_pairs(20, 50, 60, 2)
    one, other = (torch.randn(6, 6, generator=torch.Generator().manual_seed(s)) for s in (3, 4))
    f = Criterion(pairs, source, target)
    assert f((one + other) / 2)[0] <= (f(one)[0] + f(other)[0]) / 2 + 1e-6
    assert f(3 * one)[0] == pytest.approx(3 * f(one)[0], rel=1e-4)


def test_procrustes_finds_a_rotation_back() -> None:
    source = unit_rows(100, 8, 0)
    turn = torch.linalg.qr(torch.randn(8, 8, generator=torch.Generator().manual_seed(1)))[0]
    found = procrustes(source, source @ turn.T)
    assert torch.allclose(found, turn, atol=1e-5)
    assert mean_squared_distance(found, source, source @ turn.T) < 1e-10


def test_no_other_rotation_is_closer() -> None:
    source, target = unit_rows(100, 5, 0), unit_rows(100, 5, 1)
    best = mean_squared_distance(procrustes(source, target), source, target)
    for seed in range(50):
        other = torch.linalg.qr(torch.randn(5, 5, generator=torch.Generator().manual_seed(seed)))[0]
        assert mean_squared_distance(other, source, target) >= best


def test_spectral_norm_is_limited_and_small_maps_are_left_alone() -> None:
    matrix = torch.diag(torch.tensor([3.0, 0.5, 1.5]))
    assert torch.allclose(limit_spectral_norm(matrix), torch.diag(torch.tensor([1.0, 0.5, 1.0])), atol=1e-6)
    small = 0.1 * torch.randn(4, 4, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(limit_spectral_norm(small), small, atol=1e-6)
