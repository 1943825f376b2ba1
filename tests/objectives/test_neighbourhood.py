"""Neighbourhood constraints against loops over languages, captions and strangers."""

import math

import pytest
import torch
from torch import Tensor

from groundling.objectives.neighbourhood import neighbourhood


def slow(
    captions: Tensor,
    real: Tensor,
    pictures: int,
    margin: float,
    most: int,
    distance: str,
    shared: Tensor | None = None,
) -> tuple[float, float]:
    """Within languages, and between them."""

    def stranger(one: tuple[int, int], other: tuple[int, int]) -> bool:
        """Neither caption stands with the other's picture, too."""
        if shared is None:
            return True
        return not (shared[one[0], one[1], other[1] % pictures] or shared[other[0], other[1], one[1] % pictures])

    def apart(one: Tensor, other: Tensor) -> float:
        cosine = float(one @ other / one.norm() / other.norm())
        return 1 - cosine if distance == "cosine" else math.sqrt(max(0.0, 2 - 2 * cosine))

    kept: dict[bool, list[float]] = {True: [], False: []}
    languages, count = real.shape
    for of_anchor in range(languages):
        for of_others in range(languages):
            for anchor in range(count):
                there = [
                    k
                    for k in range(count)
                    if real[of_anchor, anchor] and real[of_others, k] and (of_anchor != of_others or k != anchor)
                ]
                far = {k: apart(captions[of_anchor, anchor], captions[of_others, k]) for k in there}
                costs = [
                    max(0.0, margin + far[good] - far[bad])
                    for good in there
                    for bad in there
                    if good % pictures == anchor % pictures != bad % pictures
                    and stranger((of_anchor, anchor), (of_others, bad))
                ]
                kept[of_anchor == of_others] += sorted(costs, reverse=True)[:most]
    within, between = (sum(costs) / max(1, len(costs)) for costs in (kept[True], kept[False]))
    return within, between


def batch(languages: int, pictures: int, sentences: int, missing: float = 0.25) -> tuple[Tensor, Tensor]:
    torch.manual_seed(languages * 10 + pictures)
    captions = torch.randn(languages, pictures * sentences, 4, dtype=torch.float64)
    return captions, torch.rand(languages, pictures * sentences) >= missing


@pytest.mark.parametrize("distance", ["cosine", "euclidean"])
@pytest.mark.parametrize(("languages", "pictures", "sentences"), [(1, 4, 2), (2, 3, 1), (2, 4, 2), (3, 3, 3)])
def test_equals_the_slow_version(languages: int, pictures: int, sentences: int, distance) -> None:  # type: ignore[no-untyped-def]
    captions, real = batch(languages, pictures, sentences)
    within, between = slow(captions, real, pictures, 0.3, 4, distance)
    both = neighbourhood(captions, real, pictures, 0.3, 4, distance)
    assert both.item() == pytest.approx(within + between)
    alone = neighbourhood(captions, real, pictures, 0.3, 4, distance, between=False)
    assert alone.item() == pytest.approx(within)
    assert neighbourhood(captions, real, pictures, 0.3, 4, distance, within=False).item() == pytest.approx(between)


def test_gradients_and_order() -> None:
    captions, real = batch(2, 3, 2)
    captions.requires_grad_()
    assert torch.autograd.gradcheck(lambda c: neighbourhood(c, real, 3, 0.4, 3), (captions,))
    order = torch.tensor([2, 0, 1, 5, 3, 4])  # another order of the pictures
    expected = neighbourhood(captions, real, 3, 0.4, 3).item()
    assert neighbourhood(captions[:, order], real[:, order], 3, 0.4, 3).item() == pytest.approx(expected)
    assert neighbourhood(captions.flip(0), real.flip(0), 3, 0.4, 3).item() == pytest.approx(expected)


def test_what_is_not_there_has_no_say() -> None:
    captions, real = batch(3, 4, 2)
    changed = torch.where(real[..., None], captions, 100.0)
    assert not real.all()
    assert neighbourhood(changed, real, 4).item() == neighbourhood(captions, real, 4).item()


def test_captions_that_lie_with_their_picture_cost_nothing() -> None:
    captions = torch.eye(3, dtype=torch.float64).repeat(2, 2, 1)  # two languages, two captions each
    assert neighbourhood(captions, torch.ones(2, 6, dtype=torch.bool), 3).item() == 0
    assert neighbourhood(captions.roll(1, dims=1)[:1], torch.ones(1, 6, dtype=torch.bool), 3).item() == 0
    apart = torch.stack([captions[0], captions[1].roll(1, dims=0)])  # the second language is a picture off
    assert neighbourhood(apart, torch.ones(2, 6, dtype=torch.bool), 3).item() > 0


@pytest.mark.parametrize(("languages", "pictures", "sentences"), [(1, 4, 2), (2, 4, 2), (3, 3, 3)])
def test_captions_that_stand_with_the_other_picture_too_are_no_strangers(
    languages: int, pictures: int, sentences: int
) -> None:
    captions, real = batch(languages, pictures, sentences)
    shared = torch.rand(languages, pictures * sentences, pictures) < 0.3
    within, between = slow(captions, real, pictures, 0.3, 4, "cosine", shared)
    found = neighbourhood(captions, real, pictures, 0.3, 4, shared=shared).item()
    assert found == pytest.approx(within + between)
    assert found != pytest.approx(neighbourhood(captions, real, pictures, 0.3, 4).item())
