"""Ranks by the order score equal those of a double loop in exact arithmetic, whatever the tile, type and ties."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_ranks import Array, assert_equal, from_matrix, pair_by_pair, unit

from groundling.evaluation.ranks import Ranks, ranks
from groundling.evaluation.scores import SCORES, Order

ORDER = Order()


def double_loop(pictures: Array, captions: Array, owners: Array) -> tuple[list[int], list[int]]:
    """The definition, pair by pair, in fractions: nothing is rounded."""

    def score(picture: int, caption: int) -> Fraction:
        gaps = (
            abs(Fraction(float(b))) - abs(Fraction(float(a)))
            for a, b in zip(pictures[picture], captions[caption], strict=True)
        )
        return -sum((max(Fraction(0), gap) ** 2 for gap in gaps), Fraction(0))

    return pair_by_pair(score, len(pictures), owners)


def whole_matrix(pictures: Array, captions: Array, owners: Array) -> Ranks:
    """The same from all scores at once, in float64, adding up as a pair's score is added up."""
    scores = np.stack(
        [
            ORDER.pairs(
                torch.from_numpy(picture.astype(np.float64)).expand(len(captions), -1),
                torch.from_numpy(captions.astype(np.float64)),
            ).numpy()
            for picture in pictures
        ]
    )
    return from_matrix(scores, owners)


def test_worked_by_hand() -> None:
    pictures = np.array([[2, 0], [0, 2], [2, 2]])
    captions = np.array([[1, 0], [0, 3], [1, 1]])
    # Scores: picture 0: 0 −9 −1, picture 1: −1 −1 −1, picture 2: 0 −1 0.
    found = ranks(pictures, captions, np.array([0, 1, 1]), score=ORDER)
    # Caption 0 is as true of picture 2 as of its own. Caption 1 ties with picture 2. Caption 2: −1 against −1 and 0.
    assert found.text_to_image.tolist() == [2, 2, 3]
    # Picture 0: 0 against −9, −1. Picture 1: best own −1, and the caption of picture 0 ties. Picture 2: no caption.
    assert found.image_to_text.tolist() == [1, 2, 0]


@st.composite
def problems(draw: st.DrawFn) -> tuple[Array, Array, Array]:
    pictures, captions, dimensions = draw(st.integers(1, 6)), draw(st.integers(1, 9)), draw(st.integers(1, 4))
    rows = st.lists(st.integers(-2, 3), min_size=dimensions, max_size=dimensions)
    return (
        np.array(draw(st.lists(rows, min_size=pictures, max_size=pictures))),
        np.array(draw(st.lists(rows, min_size=captions, max_size=captions))),
        np.array(draw(st.lists(st.integers(0, pictures - 1), min_size=captions, max_size=captions))),
    )


@settings(deadline=None, max_examples=150)
@given(
    problems(),
    st.tuples(st.integers(1, 4), st.integers(1, 4)),
    st.sampled_from([np.int8, np.int64, np.float16, np.float32, np.float64]),
    st.sampled_from([1, 0.125]),
)
def test_equals_the_double_loop(
    problem: tuple[Array, Array, Array], tile: tuple[int, int], dtype: type, step: float
) -> None:
    pictures, captions, owners = problem
    factor = 1 if np.issubdtype(dtype, np.integer) else step
    given_pictures, given_captions = (pictures * factor).astype(dtype), (captions * factor).astype(dtype)
    found = ranks(given_pictures, given_captions, owners, score=ORDER, tile=tile)
    expected = double_loop(given_pictures, given_captions, owners)
    assert (found.text_to_image.tolist(), found.image_to_text.tolist()) == expected


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("tile", [(13, 50), (1000, 1000)])
def test_equals_float64_on_real_numbers_with_duplicates(tile: tuple[int, int], dtype: type) -> None:
    pictures, captions = unit(120, 300, seed=1).astype(dtype), unit(700, 300, seed=2).astype(dtype)
    pictures[30:60] = pictures[:30]
    pictures[60:70] = -pictures[:10]  # the same absolute values: a tie
    captions[100:200] = captions[:100]
    captions[300:330] = pictures[:30]
    owners = np.random.default_rng(3).integers(0, 110, 700)
    assert_equal(ranks(pictures, captions, owners, score=ORDER, tile=tile), whole_matrix(pictures, captions, owners))


@pytest.mark.parametrize("dimensions", [1, 3, 16, 17, 128, 129, 1000, 5000])
def test_a_tile_is_never_further_off_than_its_error(dimensions: int) -> None:
    draw = torch.Generator().manual_seed(dimensions)
    random = torch.randn(6, dimensions, dtype=torch.float64, generator=draw)
    growing = 1.1 ** torch.arange(dimensions).remainder(40).double()
    close = random[:2] * (1 + 1e-7 * torch.randn(2, dimensions, dtype=torch.float64, generator=draw))
    rows = torch.cat([random, close, torch.full((1, dimensions), 0.1).double(), growing[None], 1e-3 * random[:2]])
    norms = rows.norm(dim=1)
    exact = torch.stack([ORDER.pairs(row.expand_as(rows), rows) for row in rows])
    for dtype in (torch.float32, torch.float64):
        errors = ORDER.error(norms[:, None], norms, dimensions, dtype, whole=False)
        assert ((ORDER.block(rows.to(dtype), rows.to(dtype)).double() - exact).abs() <= errors).all()
        # A block of many pictures is added up in other portions than a small one.
        many = rows.repeat(9, 1).to(dtype)
        assert ((ORDER.block(many, many)[: len(rows), : len(rows)].double() - exact).abs() <= errors).all()
    twin = [[-math.fsum(max(0.0, gap) ** 2 for gap in (b.abs() - a.abs()).tolist()) for b in rows] for a in rows]
    assert ((torch.tensor(twin, dtype=torch.float64) - exact).abs() <= errors).all()


def test_scores_that_float32_cannot_tell_apart() -> None:
    direction = unit(1, 256, seed=4)
    pictures = direction + np.float32(1e-5) * unit(300, 256, seed=5)
    captions = direction * np.float32(1.5) + np.float32(1e-5) * unit(600, 256, seed=6)
    owners = np.arange(600) // 2
    expected = whole_matrix(pictures, captions, owners)
    scores = ORDER.block(torch.from_numpy(pictures), torch.from_numpy(captions)).numpy()
    naive = 1 + (scores > scores[owners, np.arange(600)]).sum(axis=0)
    assert (naive != expected.text_to_image).any()  # or this test would test nothing
    assert_equal(ranks(pictures, captions, owners, score=ORDER, tile=(100, 250)), expected)


@pytest.mark.parametrize("same", ["everything", "captions", "captions below all pictures", "nearly all pictures"])
def test_many_equal_scores(same: str) -> None:
    draw = np.random.default_rng(7)
    pictures, captions = draw.integers(1, 9, (300, 24)) / 8, draw.integers(1, 9, (500, 24)) / 8
    if same == "everything":
        pictures[:] = captions[:] = pictures[0]
    elif same == "captions":
        captions[:] = captions[0]
    elif same == "captions below all pictures":
        captions /= 16
    else:
        pictures[:] = pictures[0]
        pictures[::2, 0] -= 2.0**-20
    owners = draw.integers(0, 300, 500)
    found = ranks(pictures.astype(np.float32), captions.astype(np.float32), owners, score=ORDER)
    assert_equal(found, whole_matrix(pictures, captions, owners))
    if same in ("everything", "captions below all pictures"):
        assert set(found.text_to_image) == {300}


@pytest.mark.parametrize("pictures", [[[4097, 0], [4097, 1]], [[2**24 + 1, 0], [2**24, 1]], [[1, 0], [0, 2**24 + 1]]])
def test_whole_numbers_whose_squares_float32_cannot_hold(pictures: list[list[int]]) -> None:
    captions, owners = np.array([[4097, 1], [5000, 1], [2**24 + 3, 0], [2**24 + 2, 1]]), np.array([0, 1, 0, 1])
    expected = double_loop(np.array(pictures), captions, owners)
    found = ranks(np.array(pictures), captions, owners, score=ORDER)
    assert (found.text_to_image.tolist(), found.image_to_text.tolist()) == expected


@pytest.mark.parametrize("factor", [3.0, 2.0**-100, 1e200, 1e-160])
def test_scaling_both_sides_together_changes_no_rank(factor: float) -> None:
    pictures, captions = unit(50, 20, seed=9).astype(np.float64), unit(120, 20, seed=10).astype(np.float64)
    pictures[10:15] = pictures[:5]
    owners = np.random.default_rng(11).integers(0, 50, 120)
    expected = whole_matrix(pictures, captions, owners)
    assert_equal(ranks(pictures * factor, captions * factor, owners, score=ORDER), expected)


def test_vectors_of_very_different_lengths() -> None:
    draw = np.random.default_rng(12)
    pictures = (unit(60, 16, seed=13) * 10.0 ** draw.uniform(-12, 6, (60, 1))).astype(np.float32)
    captions = (unit(150, 16, seed=14) * 10.0 ** draw.uniform(-12, 6, (150, 1))).astype(np.float32)
    owners = draw.integers(0, 60, 150)
    found = ranks(pictures, captions, owners, score=ORDER, tile=(16, 64))
    assert_equal(found, whole_matrix(pictures, captions, owners))


def test_every_similarity_has_its_score() -> None:
    """On unit vectors without negative entries cosine and order differ, and neither is the other's mirror image."""
    pictures, captions, owners = abs(unit(40, 8)), abs(unit(90, 8, seed=1)), np.arange(90) % 40
    cosine, order = (ranks(pictures, captions, owners, score=SCORES[name]) for name in ("cosine", "order"))
    assert cosine.text_to_image.tolist() != order.text_to_image.tolist()
    assert_equal(order, whole_matrix(pictures, captions, owners))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_gpu_equals_float64() -> None:
    pictures, captions = unit(1500, 256, seed=20), unit(4500, 256, seed=21)
    pictures[100:200] = pictures[:100]
    captions[:500] = captions[0]
    owners = np.arange(4500) // 3
    expected = whole_matrix(pictures, captions, owners)
    on_gpu = torch.tensor(pictures, device="cuda"), torch.tensor(captions, device="cuda")
    for tile in (None, (500, 700)):
        assert_equal(ranks(*on_gpu, owners, score=ORDER, tile=tile), expected)
