"""Captions that are nearly the same, found by hashing: as many as comparing all pairs finds."""

import random
from dataclasses import replace

import numpy as np
import pytest

from groundling.corpus import Corpus
from groundling.corpus.caption_keys import CaptionKeys, normalised
from groundling.corpus.near_captions import NEAR, jaccard, near_captions, signatures_of

WORDS = [
    "dog",
    "cat",
    "tree",
    "car",
    "house",
    "boat",
    "sun",
    "fish",
    "bird",
    "horse",
    "狗在草地上",
    "跑过雪地",
    "собака",
    "бежит",
    "по",
    "пляжу",
]


def talk(pictures: int, seed: int) -> Corpus:
    """Captions of nine words; some of dev and test are one of train with a letter or a word changed."""
    draw = random.Random(seed)
    texts = [" ".join(draw.choices(WORDS, k=9)) for _ in range(pictures)]
    for row in range(pictures // 4):
        said = texts[draw.randrange(pictures // 2, pictures)]
        at = draw.randrange(len(said))
        texts[row] = draw.choice(
            [said + " here", said[:at] + "x" + said[at + 1 :], said.upper(), " ".join(said.split()[:5])]
        )
    return Corpus(
        name="talk",
        pictures=np.array([f"p{row}" for row in range(pictures)]),
        splits=np.array(["test" if row % 2 else "dev" for row in range(pictures // 2)] + ["train"] * (pictures // 2)),
        owners=np.arange(pictures),
        languages=np.array([draw.choice(["en", "ru"]) for _ in range(pictures)]),
        texts=texts,
        origins=np.array(["human"] * pictures),
    )


def all_pairs(corpus: Corpus) -> set[int]:
    """The slow way: every caption of dev and test beside every one of train."""
    said = [normalised(text) for text in corpus.texts]
    train = [row for row in range(len(corpus)) if corpus.splits[row] == "train"]
    return {
        row
        for row in range(len(corpus))
        if corpus.splits[row] != "train"
        and any(
            corpus.languages[row] == corpus.languages[other] and jaccard(said[row], said[other]) >= NEAR
            for other in train
        )
    }


@pytest.mark.parametrize("seed", range(3))
def test_hashing_finds_what_all_pairs_find(seed: int) -> None:
    corpus = talk(240, seed)
    found = near_captions(corpus, CaptionKeys.of(corpus), np.ones(len(corpus), dtype=bool))
    assert {pair.row for pair in found} == all_pairs(corpus)
    assert len(found) > 10
    for pair in found:
        one, other = (normalised(corpus.texts[row]) for row in (pair.row, pair.train))
        assert pair.similarity == jaccard(one, other) >= NEAR
        assert corpus.splits[pair.train] == "train" and corpus.languages[pair.row] == corpus.languages[pair.train]


def test_many_captions_that_are_all_alike() -> None:
    """Their draws are the same, and so are all their bands."""
    corpus = talk(240, 3)
    said = "a dog in the snow beside a house"
    alike = [said + " x" * (row % 3 + 1) for row in range(100)]
    texts = [*alike, *corpus.texts[100:-1], said]
    one = replace(corpus, texts=texts, languages=np.array(["en"] * 240))
    found = near_captions(one, CaptionKeys.of(one), np.ones(240, dtype=bool))
    assert {pair.row for pair in found} == all_pairs(one) and {*range(100)} <= {pair.row for pair in found}


def test_only_captions_that_are_asked_about_are_looked_at() -> None:
    corpus = talk(240, 0)
    keys = CaptionKeys.of(corpus)
    row = near_captions(corpus, keys, np.ones(len(corpus), dtype=bool))[0].row
    asked = np.arange(len(corpus)) == row
    assert [pair.row for pair in near_captions(corpus, keys, asked)] == [row]
    assert near_captions(corpus, keys, ~np.ones(len(corpus), dtype=bool)) == []
    silent = replace(corpus, texts=["..."] * len(corpus))
    assert near_captions(silent, CaptionKeys.of(silent), asked) == []


def test_jaccard_by_hand() -> None:
    # " ab" "ab " beside " ab" "abc" "bc ": one of four.
    assert jaccard("ab", "abc") == 1 / 4
    assert jaccard("ab", "ab") == 1.0


def test_draws_agree_as_often_as_trigrams_are_shared() -> None:
    draw = random.Random(1)
    words = ["".join(draw.choices("abcdefghijklmnop", k=7)) for _ in range(400)]
    one, other = " ".join(words[:300]), " ".join(words[100:])
    signatures = np.concatenate([signatures_of([one, other])])
    assert abs((signatures[0] == signatures[1]).mean() - jaccard(one, other)) < 0.2  # 48 draws: a deviation of 0.07
    assert (signatures_of(["a"]) == signatures_of(["bb", "a"])[1]).all()  # a text's draws are its own
