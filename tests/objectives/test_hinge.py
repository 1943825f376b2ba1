import pytest
import torch

from groundling.objectives import contrastive, max_of_hinges, sum_of_hinges

HAND = torch.tensor([[0.9, 0.8, 0.1], [0.3, 0.5, 0.4], [0.2, 0.6, 0.7]], dtype=torch.float64)


def slow_hinges(scores: torch.Tensor, margin: float, hardest: bool, spared: torch.Tensor | None = None) -> float:
    """A double loop from the papers: each item against every wrong partner, in both directions."""
    n, total = len(scores), 0.0
    for direction in (scores, scores.T):
        allowed = None if spared is None else (spared if direction is scores else spared.T)
        for i in range(n):
            costs = [
                max(0.0, margin - float(direction[i, i]) + float(direction[i, j]))
                for j in range(n)
                if j != i and not (allowed is not None and allowed[i, j])
            ]
            total += max(costs, default=0.0) if hardest else sum(costs)
    return total


def test_a_case_by_hand() -> None:
    # Rows, margin .2: 0: .8+.2−.9=.1 · 1: .3→0, .4→.1 · 2: .2→0, .6→.1. Columns: 0: 0 · 1: .8→.5, .6→.3 · 2: .4→0.
    assert sum_of_hinges(HAND, 0.2).item() == pytest.approx(0.1 + 0.1 + 0.1 + 0.5 + 0.3)
    assert max_of_hinges(HAND, 0.2).item() == pytest.approx(0.1 + 0.1 + 0.1 + 0.5)


@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("hardest", [True, False])
def test_equals_the_slow_version(size: int, hardest: bool) -> None:
    torch.manual_seed(size)
    scores = torch.rand(size, size, dtype=torch.float64)
    spared = torch.rand(size, size) < 0.3
    objective = max_of_hinges if hardest else sum_of_hinges
    assert objective(scores, 0.3).item() == pytest.approx(slow_hinges(scores, 0.3, hardest))
    assert objective(scores, 0.3, spared).item() == pytest.approx(slow_hinges(scores, 0.3, hardest, spared))


@pytest.mark.parametrize("objective", [sum_of_hinges, max_of_hinges, contrastive])
def test_gradients_and_order_of_the_batch(objective) -> None:  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    scores = torch.rand(5, 5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: objective(s, 0.21), (scores,))
    order = torch.randperm(5)
    assert objective(scores[order][:, order], 0.2).item() == pytest.approx(objective(scores, 0.2).item())


@pytest.mark.parametrize("objective", [sum_of_hinges, max_of_hinges])
def test_pairs_apart_by_the_margin_cost_nothing(objective) -> None:  # type: ignore[no-untyped-def]
    scores = torch.full((4, 4), 0.1) + 0.3 * torch.eye(4)
    assert objective(scores, 0.2).item() == 0
    assert objective(scores, 0.4).item() > 0


def test_contrastive_by_hand_and_spared_pairs() -> None:
    scores = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    expected = -torch.log(torch.exp(torch.tensor(2.0)) / (torch.exp(torch.tensor(2.0)) + 1))
    assert contrastive(scores, 0.5).item() == pytest.approx(expected.item())
    everything = torch.ones(2, 2, dtype=torch.bool)
    assert contrastive(scores, 0.5, everything).item() == pytest.approx(0.0)  # nothing left that is wrong
