"""Vectors from captions: reproducible, composed as our subwords compose them, and they learn."""

from pathlib import Path

import numpy as np
import pytest

from conftest import make_world
from groundling.errors import UserError
from groundling.words import training
from groundling.words.training import WordSettings, sentences, train

pytest.importorskip("gensim")

SETTINGS = WordSettings(dimensions=16, epochs=3, minimum_count=1, buckets=500, shortest=2, longest=3)


def test_words_of_a_picture_are_neighbours_where_captions_are_too_short() -> None:
    corpus = make_world(60).corpus
    by_caption, by_picture = (sentences(corpus, "de", context=context) for context in ("caption", "picture"))
    assert (len(by_caption), len(by_picture)) == (20, 10)
    assert by_picture == [one + other for one, other in zip(by_caption[::2], by_caption[1::2], strict=True)]


def test_only_training_captions_of_the_language() -> None:
    corpus = make_world().corpus
    captions = sentences(corpus, "de")
    inside = corpus.split("train").only(["de"]).texts
    assert [" ".join(words) for words in captions] == inside
    with pytest.raises(UserError, match=r'no captions in "dee" \(did you mean "de"\?\)'):
        sentences(corpus, "dee")


def test_same_seed_same_vectors_and_pieces_compose_them() -> None:
    captions = sentences(make_world().corpus, "de")
    one, two = train(captions, SETTINGS), train(captions, SETTINGS)
    assert one.words == two.words
    assert np.array_equal(one.matrix, two.matrix)
    assert not np.array_equal(one.matrix, train(captions, SETTINGS.model_copy(update={"seed": 1})).matrix)
    assert one.subwords is not None and one.subwords.kept is not None
    assert len(one.subwords.table) == len(one.subwords.kept) <= 500
    new = one.vector("hunde")
    assert new is not None and np.isfinite(new).all()


def test_our_pieces_are_gensims() -> None:
    from gensim.models import FastText

    captions = sentences(make_world().corpus, "de")
    ours = train(captions, SETTINGS)
    theirs = FastText(captions, sg=1, negative=5, workers=1, vector_size=16, window=10, min_count=1, min_n=2, max_n=3,
                      bucket=500, seed=0, epochs=3)  # fmt: skip
    assert np.allclose(ours.matrix, theirs.wv.vectors)
    # "hundhund" has no piece that was not seen in training but the one across its middle
    assert ours.subwords is not None
    known = ours.subwords.rows("hund")
    row = theirs.wv.vectors_vocab[theirs.wv.key_to_index["hund"]]
    assert np.allclose(
        ours.vector("hund"), (row + ours.subwords.table[known].sum(axis=0)) / (1 + len(known)), atol=1e-6
    )  # type: ignore[arg-type]


def test_words_of_the_same_kind_come_together() -> None:
    draw = np.random.default_rng(0)
    animals, boats = ["hund", "katze", "vogel", "pferd"], ["segel", "mast", "kiel", "anker"]
    captions = [list(draw.permutation(kind)) for kind in (animals, boats) for _ in range(200)]
    vectors = train(captions, SETTINGS.model_copy(update={"epochs": 10, "shortest": 5, "longest": 5}))
    unit = vectors.unit()
    rows = [[vectors.rows[word] for word in kind] for kind in (animals, boats)]
    within = np.mean([unit[kind] @ unit[kind].T for kind in rows])
    assert within > 0.2 + np.mean(unit[rows[0]] @ unit[rows[1]].T)


def test_nothing_to_train_on() -> None:
    with pytest.raises(UserError, match="no word occurs 5 times"):
        train([["a"]], SETTINGS.model_copy(update={"minimum_count": 5}))
    with pytest.raises(UserError, match="pieces of 4 to 3 letters"):
        train([["a"]], SETTINGS.model_copy(update={"shortest": 4}))


def test_words_of_captions_alone_are_kept_small_and_found_without_gensim(
    own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every word that the captions have, the rare ones from their pieces, as near as float16 comes."""
    captions = [["dog", "runs", "fast"], ["dog", "sleeps"], ["dogs", "run", "fast"]] * 5 + [["sheepdog", "barks"]]
    settings = training.WordSettings(dimensions=4, epochs=2, buckets=500)
    whole, seen = training.trained(captions, settings), training.trained_words(captions, settings)
    assert seen.subwords is None
    assert set(seen.words) == {word for caption in captions for word in caption}
    assert "sheepdog" not in whole.rows
    for word in seen.words:
        assert np.allclose(seen.vector(word), whole.vector(word), atol=1e-3, rtol=1e-3)
    for path in (own_cache / "words").iterdir():
        if not path.name.startswith("seen-"):
            path.unlink()
    monkeypatch.setattr(training, "train", lambda *arguments: pytest.fail("trained again"))
    again = training.trained_words(captions, settings)
    assert again.words == seen.words
    assert np.array_equal(again.matrix, seen.matrix)
