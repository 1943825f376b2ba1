"""The bidirectional sentence against torch's own packed GRU, under padding, and its gradients."""

import pytest
import sized
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from groundling.encoders.text.bidirectional import (
    BidirectionalEncoder,
    BidirectionalSentence,
    BidirectionalSettings,
    FirstState,
    Pooling,
)

LENGTHS = torch.tensor([4, 1, 6, 6])
POOLINGS: list[Pooling] = ["last", "ends"]


def some_words(seed: int = 0) -> Tensor:
    return torch.randn(4, 6, 5, generator=torch.Generator().manual_seed(seed))


def copy_first_state(into: FirstState, gru: nn.GRU) -> None:
    """The GRU's biases of the gates can be added up, but for the one that the reset gate multiplies."""
    d = gru.hidden_size
    with torch.no_grad():
        into.gates.weight.copy_(gru.weight_ih_l0)
        into.gates.bias.copy_(gru.bias_ih_l0 + torch.cat([gru.bias_hh_l0[: 2 * d], torch.zeros(d)]))
        into.state_bias.copy_(gru.bias_hh_l0[2 * d :])


def test_the_first_state_is_that_of_a_gru_after_one_entry() -> None:
    torch.manual_seed(0)
    gru, first = nn.GRU(5, 3, batch_first=True), FirstState(5, 3)
    copy_first_state(first, gru)
    entries = torch.randn(7, 5)
    assert torch.allclose(first(entries), gru(entries[:, None])[0][:, 0], atol=1e-6)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_equals_the_packed_bidirectional_gru(pooling: Pooling) -> None:
    torch.manual_seed(0)
    slow = nn.GRU(5, 3, batch_first=True, bidirectional=True)
    sentence = BidirectionalSentence(5, 3, pooling)
    backward = nn.GRU(5, 3, batch_first=True)
    weights = slow.state_dict()
    sentence.onward.load_state_dict({name: value for name, value in weights.items() if "reverse" not in name})
    backward.load_state_dict({name[: -len("_reverse")]: weights[name] for name in weights if "reverse" in name})
    if isinstance(sentence.back, FirstState):
        copy_first_state(sentence.back, backward)
    else:
        sentence.back.load_state_dict(backward.state_dict())

    packed, _ = slow(pack_padded_sequence(some_words(), LENGTHS, batch_first=True, enforce_sorted=False))
    states, _ = pad_packed_sequence(packed, batch_first=True)
    expected = []
    for caption, length in enumerate(LENGTHS.tolist()):
        onward = states[caption, length - 1, :3]
        back = states[caption, length - 1 if pooling == "last" else 0, 3:]
        expected.append(normalize((onward + back) / 2, dim=-1))
    assert torch.allclose(sentence(some_words(), LENGTHS), torch.stack(expected), atol=1e-6)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_padding_company_and_order_do_not_change_a_sentence(pooling: Pooling) -> None:
    torch.manual_seed(0)
    encoder = BidirectionalEncoder(sized.words(9), 16, BidirectionalSettings(word_dimensions=8, pooling=pooling)).eval()
    ids = torch.randint(1, 9, (4, 6)) * (torch.arange(6) < LENGTHS[:, None])
    together = encoder(ids, LENGTHS)
    garbage = torch.cat([ids, torch.randint(0, 9, (4, 20))], dim=1)  # padding of any kind, not only zeros
    order = torch.tensor([2, 0, 3, 1])
    alone = torch.cat([encoder(ids[row : row + 1, : LENGTHS[row]], LENGTHS[row : row + 1]) for row in range(4)])
    assert torch.allclose(together, encoder(garbage, LENGTHS), atol=1e-6)
    assert torch.allclose(together, alone, atol=1e-6)
    assert torch.allclose(together[order], encoder(ids[order], LENGTHS[order]), atol=1e-6)
    assert torch.allclose(together.norm(dim=1), torch.ones(4))


def test_with_ends_the_first_word_reaches_the_backward_direction_and_with_last_it_does_not() -> None:
    for pooling in POOLINGS:
        torch.manual_seed(0)
        sentence = BidirectionalSentence(5, 3, pooling)
        for parameter in sentence.onward.parameters():  # the forward direction says nothing
            nn.init.zeros_(parameter)
        changed = some_words()
        changed[:, 0] += 1
        differs = (sentence(some_words(), LENGTHS) - sentence(changed, LENGTHS)).abs().amax(dim=1) > 1e-4
        # Caption 1 has one word, which is its first and its last.
        assert differs.tolist() == ([True] * 4 if pooling == "ends" else [False, True, False, False])


@pytest.mark.parametrize("pooling", POOLINGS)
def test_gradients(pooling: Pooling) -> None:
    torch.manual_seed(0)
    sentence = BidirectionalSentence(5, 3, pooling)
    words = some_words().requires_grad_()
    sentence(words, LENGTHS)[:, 0].sum().backward()
    assert words.grad is not None
    real = torch.arange(6) < LENGTHS[:, None]
    assert not words.grad[~real].any()  # padding gets no gradient
    assert (words.grad[real].abs().sum(-1) > 0).all()  # every word does
    assert all(parameter.grad is not None and parameter.grad.any() for parameter in sentence.parameters())
