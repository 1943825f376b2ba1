import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundling.corpus import Corpus
from groundling.corpus.conditions import add, disjoint, half, one_caption
from groundling.errors import UserError


def make(pictures: int, captions: int = 3, languages: tuple[str, ...] = ("en", "de"), order: int = 0) -> Corpus:
    """Every picture has the same number of captions in each language; `order` shuffles the pictures."""
    names = [f"p{number}" for number in np.random.default_rng(order).permutation(pictures).tolist()]
    splits = np.array(["test" if name.endswith("9") else "dev" if name.endswith("8") else "train" for name in names])
    rows = [(at, code, n) for at in range(pictures) for code in languages for n in range(captions)]
    return Corpus(
        name="made",
        pictures=np.array(names),
        splits=splits,
        owners=np.array([at for at, _, _ in rows]),
        languages=np.array([code for _, code, _ in rows]),
        texts=[f"{names[at]} {code} {n}" for at, code, n in rows],
        origins=np.array(["human"] * len(rows)),
    )


def texts(corpus: Corpus, split: str) -> set[str]:
    return set(corpus.split(split).texts)


def pictures_of(corpus: Corpus, language: str, split: str = "train") -> set[str]:
    part = corpus.split(split)
    return set(part.pictures[part.owners[part.languages == language]].tolist())


@given(st.integers(10, 60), st.integers(0, 3), st.integers(0, 3))
def test_dev_and_test_are_never_touched_and_order_does_not_matter(pictures: int, seed: int, order: int) -> None:
    corpus, shuffled = make(pictures), make(pictures, order=order)
    for changed, other in (
        (one_caption(corpus, seed), one_caption(shuffled, seed)),
        (half(corpus, seed), half(shuffled, seed)),
        (disjoint(corpus, ["en", "de"], seed), disjoint(shuffled, ["en", "de"], seed)),
    ):
        for split in ("dev", "test"):
            assert texts(changed, split) == texts(corpus, split)
        assert texts(changed, "train") == texts(other, "train")
        assert texts(changed, "train") <= texts(corpus, "train")


def test_one_caption_of_each_picture_and_language_the_same_wherever_it_is_drawn() -> None:
    corpus = make(50)
    drawn = one_caption(corpus, 7)
    train = drawn.split("train")
    assert len(train) == 2 * len(train.pictures)
    assert len(set(zip(train.owners.tolist(), train.languages.tolist(), strict=True))) == len(train)
    alone = one_caption(corpus.only(["de"]), 7)
    assert texts(alone, "train") == {text for text in texts(drawn, "train") if " de " in text}
    numbers = [int(text.split()[-1]) for text in train.texts]
    assert min(np.bincount(numbers)) > 10  # not always the first
    assert texts(one_caption(corpus, 8), "train") != texts(drawn, "train")


def test_halves_overlap_fully_and_parts_not_at_all() -> None:
    corpus = make(100)
    train = set(corpus.split("train").pictures.tolist())
    both = half(corpus, 3)
    assert pictures_of(both, "en") == pictures_of(both, "de")
    assert len(pictures_of(both, "en")) == len(train) // 2 == 40
    apart = disjoint(corpus, ["en", "de"], 3)
    assert not pictures_of(apart, "en") & pictures_of(apart, "de")
    assert pictures_of(apart, "en") | pictures_of(apart, "de") == train
    assert pictures_of(apart, "en") == pictures_of(both, "en")
    assert pictures_of(half(corpus, 4), "en") != pictures_of(both, "en")


def test_disjoint_needs_two_languages() -> None:
    with pytest.raises(UserError, match="at least two languages"):
        disjoint(make(20), ["en"], 0)


def test_captions_are_added_by_picture_name() -> None:
    first, second = make(30, captions=1, languages=("fr",)), make(40, captions=2, languages=("en",), order=5)
    both = add(first, second)
    assert len(both.pictures) == 40
    assert len(both) == 30 + 80
    for row, text in enumerate(both.texts):
        assert text.split()[0] == both.pictures[both.owners[row]]
    assert both.counts()["train"] == {"pictures": 32, "en": 64, "fr": 24}


def test_a_picture_in_two_splits_is_named() -> None:
    first = make(10)
    second = first.keep_pictures(first.pictures == "p9")
    moved = Corpus(**{**second.__dict__, "splits": np.array(["train"]), "name": "other"})
    with pytest.raises(UserError, match='"p9" is in test of made but in train of other'):
        add(first, moved)
