"""Packed by length, a GRU reaches the states of captions read one by one: values, gradients, any order."""

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from groundling.batches.packing import packing_of
from groundling.encoders.text.packing import Packing, read_packed

LENGTHS = {
    "mixed": [5, 1, 12, 3, 3, 7, 1, 11, 6, 2, 9, 4],
    "one word": [1] * 9,
    "equal": [6] * 9,
    "one longer": [2] * 8 + [11],
    "one alone": [5],
}
BY_HAND: dict[str, Packing] = {  # ended captions are read on for a while, some for two parts
    "mixed": ((1, 12), (4, 10), (8, 9), (12, 5)),
    "one longer": ((2, 9), (3, 4), (11, 1)),
}
CASES: list[tuple[str, Packing | None]] = [(name, None) for name in LENGTHS] + list(BY_HAND.items())


def plain(recurrent: nn.GRU, words: Tensor, lengths: Tensor) -> Tensor:
    """Every caption by itself, without padding."""
    return torch.stack([recurrent(one[:n])[0][-1] for one, n in zip(words, lengths.tolist(), strict=True)])


def prepared(name: str, packing: Packing | None) -> tuple[nn.GRU, Tensor, Tensor, Packing]:
    torch.manual_seed(0)
    lengths = torch.tensor(LENGTHS[name])
    packing = packing or packing_of(lengths.numpy(), 12)
    words = torch.randn(len(lengths), packing[-1][0], 4, dtype=torch.float64, requires_grad=True)
    return nn.GRU(4, 5, batch_first=True, dtype=torch.float64), words, lengths, packing


@pytest.mark.parametrize(("name", "packing"), CASES)
def test_states_and_gradients_are_those_of_captions_read_one_by_one(name: str, packing: Packing | None) -> None:
    recurrent, words, lengths, packing = prepared(name, packing)
    weight = torch.randn(len(lengths), 5, dtype=torch.float64)
    found, expected = read_packed(recurrent, words, lengths, packing), plain(recurrent, words, lengths)
    assert torch.allclose(found, expected, atol=1e-12)
    inputs = [words, *recurrent.parameters()]
    gradients = zip(
        torch.autograd.grad((found * weight).sum(), inputs),
        torch.autograd.grad((expected * weight).sum(), inputs),
        strict=True,
    )
    assert all(torch.allclose(one, other, atol=1e-12) for one, other in gradients)


@pytest.mark.parametrize(("name", "packing"), CASES)
def test_the_order_of_captions_and_what_padding_holds_do_not_matter(name: str, packing: Packing | None) -> None:
    recurrent, words, lengths, packing = prepared(name, packing)
    found = read_packed(recurrent, words, lengths, packing)
    order = torch.from_numpy(np.random.default_rng(1).permutation(len(lengths)))
    assert torch.allclose(read_packed(recurrent, words[order], lengths[order], packing), found[order], atol=1e-12)
    padding = torch.arange(words.shape[1]) >= lengths[:, None]
    other = torch.where(padding[..., None], 100.0, words)
    assert torch.allclose(read_packed(recurrent, other, lengths, packing), found, atol=1e-12)


def test_only_what_the_packing_says_is_read() -> None:
    recurrent, words, lengths, packing = prepared("mixed", BY_HAND["mixed"])
    shapes = []
    recurrent.register_forward_hook(lambda _, inputs, __: shapes.append(tuple(inputs[0].shape[:2])))
    read_packed(recurrent, words, lengths, packing)
    assert shapes == [(12, 1), (10, 3), (9, 4), (5, 4)]


def test_no_packing_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="at least one part"):
        read_packed(nn.GRU(4, 5), torch.zeros(2, 0, 4), torch.ones(2, dtype=torch.int64), ())
