"""The most violated triplets: worked by hand, against every triplet written out, gradients, masks."""

import math

import pytest
import torch
from torch import Tensor

from groundling.objectives.triplets import distances, worst_triplets


def slow(apart: Tensor, right: Tensor, wrong: Tensor, margin: float, most: int) -> float:
    """Every triplet of every anchor, the costliest of each anchor, the mean of all that were kept."""
    kept: list[float] = []
    for anchor in range(apart.shape[0]):
        triplets = [
            margin + float(apart[anchor, good]) - float(apart[anchor, bad])
            for good in range(apart.shape[1])
            for bad in range(apart.shape[1])
            if right[anchor, good] and wrong[anchor, bad]
        ]
        kept += [max(0.0, cost) for cost in sorted(triplets, reverse=True)[:most]]
    return sum(kept) / len(kept) if kept else 0.0


def test_a_case_by_hand() -> None:
    apart = torch.tensor([[0.1, 0.3, 0.2, 0.5]], dtype=torch.float64)
    right = torch.tensor([[True, True, False, False]])
    # Costs with margin .05: .3 against .2 → .15, .1 against .2 → 0 (−.05), .3 against .5 → 0 (−.15), .1 against .5 → 0.
    assert worst_triplets(apart, right, ~right, 0.05, most=1).item() == pytest.approx(0.15)
    assert worst_triplets(apart, right, ~right, 0.05, most=2).item() == pytest.approx(0.075)
    assert worst_triplets(apart, right, ~right, 0.05, most=10).item() == pytest.approx(0.15 / 4)
    # What is neither right nor wrong takes no part: without the stranger at .2, .3 against .5 costs nothing.
    assert worst_triplets(apart, right, torch.tensor([[False, False, False, True]]), 0.05).item() == 0


@pytest.mark.parametrize("most", [1, 3, 10])
@pytest.mark.parametrize("seed", range(6))
def test_equals_the_slow_version_under_any_masks(seed: int, most: int) -> None:
    torch.manual_seed(seed)
    apart = torch.rand(7, 9, dtype=torch.float64)
    kind = torch.randint(0, 3, (7, 9))
    kind[0], kind[1] = 0, 1  # an anchor without strangers, one without partners
    right, wrong = kind == 0, kind == 1
    found = worst_triplets(apart, right, wrong, 0.3, most, partners=9)
    assert found.item() == pytest.approx(slow(apart, right, wrong, 0.3, most))


@pytest.mark.parametrize("most", [1, 3, 10])
def test_partners_whose_places_are_known_need_not_be_looked_for(most: int) -> None:
    torch.manual_seed(most)
    apart = torch.rand(2, 6, 6, dtype=torch.float64)
    places = torch.arange(6)[:, None] % 3 + torch.tensor([0, 3])  # two captions of each of three pictures
    may = torch.zeros(6, 6, dtype=torch.bool).scatter_(1, places, torch.ones_like(places, dtype=torch.bool))
    right, wrong = may & (torch.rand(2, 6, 6) < 0.7), ~may & (torch.rand(2, 6, 6) < 0.8)
    found = worst_triplets(apart, right, wrong, 0.3, most, 2, places)
    each = [slow(apart[group], right[group], wrong[group], 0.3, most) for group in range(2)]
    alone = [worst_triplets(apart[group], right[group], wrong[group], 0.3, most, 2, places) for group in range(2)]
    assert [one.item() for one in alone] == pytest.approx(each)
    assert found.item() == pytest.approx(worst_triplets(apart, right, wrong, 0.3, most, 2).item())


def test_groups_are_ranked_by_themselves() -> None:
    """Two languages at once: the mean over the anchors of both, each among its own strangers."""
    torch.manual_seed(0)
    apart, right = torch.rand(2, 4, 6, dtype=torch.float64), torch.rand(2, 4, 6) < 0.4
    right[..., 0], right[..., 1] = True, False  # as many triplets kept by each
    each = [slow(apart[group], right[group], ~right[group], 0.2, 2) for group in range(2)]
    assert worst_triplets(apart, right, ~right, 0.2, 2, partners=6).item() == pytest.approx(sum(each) / 2)


@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
def test_gradients_and_order_of_the_batch(distance) -> None:  # type: ignore[no-untyped-def]
    torch.manual_seed(1)
    one = torch.nn.functional.normalize(torch.randn(4, 5, dtype=torch.float64), dim=1).requires_grad_()
    other = torch.nn.functional.normalize(torch.randn(8, 5, dtype=torch.float64), dim=1).requires_grad_()
    right = torch.arange(4)[:, None] == torch.arange(8) % 4

    def loss(a: Tensor, b: Tensor) -> Tensor:
        return worst_triplets(distances(a, b, distance), right, ~right, 0.4, 5)

    assert torch.autograd.gradcheck(loss, (one, other))
    assert loss(one, other).item() == pytest.approx(
        slow(distances(one, other, distance).detach(), right, ~right, 0.4, 5)
    )
    order = torch.randperm(4)
    assert loss(one[order], other[torch.cat([order, order + 4])]).item() == pytest.approx(loss(one, other).item())


def test_no_triplet_costs_nothing_and_has_no_gradient() -> None:
    apart = torch.rand(3, 3, requires_grad=True)
    nobody = torch.zeros(3, 3, dtype=torch.bool)
    for right, wrong in ((nobody, ~nobody), (~nobody, nobody), (nobody, nobody)):
        (gradient,) = torch.autograd.grad(worst_triplets(apart, right, wrong), apart)
        assert worst_triplets(apart, right, wrong).item() == 0
        assert (gradient == 0).all()


def test_distances_by_hand_and_a_finite_gradient_where_there_is_no_distance() -> None:
    one = torch.tensor([[1.0, 0.0], [0.6, 0.8]], requires_grad=True)
    assert distances(one, one, "cosine")[0, 1].item() == pytest.approx(0.4)
    apart = distances(one, one, "euclidean")
    assert apart[0, 1].item() == pytest.approx(math.sqrt(0.4**2 + 0.8**2))
    (gradient,) = torch.autograd.grad(apart.sum(), one)
    assert gradient.isfinite().all()
