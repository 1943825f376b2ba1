"""Ranks by the kernels for GPUs equal those of float64, whatever the ties, the lengths and the room for near pairs.

Without a GPU the kernels run in Triton's interpreter, where Triton is installed: slow, but the same code.
"""

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from slow_ranks import Array, assert_equal, from_matrix, unit

pytest.importorskip("triton")

from groundling.evaluation import fused
from groundling.evaluation.fused import strips
from groundling.evaluation.fused.centred import centred, mean, product_roundings
from groundling.evaluation.fused.copies import kinds, share_of_equal_pairs
from groundling.evaluation.ranks import Ranks, ranks

DEVICE = torch.device("cuda" if torch.cuda.is_available() else "cpu")


pytestmark = pytest.mark.filterwarnings("error:ranks by the GPU")  # what the kernels count must be right by itself


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[slice]]:
    """However small the problem; the strips that the kernels counted are noted."""
    monkeypatch.setattr(fused, "is_worthwhile", lambda *_: True)
    counted: list[slice] = []
    original = strips.Strips.count

    def count(self: strips.Strips, rows: slice) -> object:
        found = original(self, rows)
        if found[2] <= self.capacity:
            counted.append(rows)
        return found

    monkeypatch.setattr(strips.Strips, "count", count)
    yield counted


def slow(pictures: Array, captions: Array, owners: Array) -> Ranks:
    wide = captions.astype(np.float64)
    return from_matrix(np.stack([(picture.astype(np.float64) * wide).sum(axis=1) for picture in pictures]), owners)


def fast(pictures: Array, captions: Array, owners: Array) -> Ranks:
    return ranks(torch.tensor(pictures, device=DEVICE), torch.tensor(captions, device=DEVICE), owners)


def some_copies(pictures: Array, captions: Array) -> tuple[Array, Array]:
    pictures[70:140], captions[100:200] = pictures[:70], captions[:100]
    captions[300:330] = pictures[:30]
    return pictures, captions


def few_vectors(pictures: Array, captions: Array) -> tuple[Array, Array]:
    return pictures[np.arange(len(pictures)) % 7], captions[np.arange(len(captions)) % 5]


def collapsed(pictures: Array, captions: Array) -> tuple[Array, Array]:
    """All scores agree to five digits."""
    step = np.float32(3e-6)
    return pictures[:1] + step * pictures, pictures[:1] + step * captions


def trained(pictures: Array, captions: Array) -> tuple[Array, Array]:
    return pictures, pictures[OWNERS] + np.float32(0.7) * captions


OWNERS = np.random.default_rng(0).integers(0, 140, 340)  # of 150 pictures, some without captions


def half(pictures: Array, captions: Array) -> tuple[Array, Array]:
    return pictures.astype(np.float16), captions.astype(np.float16)


def mixed(pictures: Array, captions: Array) -> tuple[Array, Array]:
    return np.round(10 * pictures).astype(np.int8), captions


@pytest.mark.parametrize("make", [some_copies, few_vectors, collapsed, trained, half, mixed])
def test_equals_float64(make: object, always: list[slice]) -> None:
    pictures, captions = make(unit(150, 70, seed=1), unit(340, 70, seed=2))
    assert_equal(fast(pictures, captions, OWNERS), slow(pictures, captions, OWNERS))
    assert always == [slice(0, 150)]


def test_all_the_same_needs_no_pair_scored_again(always: list[slice]) -> None:
    pictures, captions = np.repeat(unit(1, 20), 150, axis=0), np.repeat(unit(1, 20, seed=1), 340, axis=0)
    both = torch.tensor(pictures, device=DEVICE), torch.tensor(captions, device=DEVICE)
    assert strips.Strips(*both, torch.tensor(OWNERS, device=DEVICE)).count(slice(0, 150))[2] == 0
    assert_equal(fast(pictures, captions, OWNERS), slow(pictures, captions, OWNERS))


def test_scores_that_only_their_rounding_tells_apart_are_added_up_as_elsewhere(always: list[slice]) -> None:
    """Pictures that are permutations of each other tie with captions of equal entries, but for float64's rounding."""
    draw = np.random.default_rng(3)
    numbers = draw.uniform(0.5, 1, 300) * 2.0 ** -draw.integers(0, 18, 300)
    pictures = np.stack([draw.permutation(numbers) for _ in range(40)]).astype(np.float32)
    captions = np.repeat(draw.uniform(0.5, 1, (90, 1)), 300, axis=1).astype(np.float32)
    owners = draw.integers(0, 40, 90)
    products = pictures[:, None].astype(np.float64) * captions[None].astype(np.float64)
    scores = np.array([[in_order(line) for line in lines] for lines in products])
    assert 1 < len(np.unique(scores[:, 0])) < 40
    expected = from_matrix(scores, owners)
    assert_equal(fast(pictures, captions, owners), expected)
    assert always == [slice(0, 40)]
    assert_equal(ranks(pictures, captions, owners, tile=(7, 50)), expected)


def in_order(products: Array) -> float:
    """As `scores.row_sums` promises: 128 sums side by side, which are then added two by two."""
    sums = [0.0] * 128
    for place, product in enumerate(products):
        sums[place % 128] += float(product)
    while len(sums) > 1:
        sums = [even + odd for even, odd in zip(sums[::2], sums[1::2], strict=True)]
    return sums[0]


def test_vectors_that_float32_does_not_hold_are_counted_tile_by_tile(always: list[slice]) -> None:
    draw = np.random.default_rng(12)
    pictures, captions = unit(60, 16, seed=13).astype(np.float64) / 3, unit(150, 16, seed=14)
    owners = draw.integers(0, 60, 150)
    assert_equal(fast(pictures, captions, owners), slow(pictures, captions, owners))
    tiny = (pictures * 1e-30).astype(np.float32)
    assert_equal(fast(tiny, captions, owners), slow(tiny, captions, owners))
    assert always == []


def test_lengths_that_differ_by_far(always: list[slice]) -> None:
    draw = np.random.default_rng(12)
    pictures = (unit(60, 16, seed=13) * 10.0 ** draw.uniform(-12, 5, (60, 1))).astype(np.float32)
    captions = (unit(150, 16, seed=14) * 10.0 ** draw.uniform(-12, 5, (150, 1))).astype(np.float32)
    owners = draw.integers(0, 60, 150)
    assert_equal(fast(pictures, captions, owners), slow(pictures, captions, owners))
    assert always == [slice(0, 60)]


@pytest.mark.parametrize("capacity", [50, 200, 400])
def test_strips_with_too_many_near_pairs_are_counted_tile_by_tile(
    capacity: int, monkeypatch: pytest.MonkeyPatch, always: list[slice]
) -> None:
    monkeypatch.setattr(strips, "SMALLEST", 1)
    monkeypatch.setattr(strips, "CAPACITY", capacity)
    pictures, captions = unit(300, 30, seed=1), unit(340, 30, seed=2)
    pictures[130:250], captions[:] = pictures[:1], np.round(captions * 8) / 8
    owners = np.random.default_rng(0).integers(0, 300, 340)
    assert_equal(fast(pictures, captions, owners), slow(pictures, captions, owners))
    assert always != [slice(0, 128), slice(128, 256), slice(256, 300)] or capacity == 400


@pytest.mark.parametrize("dimensions", [5, 64, 200])
def test_halves_are_no_further_off_than_allowed(dimensions: int) -> None:
    pictures, captions = (torch.tensor(unit(40, dimensions, seed=seed)) + 0.5 for seed in (1, 2))
    means = mean(pictures), mean(captions)
    left = centred(pictures, *means, high_first=False, multiple=(128, 64))
    right = centred(captions, *means[::-1], high_first=True, multiple=(128, 64))
    width = left.halves.shape[1] // 2
    low, high = left.halves[:40].double().split(width, dim=1)
    other_high, other_low = right.halves[:40].double().split(width, dim=1)
    product = low @ other_high.T + high @ other_low.T + high @ other_high.T
    exact = (pictures.double() - means[0]) @ (captions.double() - means[1]).T * left.scale * right.scale
    off = (product - exact).abs() / (left.norms[:, None] * right.norms[None, :])
    assert off.max() < 3.05 * 2.0**-22 < product_roundings(dimensions)
    # A picture's score is the product, its shift, and what all pictures have in common.
    score = exact / (left.scale * right.scale) + left.shifts[:, None] + (captions.double() @ means[0])[None, :]
    assert torch.allclose(score, pictures.double() @ captions.double().T, rtol=0, atol=1e-12)


def test_kinds_are_the_same_for_equal_rows_only() -> None:
    rows = torch.tensor([[1.0, 2], [2, 1], [1, 2], [0, 0], [2, 1], [1, 2]])
    found = kinds(rows).tolist()
    assert found[0] == found[2] == found[5] and found[1] == found[4] and len(set(found)) == 3
    assert share_of_equal_pairs(kinds(rows)) == (3 * 2 + 2 * 1) / 36


@pytest.mark.parametrize("direction", [0, 1])
def test_wrong_counts_are_found_and_counted_again(monkeypatch: pytest.MonkeyPatch, direction: int) -> None:
    pictures, captions = trained(unit(150, 70, seed=1), unit(340, 70, seed=2))
    original = strips.Strips.count

    def wrong(self: strips.Strips, rows: slice) -> object:
        found = original(self, rows)
        found[direction][20:] += 1
        return found

    monkeypatch.setattr(strips.Strips, "count", wrong)
    with pytest.warns(UserWarning, match="ranks by the GPU's own kernels were wrong"):
        found = fast(pictures, captions, OWNERS)
    assert_equal(found, slow(pictures, captions, OWNERS))
