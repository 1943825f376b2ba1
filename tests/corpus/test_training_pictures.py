"""So many training pictures: nested, drawn by name, and nothing else touched."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import make_world
from groundling.corpus import Corpus
from groundling.corpus.conditions import some_pictures
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.settings import CorpusSettings

WORLD = make_world()


def training(corpus: Corpus) -> set[str]:
    return set(corpus.pictures[corpus.splits == "train"].tolist())


@given(st.integers(1, 100), st.integers(1, 100), st.integers(0, 5))
def test_fewer_are_among_more(one: int, other: int, seed: int) -> None:
    few, many = (some_pictures(WORLD.corpus, number, seed) for number in sorted((one, other)))
    assert training(few) <= training(many)
    assert (len(training(few)), len(training(many))) == (min(one, other), max(one, other))


def test_captions_stay_with_their_pictures_and_other_splits_stay_whole() -> None:
    chosen = some_pictures(WORLD.corpus, 7, seed=0)
    expected = [
        (str(WORLD.corpus.pictures[owner]), language, text)
        for owner, language, text in zip(
            WORLD.corpus.owners, WORLD.corpus.languages.tolist(), WORLD.corpus.texts, strict=True
        )
        if WORLD.corpus.splits[owner] != "train" or WORLD.corpus.pictures[owner] in training(chosen)
    ]
    found = [
        (str(chosen.pictures[owner]), language, text)
        for owner, language, text in zip(chosen.owners, chosen.languages.tolist(), chosen.texts, strict=True)
    ]
    assert found == expected
    assert [int((chosen.splits == name).sum()) for name in ("train", "dev", "test")] == [7, 25, 25]


def test_the_draw_depends_on_names_and_seed_and_not_on_the_order_of_rows() -> None:
    order = np.random.default_rng(0).permutation(len(WORLD.corpus.pictures))
    shuffled = Corpus(
        name="shuffled",
        pictures=WORLD.corpus.pictures[order],
        splits=WORLD.corpus.splits[order],
        owners=np.argsort(order)[WORLD.corpus.owners],
        languages=WORLD.corpus.languages,
        texts=WORLD.corpus.texts,
        origins=WORLD.corpus.origins,
    )
    assert training(some_pictures(shuffled, 20, 3)) == training(some_pictures(WORLD.corpus, 20, 3))
    assert training(some_pictures(WORLD.corpus, 20, 4)) != training(some_pictures(WORLD.corpus, 20, 3))


def test_pictures_without_captions_do_not_count() -> None:
    """In a language that has captions for some of the pictures, examples are those."""
    first = WORLD.corpus.owners >= 10
    told = WORLD.corpus.keep_captions(first)
    assert not training(some_pictures(told, 90, 0)) & {f"picture-{number}" for number in range(10)}
    with pytest.raises(UserError, match="has 90 training pictures, and not 91"):
        some_pictures(told, 91, 0)


def test_as_a_setting_features_follow_and_the_whole_text_is_still_known() -> None:
    chosen = WORLD.under(CorpusSettings(name="world", languages=["de"], training_pictures=5))
    rows = [WORLD.corpus.pictures.tolist().index(name) for name in chosen.corpus.pictures]
    assert np.array_equal(chosen.features, WORLD.features[rows])
    assert len(chosen.split("train").corpus) == 10  # two captions each, in one language
    assert chosen.whole is WORLD.corpus
    again = chosen.under(CorpusSettings(name="world", training_pictures=2))
    assert isinstance(again, Dataset)
    assert again.whole is WORLD.corpus
    assert training(again.corpus) < training(chosen.corpus)
