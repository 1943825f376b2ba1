"""What a corpus says of itself, and the leaks it confesses."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.corpus import Corpus, inspect
from groundling.corpus.inspect import describe, leaks, normalised, summary

CAPTIONS = [  # picture, language, text, origin
    ("a", "en", "A dog.", "human"),
    ("a", "en", "a DOG", "human"),
    ("a", "de", "Ein Hund.", "translation"),
    ("b", "en", "A dog!", "human"),
    ("b", "en", "A longer caption", "machine"),
    ("c", "en", "Ａ  longer “caption”", "human"),
    ("c", "de", "A dog.", "translation"),
    ("d", "en", "...", "human"),
]


def corpus(splits: str = "train train test dev", root: Path | None = None) -> Corpus:
    names = ["a", "b", "c", "d"]
    return Corpus(
        name="pets",
        pictures=np.array(names),
        splits=np.array(splits.split()),
        owners=np.array([names.index(row[0]) for row in CAPTIONS]),
        languages=np.array([row[1] for row in CAPTIONS]),
        texts=[row[2] for row in CAPTIONS],
        origins=np.array([row[3] for row in CAPTIONS]),
        root=root,
    )


def test_describe_by_hand() -> None:
    got = json.loads(json.dumps(describe(corpus())))
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
    lines = summary({**describe(one), "leaks": leaks(one, np.array([[1, 0], [0, 1], [0, 1], [1, 1]]))})
    assert lines[0] == "4 pictures, 8 captions (1 to 3, median 2, per picture)"
    assert lines[2] == (
        "de: 0 to 1, median 0.5, per picture, 7.5 characters (longest 9), 100% translation, "
        "said again of the same picture 0, of another 0"
    )
    assert lines[3:] == [
        'test: 1 en captions are also in train, such as "Ａ  longer “caption”"',
        "test: 1 pictures (same features) are also in train, such as c and b",
    ]
    clean = one.split("train")
    assert summary({**describe(clean), "leaks": leaks(clean)})[-1] == "Nothing of dev or test was found in train"


def test_an_empty_corpus_can_be_described() -> None:
    empty = corpus().keep_pictures(np.zeros(4, dtype=bool))
    got = describe(empty)
    assert (got["pictures"], got["captions"], got["languages"]) == (0, 0, {})
    assert summary(got) == ["0 pictures, 0 captions (0 per picture)"]
    assert leaks(empty, np.zeros((0, 3)))["pictures_by_feature"]["test"]["count"] == 0


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("A dog, running.", "a dog running", True),
        ("Straße", "STRASSE", True),
        ("ｆｕｌｌ　width", "full width", True),
        ("one\n two", "one two", True),
        ("«Un chien»", "un chien", True),
        ("狗。", "狗", True),
        ("a dog", "a dogs", False),
        ("e\u0301te", "\u00e9te", True),
        ("ete", "\u00e9te", False),
    ],
)
def test_what_counts_as_the_same_caption(one: str, other: str, same: bool) -> None:
    assert (normalised(one) == normalised(other)) == same


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


def test_captions_that_leak_are_counted_per_language() -> None:
    found = leaks(corpus())["captions"]
    assert found["en"]["test"] == {"count": 1, "examples": ["Ａ  longer “caption”"]}
    assert found["de"]["test"]["count"] == 0  # "A dog." is in train, but as English
    assert found["en"]["dev"]["count"] == 0  # nothing but punctuation says nothing
    assert leaks(corpus("test train train train"))["captions"]["en"]["test"] == {
        "count": 2,
        "examples": ["A dog.", "a DOG"],
    }


def test_no_more_than_five_examples() -> None:
    one = corpus("train test test test")
    many = replace(one, texts=["same"] * 8, languages=np.array(["en"] * 8))
    found = leaks(many)["captions"]["en"]["test"]
    assert (found["count"], len(found["examples"])) == (5, 5)
    longer = replace(many, owners=np.array([0, 1, 1, 1, 1, 1, 1, 1]))
    found = leaks(longer)["captions"]["en"]["test"]
    assert (found["count"], len(found["examples"])) == (7, 5)


def test_pictures_with_the_same_bytes_are_found(tmp_path: Path) -> None:
    for name, content in {"a": b"one", "b": b"two", "c": b"two", "d": b"six"}.items():
        (tmp_path / name).write_bytes(content)
    found = leaks(corpus(root=tmp_path))["pictures_by_content"]
    assert found["test"] == {"count": 1, "examples": [["c", "b"]]}
    assert found["dev"]["count"] == 0  # the same size is not the same picture
    assert found["missing_files"] == 0
    (tmp_path / "c").unlink()
    found = leaks(corpus(root=tmp_path))["pictures_by_content"]
    assert (found["test"]["count"], found["missing_files"]) == (0, 1)


def test_without_files_or_features_nothing_is_claimed() -> None:
    found = leaks(corpus())
    assert found["pictures_by_content"] is None
    assert found["pictures_by_feature"] is None


def test_pictures_with_the_same_features_are_found() -> None:
    features = np.array([[1, 0, 0], [0, 2, 0], [0, 1, 0.01], [0, 0, 0]], dtype=np.float16)
    found = leaks(corpus(), features)["pictures_by_feature"]
    assert found == {"dev": {"count": 0, "examples": []}, "test": {"count": 1, "examples": [["c", "b"]]}}
    with pytest.raises(ValueError, match="3 rows of features for 4 pictures"):
        leaks(corpus(), features[:3])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_blocks_find_what_one_by_one_finds(seed: int) -> None:
    """Vectors with few possible directions, so that twins are common; some rows are zero or broken."""
    random = np.random.default_rng(seed)
    count = 23
    features = random.integers(-1, 2, (count, 2)) * random.uniform(0.5, 2, (count, 1))
    features[random.integers(count)] = np.nan
    splits = random.choice(["train", "dev", "test"], count)
    names = [f"p{i}" for i in range(count)]
    nothing = np.array([], dtype=np.str_)
    drawn = Corpus("drawn", np.array(names), splits, np.array([], dtype=np.int64), nothing, [], nothing)

    def twins(row: int, other: int) -> bool:
        one, two = features[row], features[other]
        length = np.linalg.norm(one) * np.linalg.norm(two)
        return bool(length > 0 and one @ two / length >= 0.999)

    before, inspect._BLOCK = inspect._BLOCK, 4
    try:
        found = leaks(drawn, features)["pictures_by_feature"]
    finally:
        inspect._BLOCK = before
    train = [row for row in range(count) if splits[row] == "train"]
    for split in ("dev", "test"):
        leaking = [row for row in range(count) if splits[row] == split and any(twins(row, x) for x in train)]
        assert found[split]["count"] == len(leaking)
        assert [pair[0] for pair in found[split]["examples"]] == [names[row] for row in leaking[:5]]
        assert all(twins(names.index(one), names.index(two)) for one, two in found[split]["examples"])
