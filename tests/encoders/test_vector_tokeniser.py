"""Captions as rows of word vectors: known words, words made of pieces, words of neither."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundling.encoders.tokenisers.vectors import MOST_PIECES, VectorTokeniser
from groundling.settings import TextSettings
from groundling.text import Tokens
from groundling.words import Subwords, WordVectors, training
from groundling.words.subwords import piece_hashes

SETTINGS = TextSettings(minimum_count=1)
BUCKETS = 500


def vectors(words: tuple[str, ...] = ("dog", "cat", "house"), with_pieces: bool = True) -> WordVectors:
    draw = np.random.default_rng(0)
    pieces = Subwords(draw.standard_normal((BUCKETS, 4)).astype(np.float32), 3, 6, BUCKETS) if with_pieces else None
    return WordVectors(words, draw.standard_normal((len(words), 4)).astype(np.float32), pieces)


def build(source: WordVectors, texts: list[str], **options: object) -> VectorTokeniser:
    return VectorTokeniser.build(source, texts, ["en"] * len(texts), SETTINGS, **options)  # type: ignore[arg-type]


def read(tokeniser: VectorTokeniser, tokens: Tokens, caption: int) -> list[np.ndarray]:  # type: ignore[type-arg]
    """The slow twin of the encoder: the direction of the sum of the rows of each word."""
    assert tokeniser.table is not None and tokens.spellings is not None
    found = []
    for word in tokens.ids[caption, : tokens.lengths[caption]]:
        total = tokeniser.table.astype(np.float64)[tokens.spellings[word]].sum(axis=0)
        found.append(total / max(np.linalg.norm(total), 1e-12))
    return found


def test_listed_words_come_out_as_directions_from_the_mean() -> None:
    source = vectors()
    tokeniser = build(source, ["a dog"])
    one, other = read(tokeniser, tokeniser.encode(["cat DOG"], ["en"]), 0)
    for found, word in ((one, "cat"), (other, "dog")):
        vector = source.matrix[source.rows[word]] - source.matrix.mean(axis=0)
        assert np.allclose(found, vector / np.linalg.norm(vector), atol=1e-3)  # float16


def test_words_of_the_training_captions_have_one_row_whatever_the_list_holds() -> None:
    """So that a step of training looks up one row for each word."""
    source = vectors()
    tokeniser = build(source, ["doghouse cathouse dog"], most=1)
    assert tokeniser.words == ("dog", "cathouse", "doghouse")
    tokens = tokeniser.encode(["doghouse cathouse dog"], ["en"])
    assert tokens.spellings is not None and tokens.spellings.shape == (4, 1)
    assert source.subwords is not None
    whole = source.subwords.vector("doghouse")
    assert whole is not None
    whole = whole - source.matrix[0]  # of the one word that is listed
    assert np.allclose(read(tokeniser, tokens, 0)[0], whole / np.linalg.norm(whole), atol=2e-3)


def test_a_new_word_is_the_direction_of_its_known_pieces() -> None:
    source = vectors()
    tokeniser = build(source, ["dog cat house"])
    (found,) = read(tokeniser, tokeniser.encode(["housedog"], ["en"]), 0)
    assert source.subwords is not None
    known = {value % BUCKETS for word in source.words for value in piece_hashes(word, 3, 6)}
    used = [value % BUCKETS for value in piece_hashes("housedog", 3, 6) if value % BUCKETS in known]
    total = source.subwords.table[used].mean(axis=0) - source.matrix.mean(axis=0)
    assert 0 < len(used) < len(piece_hashes("housedog", 3, 6))
    assert np.allclose(found, total / np.linalg.norm(total), atol=3e-3)


@pytest.mark.parametrize("subwords", [True, False])
def test_words_without_a_vector_are_left_out(subwords: bool) -> None:
    tokeniser = build(vectors(with_pieces=subwords), ["dog"], subwords=subwords)
    tokens = tokeniser.encode(["dog zzzzq cat", "zzzzq", ""], ["en"] * 3)
    if not subwords:
        assert tokens.lengths.tolist() == [2, 1, 1]
    assert tokens.lengths[2] == 1
    assert np.array_equal(read(tokeniser, tokens, 2)[0], np.zeros(4))  # an empty caption is one empty word
    with_it, without = (tokeniser.encode([text], ["en"]) for text in ("dog 犬 cat", "dog cat"))
    assert np.array_equal(read(tokeniser, with_it, 0), read(tokeniser, without, 0))


def test_a_word_of_a_thousand_letters_makes_no_matrix_of_thousands_of_columns() -> None:
    tokeniser = build(vectors(), ["dog"])
    spellings = tokeniser.encode(["doghouse" * 500], ["en"]).spellings
    assert spellings is not None and spellings.shape[1] <= MOST_PIECES


@given(st.lists(st.text(max_size=30), max_size=5), st.booleans())
def test_saved_and_loaded_it_reads_the_same(texts: list[str], subwords: bool) -> None:
    tokeniser = build(vectors(), ["dog cathouse"], subwords=subwords)
    loaded = VectorTokeniser.from_json(json.loads(json.dumps(tokeniser.to_json())))
    assert (loaded.size, loaded.dimensions) == (tokeniser.size, tokeniser.dimensions)
    assert tokeniser.table is not None and tokeniser.table.shape == (loaded.size, loaded.dimensions)
    one, other = (each.encode(texts, ["en"] * len(texts)) for each in (tokeniser, loaded))
    assert np.array_equal(one.ids, other.ids) and np.array_equal(one.lengths, other.lengths)
    assert one.spellings is not None and other.spellings is not None
    assert np.array_equal(one.spellings, other.spellings)
    assert one.spellings.max(initial=0) < tokeniser.size


def test_vectors_of_captions_are_trained_once(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("gensim")
    settings = training.WordSettings(dimensions=4, epochs=1, buckets=100, minimum_count=1)
    captions = [["dog", "cat"], ["cat", "house"]]
    first = training.trained(captions, settings)
    monkeypatch.setattr(training, "train", lambda *_: pytest.fail("trained again"))
    again = training.trained(captions, settings)
    assert again.words == first.words and np.array_equal(again.matrix, first.matrix)
    with pytest.raises(pytest.fail.Exception):
        training.trained([*captions, ["dog"]], settings)
