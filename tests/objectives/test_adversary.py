"""The language classifier's reversed gradient, and the pull towards where word vectors began."""

import math

import pytest
import torch

from groundling.objectives.adversary import language_guess, reversed_gradient, strength
from groundling.objectives.pull import pull


@pytest.mark.parametrize(("step", "expected"), [(0, 0.0), (100, 0.462117), (500, 0.986614), (1000, 0.999909)])
def test_the_strength_grows_with_training(step: int, expected: float) -> None:
    """(2 / (1 + e^(−10p)) − 1) at p = 0, .1, .5 and 1, of 1,000 steps; not more after them."""
    assert strength(torch.tensor(float(step)), 1000, 1.0).item() == pytest.approx(expected, abs=1e-6)
    assert strength(torch.tensor(float(step)), 1000, 1e-6).item() == pytest.approx(1e-6 * expected, abs=1e-12)
    assert strength(torch.tensor(5000.0), 1000, 1.0).item() == pytest.approx(0.999909, abs=1e-6)


def test_the_classifier_learns_and_the_embedding_unlearns() -> None:
    torch.manual_seed(0)
    values = torch.randn(5, 3, dtype=torch.float64, requires_grad=True)
    weights = torch.randn(3, 2, dtype=torch.float64, requires_grad=True)
    languages, real = torch.tensor([0, 1, 1, 0, 1]), torch.tensor([True, True, False, True, True])
    plain = torch.autograd.grad(language_guess(values @ weights, languages, real), (values, weights))
    factor = torch.tensor(0.25, dtype=torch.float64)
    turned = torch.autograd.grad(
        language_guess(reversed_gradient(values, factor) @ weights, languages, real), (values, weights)
    )
    assert torch.allclose(turned[0], -0.25 * plain[0])
    assert torch.allclose(turned[1], plain[1])
    assert torch.equal(reversed_gradient(values, factor), values)


def test_the_guess_by_hand() -> None:
    logits = torch.tensor([[0.0, math.log(3)], [0.0, 0.0], [9.0, -9.0]])
    languages, real = torch.tensor([1, 0, 1]), torch.tensor([True, True, False])
    # Probabilities 3/4 and 1/2 of the right language; the third caption is not there.
    expected = -(math.log(3 / 4) + math.log(1 / 2)) / 2
    assert language_guess(logits, languages, real).item() == pytest.approx(expected)
    assert language_guess(logits, languages, torch.zeros(3, dtype=torch.bool)).item() == 0


def test_the_pull_by_hand() -> None:
    start = torch.tensor([[1.0, 2.0], [0.0, 0.0]])
    weights = torch.tensor([[1.0, 4.0], [1.0, 0.0]], requires_grad=True)
    assert pull(weights, start).item() == pytest.approx((4 + 1) / 2)
    (gradient,) = torch.autograd.grad(pull(weights, start), weights)
    assert torch.equal(gradient, weights - start)
