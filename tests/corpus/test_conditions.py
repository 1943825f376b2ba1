"""Conditions of training data: what is kept, what is drawn, what comes from elsewhere."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.corpus import Corpus, conditions
from groundling.corpus.conditions import add, captions_from, disjoint, half, one_caption
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
@settings(deadline=None)
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


@given(st.integers(10, 60), st.integers(2, 4), st.integers(1, 3), st.integers(0, 5))
@settings(deadline=None)
def test_half_overlaps_by_100_percent_and_disjoint_by_0(
    pictures: int, languages: int, captions: int, seed: int
) -> None:
    """Whatever the number of languages: in every one the same half, or to each a part that is nobody else's."""
    codes = ("en", "de", "fr", "cs")[:languages]
    corpus = make(pictures, captions, codes)
    train = set(corpus.split("train").pictures.tolist())
    same = half(corpus, seed)
    kept = {code: pictures_of(same, code) for code in codes}
    assert all(found == kept["en"] for found in kept.values())
    assert len(kept["en"]) == (len(train) + 1) // 2
    assert len(same.split("train")) == len(kept["en"]) * languages * captions  # with all their captions
    apart = disjoint(corpus, codes, seed)
    parts = [pictures_of(apart, code) for code in codes]
    assert sum(map(len, parts)) == len(set().union(*parts)) == len(train)  # nobody's twice, nobody left out
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert len(apart.split("train")) == len(train) * captions
    assert set(apart.split("train").pictures.tolist()) == train


def test_one_language_and_two_train_on_the_same_half() -> None:
    """Half Monolingual and Bi-overlap differ in the second language alone."""
    corpus = make(70)
    for code in ("en", "de"):
        assert pictures_of(half(corpus.only([code]), 5), code) == pictures_of(half(corpus, 5), code)


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


# --- captions from other corpora


def small(name: str, *captions: str) -> Corpus:
    """Captions "p0 en some text"; the split of a picture is in its number: 0 and 1 train, 2 dev, 3 and above test."""
    rows = [caption.split(maxsplit=2) for caption in captions]
    pictures = list(dict.fromkeys(picture for picture, _, _ in rows))
    return Corpus(
        name=name,
        pictures=np.array(pictures),
        splits=np.array([("train", "train", "dev")[int(p[1:])] if int(p[1:]) < 3 else "test" for p in pictures]),
        owners=np.array([pictures.index(picture) for picture, _, _ in rows]),
        languages=np.array([language for _, language, _ in rows]),
        texts=[text for _, _, text in rows],
        origins=np.array(["human"] * len(rows)),
    )


def told(corpus: Corpus) -> list[str]:
    """The captions, in order, as `small` takes them."""
    rows = zip(corpus.pictures[corpus.owners].tolist(), corpus.languages.tolist(), corpus.texts, strict=True)
    return [" ".join(row) for row in rows]


TRANSLATED = small("translated", "p0 en a", "p0 fr a'", "p2 en b", "p2 fr b'", "p3 en c", "p3 fr c'")
WRITTEN = small("written", "p3 en C", "p2 en B", "p0 en A", "p0 en AA", "p0 de Ä", "p1 en D", "p3 de Ö")


def test_captions_of_one_language_come_from_elsewhere() -> None:
    """In all splits; other languages stay; a picture that only the source has joins, one that it lacks stays."""
    changed = captions_from(TRANSLATED, "en", [WRITTEN])
    assert told(changed) == ["p0 fr a'", "p2 fr b'", "p3 fr c'", "p3 en C", "p2 en B", "p0 en A", "p0 en AA", "p1 en D"]
    assert changed.pictures.tolist() == ["p0", "p2", "p3", "p1"]
    assert changed.splits.tolist() == ["train", "dev", "test", "train"]
    assert changed.name == "translated+written"
    assert told(TRANSLATED)[0] == "p0 en a"  # the old one is left alone


def test_captions_from_both_and_in_a_language_of_its_own() -> None:
    both = captions_from(TRANSLATED, "en", [TRANSLATED, WRITTEN])
    assert [caption for caption in told(both) if caption.startswith("p0 en")] == ["p0 en a", "p0 en A", "p0 en AA"]
    german = captions_from(TRANSLATED, "de", [WRITTEN])
    assert set(told(german)) == {*told(TRANSLATED), "p0 de Ä", "p3 de Ö"}


def test_a_source_without_the_language_is_named() -> None:
    with pytest.raises(UserError, match='corpus written has no captions in "fr"'):
        captions_from(TRANSLATED, "fr", [WRITTEN])


def test_sources_whose_splits_disagree_are_an_error() -> None:
    moved = replace(WRITTEN, splits=np.where(WRITTEN.pictures == "p3", "train", WRITTEN.splits))
    with pytest.raises(UserError, match='"p3" is in test of translated but in train of written'):
        captions_from(TRANSLATED, "en", [moved])
    leaked = replace(WRITTEN, splits=np.where(WRITTEN.pictures == "p0", "test", WRITTEN.splits))
    with pytest.raises(UserError, match='"p0" is in train of translated but in test of written'):
        conditions.tested_on(TRANSLATED, leaked)


@given(st.integers(10, 40), st.integers(1, 5), st.integers(0, 5), st.integers(0, 5))
@settings(deadline=None)
def test_the_one_caption_is_that_of_the_source_itself(pictures: int, captions: int, seed: int, order: int) -> None:
    """Tables 4 and 6 and Figure 3 of Kádár et al. draw from the same captions: they must draw the same ones."""
    source = make(pictures, captions, order=order)
    translations = make(pictures, 1, ("en", "de", "fr", "cs"))
    here = captions_from(captions_from(translations, "en", [source]), "de", [source])
    drawn, alone = one_caption(here, seed), one_caption(source, seed)
    for code in ("en", "de"):
        assert texts(drawn.only([code]), "train") == texts(alone.only([code]), "train")
        assert texts(one_caption(here.only([code]), seed), "train") == texts(alone.only([code]), "train")
        for split in ("dev", "test"):  # nothing is drawn there
            assert texts(drawn.only([code]), split) == texts(source.only([code]), split)
    for code in ("fr", "cs"):
        for split in ("train", "dev", "test"):
            assert texts(drawn.only([code]), split) == texts(translations.only([code]), split)


def test_tests_from_another_corpus_in_the_languages_that_both_have() -> None:
    changed = conditions.tested_on(TRANSLATED, WRITTEN)
    assert told(changed) == ["p0 en a", "p0 fr a'", "p2 en b", "p2 fr b'", "p3 fr c'", "p3 en C"]
    assert changed.pictures.tolist() == ["p0", "p2", "p3"]  # p1 is trained on there, which is nothing to test here
    back = conditions.tested_on(WRITTEN, TRANSLATED)
    assert sorted(told(back.split("test"))) == ["p3 de Ö", "p3 en c"]  # German has no other test
    assert told(back.split("train")) == told(WRITTEN.split("train"))


def test_a_test_picture_of_the_other_corpus_alone_is_asked_for_too() -> None:
    wider = small("wider", "p3 en C", "p4 en E", "p4 es F")
    test = conditions.tested_on(TRANSLATED, wider).split("test")
    assert sorted(told(test)) == ["p3 en C", "p3 fr c'", "p4 en E"]
    assert test.pictures.tolist() == ["p3", "p4"]


@given(st.integers(10, 40), st.integers(0, 3))
@settings(deadline=None)
def test_a_corpus_tested_on_itself_is_the_same_and_training_is_never_touched(pictures: int, order: int) -> None:
    corpus, other = make(pictures, 2, ("en", "fr")), make(pictures, 5, ("en", "de"), order=order)
    for split in ("train", "dev", "test"):
        assert sorted(conditions.tested_on(corpus, corpus).split(split).texts) == sorted(corpus.split(split).texts)
    changed = conditions.tested_on(corpus, other)
    for split in ("train", "dev"):
        assert changed.split(split).texts == corpus.split(split).texts
    assert texts(changed.only(["en"]), "test") == texts(other.only(["en"]), "test")
    assert texts(changed.only(["fr"]), "test") == texts(corpus.only(["fr"]), "test")
    assert set(changed.all_languages()) == {"en", "fr"}


def test_captions_from_one_corpus_and_tests_from_another() -> None:
    """Table 6: trained on comparable captions, tested on the translations."""
    changed = conditions.tested_on(captions_from(TRANSLATED, "en", [WRITTEN]), TRANSLATED)
    assert sorted(told(changed.split("test"))) == ["p3 en c", "p3 fr c'"]
    assert sorted(told(changed.split("dev"))) == ["p2 en B", "p2 fr b'"]
    assert "p0 en AA" in told(changed.split("train"))
    assert changed.name == "translated+written"


def test_a_test_corpus_without_a_language_in_common_is_an_error() -> None:
    with pytest.raises(UserError, match="spanish"):
        conditions.tested_on(TRANSLATED, small("spanish", "p3 es C"))
