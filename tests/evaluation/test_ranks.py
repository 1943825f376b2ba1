"""Ranks equal those of a double loop in exact arithmetic, whatever the tile, the type, the ties and the settings."""

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_ranks import Array, assert_equal, from_matrix, pair_by_pair, unit
from torch import Tensor

from groundling.errors import UserError
from groundling.evaluation.ranks import Ranks, ranks
from groundling.evaluation.scores import LANES, Dot, row_sums


def double_loop(pictures: Array, captions: Array, owners: Array) -> tuple[list[int], list[int]]:
    """The definition, pair by pair. Python adds up; exact for whole numbers and for eighths."""

    def score(picture: int, caption: int) -> float:
        return sum(float(a) * float(b) for a, b in zip(pictures[picture], captions[caption], strict=True))

    return pair_by_pair(score, len(pictures), owners)


def whole_matrix(pictures: Array, captions: Array, owners: Array) -> Ranks:
    """The same from all scores at once, in float64; not by a matrix product, whose equal vectors need not tie."""
    wide = captions.astype(np.float64)
    scores = np.stack([(picture.astype(np.float64) * wide).sum(axis=1) for picture in pictures])
    return from_matrix(scores, owners)


@pytest.fixture
def threads() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture
def careless_products() -> Iterator[None]:
    """Float32 products in TF32 on a GPU and in bfloat16 on a CPU, as a training may have set."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("medium")
    yield
    torch.set_float32_matmul_precision(before)


def test_worked_by_hand() -> None:
    pictures = np.array([[1, 0], [0, 1], [1, 1]])
    captions = np.array([[2, 0], [1, 3], [0, 1], [1, -1]])
    # Scores: picture 0: 2 1 0 1, picture 1: 0 3 1 −1, picture 2: 2 4 1 0.
    found = ranks(pictures, captions, np.array([0, 1, 1, 0]))
    # Caption 0: its picture has 2, and so has picture 2. Caption 1: 3 against 1 and 4. Caption 2: 1, as picture 2.
    # Caption 3: 1 against −1 and 0.
    assert found.text_to_image.tolist() == [2, 2, 2, 1]
    # Picture 0: best own 2 against 1, 0. Picture 1: best own 3 against 0, −1. Picture 2 has no caption.
    assert found.image_to_text.tolist() == [1, 1, 0]


def test_own_captions_do_not_push_each_other_down() -> None:
    found = ranks(np.array([[1.0, 0], [0, 1]]), np.array([[9.0, 2], [8, 2], [7, 3]]), np.array([0, 0, 1]))
    assert found.image_to_text.tolist() == [1, 1]
    assert found.text_to_image.tolist() == [1, 1, 2]


@st.composite
def problems(draw: st.DrawFn) -> tuple[Array, Array, Array]:
    pictures, captions, dimensions = draw(st.integers(1, 6)), draw(st.integers(1, 9)), draw(st.integers(1, 4))
    numbers = st.integers(-2, 2)
    rows = st.lists(numbers, min_size=dimensions, max_size=dimensions)
    return (
        np.array(draw(st.lists(rows, min_size=pictures, max_size=pictures))),
        np.array(draw(st.lists(rows, min_size=captions, max_size=captions))),
        np.array(draw(st.lists(st.integers(0, pictures - 1), min_size=captions, max_size=captions))),
    )


@settings(deadline=None, max_examples=200)
@given(
    problems(),
    st.tuples(st.integers(1, 4), st.integers(1, 4)),
    st.sampled_from([np.int8, np.int64, np.uint32, np.float16, np.float32, np.float64]),
    st.sampled_from([1, 0.125]),
    st.booleans(),
)
def test_equals_the_double_loop(
    problem: tuple[Array, Array, Array], tile: tuple[int, int], dtype: type, step: float, as_tensors: bool
) -> None:
    pictures, captions, owners = problem
    if np.issubdtype(dtype, np.integer):
        step = 1
    if dtype == np.uint32:
        pictures, captions = abs(pictures), abs(captions)
    given_pictures, given_captions = (pictures * step).astype(dtype), (captions * step).astype(dtype)
    expected = double_loop(given_pictures, given_captions, owners)
    if as_tensors and dtype != np.uint32:
        found = ranks(torch.tensor(given_pictures), torch.tensor(given_captions), torch.tensor(owners), tile=tile)
    else:
        found = ranks(given_pictures, given_captions, owners, tile=tile)
    assert (found.text_to_image.tolist(), found.image_to_text.tolist()) == expected


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("tile", [(13, 50), (1000, 1000)])
def test_equals_float64_on_real_numbers_with_duplicates(tile: tuple[int, int], dtype: type) -> None:
    pictures, captions = unit(120, 300, seed=1).astype(dtype), unit(700, 300, seed=2).astype(dtype)
    pictures[30:60] = pictures[:30]
    captions[100:200] = captions[:100]
    captions[300:330] = pictures[:30]
    owners = np.random.default_rng(3).integers(0, 110, 700)
    assert_equal(ranks(pictures, captions, owners, tile=tile), whole_matrix(pictures, captions, owners))


@pytest.mark.parametrize("dimensions", [1, 3, 128, 129, 1000, 5000])
def test_a_tile_is_never_further_off_than_its_error(dimensions: int) -> None:
    draw = torch.Generator().manual_seed(dimensions)
    random = torch.randn(6, dimensions, dtype=torch.float64, generator=draw)
    growing = 1.1 ** torch.arange(dimensions).remainder(40).double()
    rows = torch.cat([random, random.abs(), torch.full((1, dimensions), 0.1).double(), growing[None], -growing[None]])
    dot, narrow, norms = Dot(), rows.float(), rows.norm(dim=1)
    exact = torch.stack([dot.pairs(row.expand_as(rows), rows) for row in rows])
    errors = dot.error(norms[:, None], norms, dimensions, torch.float32, whole=False)
    assert ((dot.block(narrow, narrow).double() - exact).abs() <= errors).all()
    errors = dot.error(norms[:, None], norms, dimensions, torch.float64, whole=False)
    assert ((dot.block(rows, rows) - exact).abs() <= errors).all()
    twin = [[math.fsum((a * b).tolist()) for b in rows] for a in rows]
    assert ((torch.tensor(twin, dtype=torch.float64) - exact).abs() <= errors).all()


def test_scores_that_float32_cannot_tell_apart() -> None:
    direction = unit(1, 256, seed=4)
    pictures = direction + np.float32(1e-4) * unit(300, 256, seed=5)
    captions = direction + np.float32(1e-4) * unit(600, 256, seed=6)
    owners = np.arange(600) // 2
    expected = whole_matrix(pictures, captions, owners)
    scores = pictures @ captions.T
    naive = 1 + (scores > scores[owners, np.arange(600)]).sum(axis=0)
    assert (naive != expected.text_to_image).any()  # or this test would test nothing
    assert_equal(ranks(pictures, captions, owners, tile=(100, 250)), expected)


def test_a_last_bit_of_float64_decides() -> None:
    above = np.nextafter(1.0, 2.0)
    found = ranks(np.array([[1.0], [above]]), np.array([[1.0], [1.0]]), np.array([0, 1]))
    assert found.text_to_image.tolist() == [2, 1]


@pytest.mark.parametrize("same", ["everything", "captions", "few pictures", "nearly all pictures", "zero captions"])
def test_many_equal_vectors(same: str) -> None:
    draw = np.random.default_rng(7)
    pictures, captions = draw.integers(-8, 9, (300, 24)) / 8, draw.integers(-8, 9, (500, 24)) / 8
    if same == "everything":
        pictures[:] = captions[:] = pictures[0]
    elif same == "captions":
        captions[:] = captions[0]
    elif same == "few pictures":
        pictures[:] = pictures[np.arange(300) % 3]
    elif same == "nearly all pictures":
        pictures[:] = pictures[0]
        pictures[::2, 0] += 2.0**-20
    else:
        captions[::2] = 0
    owners = draw.integers(0, 300, 500)
    found = ranks(pictures.astype(np.float32), captions.astype(np.float32), owners)
    assert_equal(found, whole_matrix(pictures, captions, owners))
    if same == "everything":
        assert set(found.text_to_image) == {300}


@pytest.mark.parametrize("pictures", [[[4097, 0], [4097, -1]], [[2**24 + 1, 0], [2**24, 1]], [[2**24, 1], [2**24, 2]]])
def test_whole_numbers_whose_products_float32_cannot_hold(pictures: list[list[int]]) -> None:
    captions, owners = np.array([[4097, 1], [4097, 1], [1, 0], [0, 1]]), np.array([0, 1, 0, 1])
    expected = double_loop(np.array(pictures), captions, owners)
    found = ranks(np.array(pictures), captions, owners)
    assert (found.text_to_image.tolist(), found.image_to_text.tolist()) == expected


def test_captions_so_short_that_their_squares_vanish() -> None:
    pictures = unit(1, 64, seed=22) + np.float32(1e-6) * unit(100, 64, seed=23)
    captions = np.float32(1e-25) * unit(200, 64, seed=24)
    captions[0] = pictures[0]
    owners = np.arange(200) // 2
    assert_equal(ranks(pictures, captions, owners, tile=(100, 50)), whole_matrix(pictures, captions, owners))


def test_order_of_rows_does_not_matter() -> None:
    draw = np.random.default_rng(8)
    pictures, captions = draw.integers(-3, 4, (40, 5)) / 8, draw.integers(-3, 4, (90, 5)) / 8
    owners = draw.integers(0, 40, 90)
    found = ranks(pictures, captions, owners)
    picture_order, caption_order = draw.permutation(40), draw.permutation(90)
    where = np.argsort(picture_order)
    moved = ranks(pictures[picture_order], captions[caption_order], where[owners[caption_order]], tile=(7, 11))
    assert_equal(moved, Ranks(found.text_to_image[caption_order], found.image_to_text[picture_order]))


@pytest.mark.parametrize("factors", [(3.0, 0.7), (2.0**-100, 1.0), (1e-200, 1e200), (1e300, 1e300), (1e-160, 1e-160)])
def test_scaling_changes_no_rank(factors: tuple[float, float]) -> None:
    pictures, captions = unit(50, 20, seed=9).astype(np.float64), unit(120, 20, seed=10).astype(np.float64)
    pictures[10:15] = pictures[:5]
    owners = np.random.default_rng(11).integers(0, 50, 120)
    expected = whole_matrix(pictures, captions, owners)
    assert_equal(ranks(pictures * factors[0], captions * factors[1], owners), expected)


def test_vectors_of_very_different_lengths() -> None:
    draw = np.random.default_rng(12)
    pictures = (unit(60, 16, seed=13) * 10.0 ** draw.uniform(-12, 6, (60, 1))).astype(np.float32)
    captions = (unit(150, 16, seed=14) * 10.0 ** draw.uniform(-12, 6, (150, 1))).astype(np.float32)
    owners = draw.integers(0, 60, 150)
    assert_equal(ranks(pictures, captions, owners, tile=(16, 64)), whole_matrix(pictures, captions, owners))


class Watched(Dot):
    """Notes under which settings tiles are scored."""

    def __init__(self) -> None:
        self.seen: set[tuple[object, ...]] = set()

    def block(self, pictures: Tensor, captions: Tensor, out: Tensor | None = None) -> Tensor:
        scores = super().block(pictures, captions, out)
        precisions = [
            getattr(part.matmul, "fp32_precision", "ieee") for part in (torch.backends.cuda, torch.backends.mkldnn)
        ]
        self.seen.add((scores.dtype, scores.requires_grad, *precisions))
        return scores


@pytest.mark.parametrize("count", [1, 3])
def test_settings_of_training_neither_matter_nor_change(threads: None, careless_products: None, count: int) -> None:
    pictures, captions, owners = unit(200, 256, seed=15), unit(400, 256, seed=16), np.arange(400) // 2
    torch.set_num_threads(count)
    score = Watched()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        learning = torch.tensor(pictures, requires_grad=True)
        found = ranks(learning, torch.tensor(captions), owners, score=score, tile=(64, 64))
        assert torch.is_autocast_enabled("cpu")
    assert torch.get_float32_matmul_precision() == "medium"
    assert score.seen == {(torch.float32, False, "ieee", "ieee")}
    assert torch.is_grad_enabled()
    with ThreadPoolExecutor(1) as later:
        assert torch.get_num_threads() == later.submit(torch.get_num_threads).result() == count
    assert_equal(found, whole_matrix(pictures, captions, owners))


def test_arrays_of_any_layout_are_only_read() -> None:
    pictures, captions, owners = unit(30, 8), unit(50, 8, seed=1), np.arange(50) % 30
    expected = ranks(pictures, captions, owners)
    flipped, foreign = np.asfortranarray(pictures)[:, ::-1], captions[:, ::-1].astype(">f8")
    flipped.flags.writeable = foreign.flags.writeable = False
    assert_equal(ranks(flipped, foreign, owners.astype(np.uint8)), expected)


class Order:
    """−‖max(0, caption − picture)‖², as order embeddings score: a caption should lie below its picture."""

    scales_apart, parts, product = False, 1, False

    def block(self, pictures: Tensor, captions: Tensor, out: Tensor | None = None) -> Tensor:
        return -(captions[None] - pictures[:, None]).clamp(min=0).square().sum(dim=2)

    def pairs(self, pictures: Tensor, captions: Tensor) -> Tensor:
        return -row_sums((captions.double() - pictures.double()).clamp(min=0).square().split(LANES, dim=1))

    def error(
        self, picture_norms: Tensor, caption_norms: Tensor, dimensions: int, dtype: torch.dtype, whole: bool
    ) -> Tensor:
        return (dimensions + 20) * torch.finfo(dtype).eps * (picture_norms + caption_norms) ** 2


def test_another_score_is_ranked_by_the_same_code() -> None:
    pictures, captions = abs(unit(40, 12, seed=17)), np.float32(0.4) * abs(unit(100, 12, seed=18))
    pictures[20:30] = pictures[:10]
    owners = np.random.default_rng(19).integers(0, 40, 100)

    def score(picture: int, caption: int) -> float:
        gaps = captions[caption].astype(np.float64) - pictures[picture].astype(np.float64)
        return -math.fsum(max(0.0, gap) ** 2 for gap in gaps)

    for scale in (1.0, 2.0**40):
        scaled = (np.float32(scale) * pictures, np.float32(scale) * captions)
        found = ranks(*scaled, owners, score=Order(), tile=(9, 30))
        for caption, owner in enumerate(owners):
            rivals = sum(score(other, caption) >= score(owner, caption) for other in range(40) if other != owner)
            assert found.text_to_image[caption] == 1 + rivals
        for picture in range(40):
            own = [score(picture, caption) for caption in np.flatnonzero(owners == picture)]
            rivals = (
                sum(score(picture, caption) >= max(own) for caption in np.flatnonzero(owners != picture)) if own else -1
            )
            assert found.image_to_text[picture] == 1 + rivals


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
def test_gpu_equals_float64(careless_products: None) -> None:
    pictures, captions = unit(3000, 512, seed=20), unit(9000, 512, seed=21)
    pictures[100:200] = pictures[:100]
    captions[:1000] = captions[0]
    owners = np.arange(9000) // 3
    expected = whole_matrix(pictures, captions, owners)
    on_gpu = torch.tensor(pictures, device="cuda"), torch.tensor(captions, device="cuda")
    for tile in (None, (500, 700)):
        assert_equal(ranks(*on_gpu, owners, tile=tile), expected)


GOOD = np.eye(3, dtype=np.float32)


@pytest.mark.parametrize(
    ("pictures", "captions", "owners", "words"),
    [
        (np.zeros((0, 3)), GOOD, [0, 1, 2], "pictures is empty (0 × 3): there is nothing to rank"),
        (GOOD, np.zeros((0, 3)), [], "captions is empty (0 × 3): there is nothing to rank"),
        (np.zeros(3), GOOD, [0, 1, 2], "pictures has 1 dimension(s) (3), where one vector per row is needed"),
        (GOOD, np.zeros((3, 4)), [0, 1, 2], "pictures has vectors of 3 dimensions but captions of 4"),
        (GOOD, GOOD, [0, 1, 3], "owners: row 2 is 3, but pictures has 3 pictures, rows 0 to 2"),
        (GOOD, GOOD, [0, -1, 3], "owners: row 1 is -1"),
        (GOOD, GOOD, [0.0, 1.0, 2.0], "owners holds float64 values"),
        (GOOD, GOOD, [0, 1], "owners has the shape 2, but captions has 3 captions"),
        (GOOD, GOOD, [[0, 1, 2]], "owners has the shape 1 × 3"),
        (
            GOOD,
            np.array([[0, 0, 0], [0, np.nan, 0], [0, 0, np.inf]]),
            [0, 1, 2],
            "captions: row 1 holds a number that is not finite",
        ),
        (np.float16([[0, 0, 1], [0, 1, 0], [0, 0, -np.inf]]), GOOD, [0, 1, 2], "pictures: row 2 holds a number"),
        (GOOD > 0, GOOD, [0, 1, 2], "pictures holds bool values"),
        (torch.eye(3) > 0, GOOD, [0, 1, 2], "pictures holds torch.bool values"),
        pytest.param(
            GOOD.astype(np.longdouble),
            GOOD,
            [0, 1, 2],
            "pictures holds float128 values",
            marks=pytest.mark.skipif(np.dtype(np.longdouble).name != "float128", reason="no such type here"),
        ),
        (GOOD.astype(complex), GOOD, [0, 1, 2], "pictures holds complex128 values"),
    ],
)
def test_mistakes_are_named(pictures: Any, captions: Any, owners: Any, words: str) -> None:
    with pytest.raises(UserError) as raised:
        ranks(pictures, captions, np.array(owners, dtype=None if owners else np.int64))
    assert words in str(raised.value)


def test_the_first_row_that_is_not_finite_is_named_in_later_parts_too() -> None:
    captions = np.ones((2500, 2))
    captions[2345, 1] = -np.inf
    with pytest.raises(UserError, match="captions: row 2345 "):
        ranks(np.ones((1, 2)), captions, np.zeros(2500, dtype=np.int64))
