"""Captions and picture files of dev and test that are also in train."""

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pets import corpus

from groundling.corpus import Corpus
from groundling.corpus.caption_keys import _normalised, normalised
from groundling.corpus.info import CorpusInfo
from groundling.corpus.inspect import Duplicates, describe
from groundling.corpus.leaks import _WORD, SHORT, PairLeaks, leaks


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
        ("``A dog´s bone''", "a dog's bone", True),
        ("a man 's dog .", "A man's dog", True),
        ("\u200fكَلْبٌ أسود", "كلب أسود", True),
        ("كـــلب", "كلب", True),
        ("\ufeffa dog\u00ad", "a dog", True),
        ("ＡＢＣ①", "abc1", True),
        ("3 dogs", "4 dogs", False),
        ("❤", "☀", False),
        ("a \uff40dog\uff40", "a dog", True),
        ("ete", "\u00e9te", False),
    ],
)
def test_what_counts_as_the_same_caption(one: str, other: str, same: bool) -> None:
    assert (normalised(one) == normalised(other)) == same


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    assert normalised(normalised(text)) == normalised(text)


def test_captions_that_leak_are_counted_per_language() -> None:
    found = leaks(corpus()).to_json()["captions"]
    assert found["en"]["test"] == {"count": 1, "of": 1, "generic": 1, "examples": ["Ａ  longer “caption”"]}
    assert found["de"]["test"]["count"] == 0  # "A dog." is in train, but as English
    assert found["en"]["dev"]["count"] == 0  # nothing but punctuation says nothing
    assert leaks(corpus("test train train train")).to_json()["captions"]["en"]["test"] == {
        "count": 2,
        "of": 2,
        "generic": 2,
        "examples": ["A dog.", "a DOG"],
    }


def test_no_more_than_five_examples() -> None:
    one = corpus("train test test test")
    many = replace(one, texts=["same"] * 8, languages=np.array(["en"] * 8))
    found = leaks(many).to_json()["captions"]["en"]["test"]
    assert (found["count"], len(found["examples"])) == (5, 5)
    longer = replace(many, owners=np.array([0, 1, 1, 1, 1, 1, 1, 1]))
    found = leaks(longer).to_json()["captions"]["en"]["test"]
    assert (found["count"], len(found["examples"])) == (7, 5)


def test_pictures_with_the_same_bytes_are_found(tmp_path: Path) -> None:
    for name, content in {"a": b"one", "b": b"two", "c": b"two", "d": b"six"}.items():
        (tmp_path / name).write_bytes(content)
    found = leaks(corpus(root=tmp_path)).to_json()["pictures_by_content"]
    assert found["test"] == {"count": 1, "examples": [["c", "b"]]}
    assert found["dev"]["count"] == 0  # the same size is not the same picture
    assert found["missing_files"] == 0
    (tmp_path / "c").unlink()
    found = leaks(corpus(root=tmp_path)).to_json()["pictures_by_content"]
    assert (found["test"]["count"], found["missing_files"]) == (0, 1)


def spoken(train: list[list[str]], test: list[str], language: str = "en") -> Corpus:
    """Training pictures with their captions, and one test picture with its."""
    texts = [*(text for captions in train for text in captions), *test]
    owners = [row for row, captions in enumerate(train) for _ in captions] + [len(train)] * len(test)
    return Corpus(
        name="spoken",
        pictures=np.array([f"p{row}" for row in range(len(train) + 1)]),
        splits=np.array(["train"] * len(train) + ["test"]),
        owners=np.array(owners),
        languages=np.array([language] * len(texts)),
        texts=texts,
        origins=np.array(["human"] * len(texts)),
    )


def test_generic_captions_are_counted_apart() -> None:
    """Short, or said of several pictures; said twice of one picture is not several."""
    once = "Two brown dogs run over wet sand."
    often = "A man in a blue shirt walks."
    found = leaks(
        spoken([[often, "A dog!", once.upper()], [often], ["Another."]], ["a dog", often, once, "New."])
    ).to_json()["captions"]["en"]["test"]
    assert found == {"count": 3, "of": 4, "generic": 2, "examples": [once, often, "a dog"]}
    twice = leaks(spoken([[once, once]], [once])).to_json()["captions"]["en"]["test"]
    assert (twice["count"], twice["generic"]) == (1, 0)
    several = leaks(spoken([[once], [once]], [once])).to_json()["captions"]["en"]["test"]
    assert (several["count"], several["generic"]) == (1, 1)


@pytest.mark.parametrize(
    ("text", "generic"),
    [
        ("a dog in the snow", 1),
        ("a dog in the white snow", 0),
        ("雪中的狗。", 1),
        ("一只狗在雪中", 0),
        ("赤い car で 走る", 0),
    ],
)
def test_what_is_short(text: str, generic: int) -> None:
    assert leaks(spoken([[text]], [text])).to_json()["captions"]["en"]["test"]["generic"] == generic


def test_without_files_or_features_nothing_is_claimed() -> None:
    found = leaks(corpus())
    assert found.pictures_by_content is None
    assert found.pictures_by_feature is None


@given(st.text(st.characters(max_codepoint=127)))
def test_the_short_way_for_ascii_is_the_long_one(text: str) -> None:
    assert normalised(text) == _normalised(text)


def pair_by_pair(one: Corpus) -> dict[str, dict[str, dict[str, object]]]:
    """The check as it was before captions were hashed: texts in sets."""
    keys, asked = [normalised(text) for text in one.texts], one.is_query()
    found: dict[str, dict[str, dict[str, object]]] = {}
    for language in one.all_languages():
        rows = [row for row in range(len(one)) if one.languages[row] == language]
        train: dict[str, set[int]] = {}
        for row in rows:
            if one.splits[one.owners[row]] == "train" and keys[row]:
                train.setdefault(keys[row], set()).add(int(one.owners[row]))
        found[language] = {}
        for split in ("dev", "test"):
            here = [row for row in rows if one.splits[one.owners[row]] == split and asked[row]]
            leaked = [row for row in here if keys[row] in train]
            words = {row: len(_WORD.findall(keys[row])) for row in leaked}
            generic = {row for row in leaked if words[row] <= SHORT or len(train[keys[row]]) > 1}
            worst = sorted(leaked, key=lambda row: (row in generic, -words[row]))
            counts = {"count": len(leaked), "of": len(here), "generic": len(generic)}
            found[language][split] = {**counts, "examples": [one.texts[row] for row in worst[:5]]}
    return found


@pytest.mark.parametrize("seed", range(20))
def test_hashing_finds_what_comparing_texts_finds(seed: int) -> None:
    draw = random.Random(seed)
    says = [
        "A dog.",
        "a DOG",
        "...",
        "狗。",
        "狗",
        "Two brown dogs run over wet sand.",
        "two brown dogs run over wet sand!",
    ]
    count, pictures = draw.randrange(1, 60), draw.randrange(1, 12)
    one = Corpus(
        name="drawn",
        pictures=np.array([f"p{row}" for row in range(pictures)]),
        splits=np.array([draw.choice(["train", "dev", "test"]) for _ in range(pictures)]),
        owners=np.array([draw.randrange(pictures) for _ in range(count)]),
        languages=np.array([draw.choice(["en", "de"]) for _ in range(count)]),
        texts=[draw.choice(says) for _ in range(count)],
        origins=np.array(["human"] * count),
        info=CorpusInfo(queries=draw.choice(["first", "all"])),
    )
    assert leaks(one).to_json()["captions"] == pair_by_pair(one)
    for language, table in describe(one).languages.items():
        rows = [row for row in range(count) if one.languages[row] == language]
        pairs = {(int(one.owners[row]), normalised(one.texts[row])) for row in rows}
        said = Counter(key for _, key in pairs)
        assert table.duplicates == Duplicates(len(rows) - len(pairs), len(pairs) - len(said))


def test_captions_nearly_in_train_are_counted_apart() -> None:
    train = "Two brown dogs run over the wet sand of a long beach."
    found = leaks(spoken([[train]], [train, "Two brown dogs run over the wet sand of a long beach again.", "A cat."]))
    assert found.captions["en"]["test"].count == 1
    nearly = found.near["en"]["test"]
    assert nearly == PairLeaks(1, [["Two brown dogs run over the wet sand of a long beach again.", train]])
