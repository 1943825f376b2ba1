"""What a corpus says of itself, and in words what leaks."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from pets import corpus

from groundling.corpus.inspect import describe, summary
from groundling.corpus.leaks import leaks


def test_describe_by_hand() -> None:
    got = json.loads(json.dumps(asdict(describe(corpus()))))
    assert (got["pictures"], got["captions"]) == (4, 8)
    assert got["splits"]["train"] == {"pictures": 2, "en": 4, "de": 1}
    assert got["per_picture"] == {"min": 1, "median": 2.0, "max": 3}
    assert got["origins"] == {"human": 5 / 8, "machine": 1 / 8, "translation": 2 / 8}
    assert got["languages"]["de"] == {
        "captions": 2,
        "per_picture": {"min": 0, "median": 0.5, "max": 1},
        "characters": {"median": 7.5, "longest": 9},
        "origins": {"translation": 1.0},
        "duplicates": {"same_picture": 0, "other_pictures": 0},
    }
    # "a DOG" repeats "A dog." of the same picture; "A dog!" and the wide "Ａ longer caption" repeat another picture's.
    assert got["languages"]["en"]["duplicates"] == {"same_picture": 1, "other_pictures": 2}


def test_the_summary_says_the_same_in_words() -> None:
    one = corpus()
    lines = summary(describe(one), leaks(one, np.array([[1, 0], [0, 1], [0, 1], [1, 1]])))
    assert lines[0] == "4 pictures, 8 captions (1 to 3, median 2, per picture)"
    assert lines[2] == (
        "de: 0 to 1, median 0.5, per picture, 7.5 characters (longest 9), 100% translation, "
        "said again of the same picture 0, of another 0"
    )
    assert lines[3:] == [
        'test: 1 of 1 en captions are also in train (1 of them generic), such as "Ａ  longer “caption”"',
        "Generic: at most 5 words (characters, where a script has no spaces), or said of several pictures in train",
        "Picture files were not compared: the corpus has none",
        "dev: none of 1 pictures looks the same as one of 2 in train by its features; the nearest, cosine 0.707, are "
        "d and a",
        "test: 1 of 1 pictures look the same as one of 2 in train (cosine of features at least 0.999; 1 have the very "
        "same features):",
        "  1.000000  c and b",
    ]


def test_the_summary_says_what_was_not_compared(tmp_path: Path) -> None:
    clean = corpus(root=tmp_path).split("train")
    assert summary(describe(clean), leaks(clean))[-3:] == [
        "2 picture files are not there and were not compared",
        "Picture features were not compared: give --features FOLDER, where `groundling features CORPUS --out FOLDER` "
        "has written them",
        "Nothing of dev or test was found in train by what was compared",
    ]
    one = corpus()
    features, rows = np.array([[0.0, 0.0], [1, 0]]), np.array([1, 0, 1, -1])
    lines = summary(describe(one), leaks(one, features, rows))
    assert lines[-3:] == [
        "  1.000000  c and a",
        "1 pictures have no features and were not compared, such as d",
        "1 pictures have features that are zero or broken and were not compared, such as b",
    ]


def test_a_long_list_of_pairs_is_cut_for_people() -> None:
    one = corpus("train test test test")
    many = leaks(one, np.ones((4, 2)))
    found = many.pictures_by_feature
    assert found is not None
    longer = replace(found.splits["test"], count=15, pairs=found.splits["test"].pairs * 5)
    many = replace(many, pictures_by_feature=replace(found, splits={**found.splits, "test": longer}))
    assert summary(describe(one), many)[-1] == "  … and 5 more, all in --json"


def test_an_empty_corpus_can_be_described() -> None:
    empty = corpus().keep_pictures(np.zeros(4, dtype=bool))
    got = describe(empty)
    assert (got.pictures, got.captions, got.languages) == (0, 0, {})
    assert summary(got) == ["0 pictures, 0 captions (0 per picture)"]
    assert not leaks(empty, np.zeros((0, 3))).any()
