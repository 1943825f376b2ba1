"""Masked cross-language modelling against the formula, pair by pair; which words are masked."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from groundling.objectives.masked import completion, masked_words


@torch.no_grad()
def slow(masked: Tensor, whole: Tensor, real: Tensor, layer: torch.nn.Linear) -> float:
    """Equation 2, every pair of languages and of sentences by itself."""
    costs = []
    for i in range(len(masked)):
        for j in range(i + 1, len(masked)):
            for k in range(masked.shape[1]):
                if real[i, k] and real[j, k]:
                    guessed = layer(torch.cat([masked[i, k], masked[j, k]])).chunk(2)
                    cost = 0.0
                    for m, said, s in zip(
                        (masked[i, k], masked[j, k]), guessed, (whole[i, k], whole[j, k]), strict=True
                    ):
                        filled = m + said
                        cost += float((filled / filled.norm() - s / s.norm()).norm())
                    costs.append(cost)
    return sum(costs) / max(1, len(costs))


def batch(languages: int, sentences: int = 4, d: int = 3) -> tuple[Tensor, Tensor, Tensor, torch.nn.Linear]:
    torch.manual_seed(languages)
    masked, whole = torch.randn(2, languages, sentences, d, dtype=torch.float64)
    return masked, whole, torch.rand(languages, sentences) < 0.7, torch.nn.Linear(2 * d, 2 * d, dtype=torch.float64)


@pytest.mark.parametrize("languages", [1, 2, 3, 5])
def test_equals_the_slow_version(languages: int) -> None:
    masked, whole, real, layer = batch(languages)
    found = completion(masked, whole, real, layer.weight, layer.bias)
    assert found.item() == pytest.approx(slow(masked, whole, real, layer), abs=1e-9)
    assert completion(masked, whole, torch.zeros_like(real), layer.weight, layer.bias).item() == 0


def test_gradients() -> None:
    masked, whole, real, layer = batch(3)
    inputs = [tensor.detach().requires_grad_() for tensor in (masked, whole, layer.weight, layer.bias)]
    assert torch.autograd.gradcheck(lambda m, s, w, b: completion(m, s, real, w, b), inputs)


def test_what_is_not_there_has_no_say_and_the_order_of_sentences_none() -> None:
    masked, whole, real, layer = batch(3)
    expected = completion(masked, whole, real, layer.weight, layer.bias).item()
    changed = torch.where(real[..., None], masked, 50.0)
    assert completion(changed, whole, real, layer.weight, layer.bias).item() == pytest.approx(expected)
    order = [2, 0, 3, 1]
    moved = completion(masked[:, order], whole[:, order], real[:, order], layer.weight, layer.bias)
    assert moved.item() == pytest.approx(expected)


def test_a_right_completion_costs_nothing() -> None:
    """The layer copies what the second sentence has and the first has lost, and the other way round."""
    masked = torch.tensor([[[1.0, 0.0]], [[0.0, 1.0]]])
    whole = torch.tensor([[[2.0, 2.0]], [[1.0, 1.0]]])
    swap = torch.zeros(4, 4)
    swap[0, 2] = swap[1, 3] = swap[2, 0] = swap[3, 1] = 1
    assert completion(masked, whole, torch.ones(2, 1).bool(), swap, torch.zeros(4)).item() < 1e-3
    alone = completion(masked, whole, torch.ones(2, 1).bool(), torch.zeros(4, 4), torch.zeros(4)).item()
    assert alone == pytest.approx(2 * (2 - 2**0.5) ** 0.5, abs=1e-6)  # two angles of 45 degrees


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(1, 12), min_size=1, max_size=6), st.sampled_from([0.2, 0.25, 0.5, 0.75]))
def test_a_share_of_each_sentence_is_masked(lengths: list[int], share: float) -> None:
    masked = masked_words(torch.tensor(lengths), 12, share)
    for line, length in zip(masked, lengths, strict=True):
        count = int(line.sum())
        assert not line[length:].any()
        assert count == min(max(1, round(share * length)), length - 1)


def test_every_word_has_its_turn() -> None:
    torch.manual_seed(0)
    masked = masked_words(torch.full((4000,), 5), 7)
    assert torch.allclose(masked.float().mean(dim=0)[:5], torch.full((5,), 0.2), atol=0.03)
    by_hand = masked_words(torch.tensor([3]), 4, 0.4, torch.tensor([[0.5, 0.1, 0.9, 0.0]]))
    assert by_hand.tolist() == [[False, True, False, False]]
