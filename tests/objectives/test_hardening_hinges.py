"""Hinges that turn hard, against a double loop, by hand, and in time."""

import pytest
import torch

from groundling.objectives import HardeningHinges, MaxOfHinges, SumOfHinges
from groundling.objectives.hardening_hinges import hardness

HAND = torch.tensor([[0.9, 0.8, 0.1], [0.3, 0.5, 0.4], [0.2, 0.6, 0.7]], dtype=torch.float64)


def slow(scores: torch.Tensor, step: int, rate: float, margin: float, positives: torch.Tensor | None = None) -> float:
    """(1−k)·Σ + k·max for each picture and each caption, k = 1 − εᵗ, t counted from 1."""
    k, total = 1 - rate ** (step + 1), 0.0
    for direction, free in ((scores, positives), (scores.T, None if positives is None else positives.T)):
        for i in range(len(scores)):
            costs = [
                max(0.0, margin - float(direction[i, i]) + float(direction[i, j]))
                for j in range(len(scores))
                if j != i and (free is None or not free[i, j])
            ]
            total += (1 - k) * sum(costs) + k * max(costs, default=0.0)
    return total


def test_a_case_by_hand() -> None:
    # The sum of hinges of this matrix is 1.1 and the max .8 (see test_hinge); after 2 steps of rate .5, k = 1 − .5³.
    found = HardeningHinges(rate=0.5, margin=0.2)(HAND, step=torch.tensor(2.0))
    assert found.item() == pytest.approx(0.125 * 1.1 + 0.875 * 0.8)


@pytest.mark.parametrize("step", [0, 1, 76, 5000])
@pytest.mark.parametrize("rate", [0.991, 0.91])
def test_equals_the_slow_version(step: int, rate: float) -> None:
    torch.manual_seed(step)
    scores, positives = torch.rand(6, 6, dtype=torch.float64), torch.rand(6, 6) < 0.3
    at = torch.tensor(float(step), dtype=torch.float64)
    objective = HardeningHinges(rate=rate, margin=0.3)
    assert objective(scores, None, at).item() == pytest.approx(slow(scores, step, rate, 0.3))
    assert objective(scores, positives, at).item() == pytest.approx(slow(scores, step, rate, 0.3, positives))


def test_the_published_times() -> None:
    """k = .5 at the 77th step and .99 at about the 509th; between captions half of it after 8 steps."""
    assert hardness(0.991, torch.tensor(76.0)).item() == pytest.approx(0.5, abs=0.005)
    assert hardness(0.991, torch.tensor(508.0)).item() == pytest.approx(0.99, abs=0.0005)
    assert hardness(0.91, torch.tensor(6.0)).item() < 0.5 < hardness(0.91, torch.tensor(7.0)).item()
    assert hardness(0.991, torch.tensor(0.0)).item() == pytest.approx(0.009, abs=1e-6)
    assert hardness(0.991, torch.tensor(1e6)).item() == 1


def test_from_all_pairs_to_the_hardest() -> None:
    torch.manual_seed(0)
    scores = torch.rand(5, 5)
    every, hardest = SumOfHinges()(scores).item(), MaxOfHinges()(scores).item()
    assert HardeningHinges(rate=1.0)(scores, step=torch.tensor(7.0)).item() == pytest.approx(every)
    assert HardeningHinges(rate=0.0)(scores).item() == pytest.approx(hardest)
    over_time = [HardeningHinges()(scores, step=torch.tensor(float(step))).item() for step in range(0, 1000, 50)]
    assert over_time == sorted(over_time, reverse=True)


def test_gradients_and_order_of_the_batch() -> None:
    torch.manual_seed(0)
    scores = torch.rand(5, 5, dtype=torch.float64, requires_grad=True)
    step, order = torch.tensor(40.0, dtype=torch.float64), torch.randperm(5)
    objective = HardeningHinges(margin=0.21)
    assert torch.autograd.gradcheck(lambda s: objective(s, step=step), (scores,))
    permuted = objective(scores[order][:, order], step=step)
    assert permuted.item() == pytest.approx(objective(scores, step=step).item())
