import pytest
import torch

from groundling.objectives import Contrastive, MaxOfHinges, Objective, SumOfHinges

HAND = torch.tensor([[0.9, 0.8, 0.1], [0.3, 0.5, 0.4], [0.2, 0.6, 0.7]], dtype=torch.float64)


def slow_hinges(scores: torch.Tensor, margin: float, hardest: bool, positives: torch.Tensor | None = None) -> float:
    """A double loop from the papers: each item against every wrong partner, in both directions."""
    n, total = len(scores), 0.0
    for direction in (scores, scores.T):
        allowed = None if positives is None else (positives if direction is scores else positives.T)
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
    assert SumOfHinges(margin=0.2)(HAND).item() == pytest.approx(0.1 + 0.1 + 0.1 + 0.5 + 0.3)
    assert MaxOfHinges(margin=0.2)(HAND).item() == pytest.approx(0.1 + 0.1 + 0.1 + 0.5)


@pytest.mark.parametrize("size", [1, 2, 7])
@pytest.mark.parametrize("hardest", [True, False])
def test_equals_the_slow_version(size: int, hardest: bool) -> None:
    torch.manual_seed(size)
    scores = torch.rand(size, size, dtype=torch.float64)
    positives = torch.rand(size, size) < 0.3
    objective: Objective = MaxOfHinges(margin=0.3) if hardest else SumOfHinges(margin=0.3)
    assert objective(scores).item() == pytest.approx(slow_hinges(scores, 0.3, hardest))
    assert objective(scores, positives).item() == pytest.approx(slow_hinges(scores, 0.3, hardest, positives))


@pytest.mark.parametrize(
    "objective", [SumOfHinges(margin=0.21), MaxOfHinges(margin=0.21), Contrastive(temperature=0.21)]
)
def test_gradients_and_order_of_the_batch(objective: Objective) -> None:
    torch.manual_seed(0)
    scores = torch.rand(5, 5, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(objective, (scores,))
    order = torch.randperm(5)
    assert objective(scores[order][:, order]).item() == pytest.approx(objective(scores).item())


@pytest.mark.parametrize("kind", [SumOfHinges, MaxOfHinges])
def test_pairs_apart_by_the_margin_cost_nothing(kind: type[SumOfHinges] | type[MaxOfHinges]) -> None:
    scores = torch.full((4, 4), 0.1) + 0.3 * torch.eye(4)
    assert kind(margin=0.2)(scores).item() == 0
    assert kind(margin=0.4)(scores).item() > 0


def test_contrastive_by_hand_and_further_positives() -> None:
    scores = torch.tensor([[1.0, 0.0], [0.0, 1.0]], dtype=torch.float64)
    expected = -torch.log(torch.exp(torch.tensor(2.0)) / (torch.exp(torch.tensor(2.0)) + 1))
    assert Contrastive(temperature=0.5)(scores).item() == pytest.approx(expected.item())
    everything = torch.ones(2, 2, dtype=torch.bool)
    assert Contrastive(temperature=0.5)(scores, everything).item() == pytest.approx(0.0)  # nothing left that is wrong


def test_a_warm_up_with_the_sum_of_hinges() -> None:
    """1.1 is the sum of this matrix and .8 the hardest, as above; the step is a tensor, for recorded steps."""
    objective = MaxOfHinges(margin=0.2, warm_up_steps=3)
    found = [objective(HAND, step=torch.tensor(step)).item() for step in (0, 2, 3, 900)]
    assert found == pytest.approx([1.1, 1.1, 0.8, 0.8])
    spared = torch.zeros(3, 3, dtype=torch.bool)
    spared[0, 1] = True  # costs .1 in its row and .5 in its column
    assert objective(HAND, spared, torch.tensor(0)).item() == pytest.approx(0.5)
    assert MaxOfHinges(margin=0.2)(HAND, step=torch.tensor(0)).item() == pytest.approx(0.8)  # as published
    assert objective(HAND).item() == pytest.approx(0.8)  # nobody counts steps
