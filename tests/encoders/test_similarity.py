"""Similarities of captions and pictures: worked by hand, against a triple loop, with gradients, in any portions."""

import math

import pytest
import torch
from torch import Tensor

from groundling.encoders import similarity
from groundling.encoders.similarity import caption_scores, order_similarities, picture_scores


def slow_order(specific: Tensor, general: Tensor) -> list[list[float]]:
    """−‖max(0, b − a)‖², entry by entry."""
    return [
        [-math.fsum(max(0.0, float(y) - float(x)) ** 2 for x, y in zip(a, b, strict=True)) for b in general]
        for a in specific
    ]


def unit(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    draw = torch.Generator().manual_seed(seed)
    return torch.nn.functional.normalize(torch.randn(*shape, generator=draw, dtype=dtype), dim=-1)


def test_order_worked_by_hand() -> None:
    pictures = torch.tensor([[3.0, 1.0], [0.0, 2.0]])
    captions = torch.tensor([[1.0, 1.0], [4.0, 4.0], [0.0, 3.0]])
    # Caption 0 lies below picture 0, and exceeds picture 1 by (1, 0). Caption 1 exceeds picture 0 by (1, 3) and
    # picture 1 by (4, 2). Caption 2 exceeds picture 0 by (0, 2) and picture 1 by (0, 1).
    expected = torch.tensor([[0.0, -10.0, -4.0], [-1.0, -20.0, -1.0]])
    assert torch.equal(order_similarities(pictures, captions), expected)
    # Encoders may give negative entries; their absolute values count. Captions are the rows, as everywhere in training.
    assert torch.equal(picture_scores("order", -captions, pictures * torch.tensor([1.0, -1.0])), expected.T)


def test_the_general_is_the_caption_not_the_picture() -> None:
    """A caption that says less than the picture shows is right; one that says more is wrong."""
    rich, poor = torch.tensor([[0.6, 0.6]]), torch.tensor([[0.6, 0.0]])
    assert picture_scores("order", captions=poor, pictures=rich).item() == 0
    assert picture_scores("order", captions=rich, pictures=poor).item() == pytest.approx(-0.36)


@pytest.mark.parametrize(
    ("rows", "columns", "dimensions"), [(1, 1, 1), (3, 5, 7), (5, 3, 16), (2, 9, 300), (40, 30, 50)]
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_order_equals_a_triple_loop(rows: int, columns: int, dimensions: int, dtype: torch.dtype) -> None:
    specific, general = unit(rows, dimensions, dtype=dtype), unit(columns, dimensions, seed=1, dtype=dtype)
    found = order_similarities(specific, general)
    assert found.dtype == dtype
    expected = torch.tensor(slow_order(specific, general), dtype=torch.float64)
    assert torch.allclose(found.double(), expected, atol=1e-6 if dtype == torch.float32 else 1e-14, rtol=0)


@pytest.fixture(params=[(1, 1), (2, 3), (3, 128)])
def portions(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Differences are computed a few dimensions at a time; here so few that every edge of the portions is met."""
    monkeypatch.setattr(similarity, "SHALLOWEST", request.param[0])
    monkeypatch.setattr(similarity, "DEEPEST", request.param[1])


def test_gradients_of_the_order_are_exact(portions: None) -> None:
    specific, general = unit(4, 10).requires_grad_(), unit(6, 10, seed=1).requires_grad_()
    assert torch.autograd.gradcheck(order_similarities, (specific, general))
    assert torch.autograd.gradcheck(lambda a, b: picture_scores("order", a, b), (specific, general))
    assert torch.autograd.gradcheck(lambda a, b: caption_scores("order", a, b), (specific, general))
    one_side = unit(4, 10)
    assert torch.autograd.gradcheck(lambda b: order_similarities(one_side, b), (general,))


def test_gradients_equal_those_of_the_plain_expression_on_larger_batches() -> None:
    """Large enough for several portions of rows and of dimensions on a CPU."""
    weights = torch.randn(200, 150, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    found, expected = [], []
    for scores, kept in (
        (order_similarities, found),
        (lambda a, b: -(b[None] - a[:, None]).clamp(min=0).square().sum(dim=2), expected),
    ):
        specific, general = unit(200, 90).requires_grad_(), unit(150, 90, seed=1).requires_grad_()
        result = scores(specific, general)
        (result * weights).sum().backward()
        kept.extend([result.detach(), specific.grad, general.grad])
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one, other, atol=1e-12)


def test_between_captions_the_order_is_the_mean_of_both_directions_and_has_none() -> None:
    left, right = unit(5, 12), unit(4, 12, seed=1)
    scores = caption_scores("order", left, right)
    both = torch.tensor(slow_order(left.abs(), right.abs())) + torch.tensor(slow_order(right.abs(), left.abs())).T
    assert torch.allclose(scores, both.double() / 2, atol=1e-6)
    assert torch.allclose(caption_scores("order", right, left), scores.T)


def test_cosines() -> None:
    left, right = unit(3, 8), unit(2, 8, seed=1)
    expected = torch.tensor([[float((a * b).sum()) for b in right] for a in left], dtype=torch.float64)
    assert torch.allclose(picture_scores("cosine", left, right), expected)
    assert torch.allclose(caption_scores("cosine", left, right), expected)


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (3, 0), (0, 0)])
def test_nothing_in_nothing_out(rows: int, columns: int) -> None:
    assert order_similarities(torch.zeros(rows, 4), torch.zeros(columns, 4)).shape == (rows, columns)
