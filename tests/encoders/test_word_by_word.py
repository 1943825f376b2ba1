"""A sentence made of the states of its words is that of the encoder; states do not depend on padding."""

from typing import Any

import pytest
import sized
import torch
from torch import nn

from groundling.encoders.text import TextEncoder
from groundling.encoders.text.autoencoded import AutoencodedPooling
from groundling.encoders.text.autoencoder import Autoencoder
from groundling.encoders.text.bag import BagEncoder, BagSettings
from groundling.encoders.text.bidirectional import BidirectionalEncoder, BidirectionalSettings
from groundling.encoders.text.characters import CharacterEncoder, CharacterSettings
from groundling.encoders.text.max_pooled import MaxPooledEncoder, MaxPooledSettings
from groundling.encoders.text.new_words import NewWordsEncoder, NewWordsSettings
from groundling.encoders.text.recurrent import RecurrentEncoder, RecurrentSettings
from groundling.encoders.text.taught import TaughtEncoder
from groundling.encoders.tokenisers.taught import TaughtTokeniser
from groundling.errors import UserError

LENGTHS = torch.tensor([5, 2, 3, 1])


def entries(longest: int = 5) -> torch.Tensor:
    draw = torch.Generator().manual_seed(0)
    ids = torch.randint(1, 20, (4, 5), generator=draw)
    ids = ids * (torch.arange(5) < LENGTHS[:, None])
    return nn.functional.pad(ids, (0, longest - 5))


def encoder(kind: str) -> TextEncoder:
    torch.manual_seed(1)
    words = sized.words(20)
    if kind == "recurrent":
        return RecurrentEncoder(words, 8, RecurrentSettings(word_dimensions=6))
    if kind in ("last", "ends"):
        return BidirectionalEncoder(words, 8, BidirectionalSettings(word_dimensions=6, pooling=kind))
    if kind == "characters":
        settings = CharacterSettings(word_dimensions=6, character_dimensions=3, layers=[7], pooling="max")
        return CharacterEncoder(sized.characters(20, 2), 8, settings)
    teacher = MaxPooledEncoder(words, 8, MaxPooledSettings(word_dimensions=6))
    if kind == "max":
        return teacher
    if kind == "autoencoded":
        inner = RecurrentEncoder(words, 11, RecurrentSettings(word_dimensions=6))
        return AutoencodedPooling(inner, Autoencoder(inner.state_dimensions, teacher.state_dimensions), teacher)
    reader: Any = "teacher" if kind == "new words" else "own"
    return NewWordsEncoder.as_student(words, teacher, NewWordsSettings(reader=reader))


KINDS = ["recurrent", "last", "ends", "max", "characters", "new words", "own words", "autoencoded"]


@pytest.mark.parametrize("kind", KINDS)
def test_states_pooled_as_the_encoder_pools_them_are_its_sentence(kind: str) -> None:
    read = encoder(kind).eval()
    with torch.no_grad():
        for longest in (5, 9):
            given = entries(longest)
            if kind == "characters":
                given = torch.stack([given, (given * 7) % 20], dim=-1)
            states = read.states(given, LENGTHS)
            assert states.shape[:2] == (4, longest)
            assert torch.allclose(read.finish(read.pool(states, LENGTHS)), read(given, LENGTHS), atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_the_state_of_a_word_does_not_depend_on_padding_or_neighbours(kind: str) -> None:
    read, given = encoder(kind).eval(), entries(9)
    if kind == "characters":
        given = torch.stack([given, (given * 7) % 20], dim=-1)
    with torch.no_grad():
        states = read.states(given, LENGTHS)
        for row, length in enumerate(LENGTHS.tolist()):
            alone = read.states(given[row : row + 1, :length], LENGTHS[row : row + 1])
            assert torch.allclose(alone[0], states[row, :length], atol=1e-6)


def test_both_directions_of_a_state_are_at_its_own_word() -> None:
    """Another word at a place changes the onward half from there on, and the backward half up to there."""
    read, lengths = encoder("max").eval(), torch.tensor([5])
    given = entries()[:1]
    other = given.clone()
    other[0, 2] = 19 - given[0, 2]
    with torch.no_grad():
        changed = (read.states(given, lengths) != read.states(other, lengths))[0]
    assert changed[:, :4].any(dim=1).tolist() == [False, False, True, True, True]
    assert changed[:, 4:].any(dim=1).tolist() == [True, True, True, False, False]


def test_an_encoder_without_words_is_refused() -> None:
    with pytest.raises(
        UserError, match=r"needs a teacher that has a vector for each word.*BagEncoder is not; use clseave"
    ):
        BagEncoder(sized.ngrams(20), 8, BagSettings(word_dimensions=6)).check_states("teacher")
    tokeniser = TaughtTokeniser(sized.words(20), sized.words(20), ("de",), ("en",), {})
    with pytest.raises(UserError, match=r"needs a student.*TaughtEncoder is not"):
        TaughtEncoder(tokeniser, encoder("max"), encoder("max")).check_states("student")


def test_an_autoencoder_reduces_and_gives_back() -> None:
    """States of twelve dimensions that lie in six are given back whole by six, not by four, nor by ReLUs."""
    draw = torch.Generator().manual_seed(0)
    states = torch.randn(8, 10, 6, generator=draw) @ torch.randn(6, 12, generator=draw) / 6**0.5
    real = torch.arange(10) < torch.arange(3, 11)[:, None]

    def left(inner: int, rectified: bool = False) -> float:
        torch.manual_seed(0)
        model = Autoencoder(12, inner, rectified)
        optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
        for _ in range(300):
            optimiser.zero_grad()
            loss = model.loss(states, real)
            loss.backward()
            optimiser.step()
        assert model.encode(states).shape == (8, 10, inner)
        return loss.item() / float(states[real].var())

    assert left(6) < 0.01
    assert 0.05 < left(4) < 0.6
    assert left(6, rectified=True) > 0.3


def test_padding_is_not_given_back_and_the_student_is_not_moved() -> None:
    model = Autoencoder(5, 3)
    states = torch.randn(2, 4, 5, requires_grad=True)
    real = torch.tensor([[True, True, False, False], [True, False, False, False]])
    loss = model.loss(states, real)
    other = torch.where(real[:, :, None], states, 99.0)
    assert model.loss(other, real).item() == pytest.approx(loss.item())
    loss.backward()
    assert states.grad is None
    assert model.down.weight.grad is not None
