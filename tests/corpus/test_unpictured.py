"""Sentences without pictures: what is taken, what is left out because a test asks for it, and what is a mistake."""

from pathlib import Path

import numpy as np
import pytest

from groundling.corpus import Corpus
from groundling.corpus.unpictured import picture_id, read_pairs, unpictured
from groundling.errors import UserError

Said = dict[str, list[str]]


def corpus_of(name: str, pictures: dict[str, tuple[str, Said]]) -> Corpus:
    """Picture → its split and its captions by language."""
    said = [
        (row, code, text)
        for row, (_, captions) in enumerate(pictures.values())
        for code, texts in captions.items()
        for text in texts
    ]
    owners, codes, texts = zip(*said, strict=True)
    return Corpus(
        name=name,
        pictures=np.array(list(pictures)),
        splits=np.array([split for split, _ in pictures.values()]),
        owners=np.array(owners),
        languages=np.array(codes),
        texts=list(texts),
        origins=np.array(["human"] * len(said)),
    )


MAIN = corpus_of(
    "main",
    {
        "100_0123456789.jpg": ("train", {"en": ["a dog"], "de": ["ein Hund"]}),
        "200_0123456789.jpg": ("test", {"en": ["A cat sleeps."], "de": ["Eine Katze"]}),
        "COCO_val2014_000000000300.jpg": ("dev", {"en": ["a boat"], "de": ["ein Boot"]}),
    },
)
OTHER = corpus_of(
    "other",
    {
        "100.jpg": ("train", {"en": ["one dog"], "de": ["der Hund"]}),
        "200.jpg": ("train", {"en": ["one cat"], "de": ["die Katze"]}),
        "000000000300.jpg": ("train", {"en": ["one boat"], "de": ["das Boot"]}),
        "400.jpg": ("train", {"en": ["a tree", "a cat  sleeps"], "de": ["ein Baum"], "fr": ["un arbre"]}),
        "500.jpg": ("train", {"en": ["a cat sleeps"], "de": ["ein Haus"]}),
        "600.jpg": ("dev", {"en": ["a sun"], "de": ["eine Sonne"]}),
    },
)


def test_nothing_that_is_tested_is_read() -> None:
    found = unpictured(MAIN, [OTHER])
    assert found.corpus.pictures.tolist() == ["400"]  # of 500 one sentence is left, which has nobody to meet
    assert found.corpus.texts == ["a tree", "ein Baum"]
    assert (found.by_picture, found.by_text) == (3, 2)
    assert set(found.corpus.splits.tolist()) == {"train"}
    assert str(found).startswith("1 meanings without pictures (2 sentences); left out: 3 whose")


def test_the_same_picture_of_several_sources_is_one_meaning_and_repetitions_are_left_out() -> None:
    more = corpus_of("more", {"x/400.png": ("train", {"en": ["A tree!", "an oak"], "cs": ["strom"]})})
    found = unpictured(MAIN, [OTHER, more])
    assert found.corpus.pictures.tolist() == ["400"]
    assert found.corpus.texts == ["a tree", "ein Baum", "an oak"]
    with pytest.raises(UserError, match=r"corpus\.text_only: nothing in nothing is left"):
        unpictured(MAIN, [corpus_of("nothing", {"7.jpg": ("train", {"fr": ["un", "deux"]})})])


def test_some_languages_of_them() -> None:
    assert unpictured(MAIN, [OTHER]).only(["de"]).corpus.texts == ["ein Baum"]


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("1000268201_693b08cb0e.jpg", "1000268201"),
        ("flickr30k/1000268201.jpg", "1000268201"),
        ("val2014/COCO_val2014_000000391895.jpg", "000000391895"),
        ("000000391895.jpg", "000000391895"),
        ("my_photo_12.png", "my_photo_12"),
    ],
)
def test_one_picture_by_several_names(name: str, number: str) -> None:
    assert picture_id(name) == number


def test_translations_in_a_table(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("en\tde\tcs\na hat\tein Hut\t\n\na red hat\tein roter Hut\tčervený klobouk\n", encoding="utf-8")
    found = unpictured(MAIN, [read_pairs(path)])
    assert found.corpus.texts == ["a hat", "ein Hut", "a red hat", "ein roter Hut"]
    assert found.corpus.owners.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("en\na hat\n", r"pairs\.tsv:1: the first line names"),
        ("en\tde\na hat\n", r"pairs\.tsv:2: 1 columns where the first line names 2"),
        ("A hat\tEin Hut\n", r"pairs\.tsv:1"),
        ("en\tde\n", "holds no pair"),
    ],
)
def test_mistakes_in_a_table(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(text)
    with pytest.raises(UserError, match=problem):
        read_pairs(path)
