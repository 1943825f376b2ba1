"""Corpus: its columns stay together whatever is kept of it, and every way to name one leads to it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from groundling.corpus import SPLITS, Corpus, catalogue, load, names, save
from groundling.corpus.info import CorpusInfo
from groundling.errors import UserError

Rows = list[tuple[str, str, str, str, str]]


@st.composite
def corpora(draw: st.DrawFn) -> Corpus:
    pictures = draw(st.integers(0, 6))
    captions = (
        draw(st.lists(st.tuples(st.integers(0, pictures - 1), st.sampled_from(["en", "de"])))) if pictures else []
    )
    return Corpus(
        name="drawn",
        pictures=np.array([f"p{i}" for i in range(pictures)], dtype=np.str_),
        splits=np.array([draw(st.sampled_from(SPLITS)) for _ in range(pictures)], dtype=np.str_),
        owners=np.array([owner for owner, _ in captions], dtype=np.int64),
        languages=np.array([language for _, language in captions], dtype=np.str_),
        texts=[f"caption {i}" for i in range(len(captions))],
        origins=np.array(["human"] * len(captions), dtype=np.str_),
    )


def rows(corpus: Corpus) -> Rows:
    """Every caption with its picture's name and split written out: what must survive any renumbering."""
    return [
        (str(corpus.pictures[owner]), str(corpus.splits[owner]), str(language), text, str(origin))
        for owner, language, text, origin in zip(
            corpus.owners, corpus.languages, corpus.texts, corpus.origins, strict=True
        )
    ]


@given(corpora(), st.data())
def test_keeping_pictures_keeps_exactly_their_captions(corpus: Corpus, data: st.DataObject) -> None:
    keep = np.array([data.draw(st.booleans()) for _ in corpus.pictures], dtype=bool)
    kept = corpus.keep_pictures(keep)
    names = {name for name, wanted in zip(corpus.pictures.tolist(), keep, strict=True) if wanted}
    assert kept.pictures.tolist() == [name for name in corpus.pictures.tolist() if name in names]
    assert rows(kept) == [row for row in rows(corpus) if row[0] in names]


@given(corpora())
def test_splits_part_the_corpus(corpus: Corpus) -> None:
    parts = [corpus.split(split) for split in SPLITS]
    assert sorted(row for part in parts for row in rows(part)) == sorted(rows(corpus))
    assert sum(len(part.pictures) for part in parts) == len(corpus.pictures)


@given(corpora())
def test_one_language_of_one_split_and_its_first_captions(corpus: Corpus) -> None:
    got = corpus.split("test").only(["de"])
    assert rows(got) == [row for row in rows(corpus) if row[1] == "test" and row[2] == "de"]
    assert len(got.pictures) == (corpus.splits == "test").sum()  # pictures without a German caption stay

    first: dict[tuple[str, str], tuple[str, str, str, str, str]] = {}
    for row in rows(corpus):
        first.setdefault((row[0], row[2]), row)
    assert rows(corpus.queries("first")) == list(first.values())


def small() -> Corpus:
    return Corpus(
        name="small",
        pictures=np.array(["a", "b", "c"]),
        splits=np.array(["train", "dev", "train"]),
        owners=np.array([0, 2, 0, 1], dtype=np.int64),
        languages=np.array(["en", "de", "de", "de"]),
        texts=["one", "zwei", "eins", "drei"],
        origins=np.array(["human"] * 4),
    )


def test_counts_and_languages_by_hand() -> None:
    assert small().all_languages() == ["de", "en"]
    assert small().counts() == {
        "train": {"pictures": 2, "de": 2, "en": 1},
        "dev": {"pictures": 1, "de": 1, "en": 0},
        "test": {"pictures": 0, "de": 0, "en": 0},
    }


def test_queries_follow_the_corpus_unless_told_otherwise() -> None:
    corpus = replace(small(), owners=np.zeros(4, dtype=np.int64))
    assert corpus.queries().texts == ["one", "zwei", "eins", "drei"]
    asks_for_first = replace(corpus, info=CorpusInfo(queries="first"))
    assert asks_for_first.queries().texts == ["one", "zwei"]
    assert asks_for_first.queries("all").texts == ["one", "zwei", "eins", "drei"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"splits": np.array(["train"])}, "splits and pictures"),
        ({"texts": ["one"]}, "differ in length"),
        ({"owners": np.array([0, 1, 2, 3])}, "owner"),
        ({"owners": np.array([0, 1, 2, -1])}, "owner"),
        ({"pictures": np.array(["a", "b", "a"])}, "share a name"),
    ],
)
def test_columns_that_do_not_fit_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(small(), **change)


# --- every way to name a corpus ---------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with a very small F8K-7, and no GROUNDLING_DATA."""
    monkeypatch.delenv("GROUNDLING_DATA", raising=False)
    folder = tmp_path / "data"
    (folder / "f8k7").mkdir(parents=True)
    line = '{"image": "a.jpg", "split": "test", "captions": {"en": ["A dog."]}}'
    (folder / "f8k7" / "captions.jsonl").write_text(line, encoding="utf-8")
    return folder


def test_a_public_name_needs_the_data_folder(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load("f8k7", data).texts == ["A dog."]
    with pytest.raises(UserError, match=r'"f8k7" needs its files: give --data, or set GROUNDLING_DATA.* holds f8k7/'):
        load("f8k7")
    monkeypatch.setenv("GROUNDLING_DATA", str(data))
    assert load("f8k7").texts == ["A dog."]
    with pytest.raises(UserError, match=r"nowhere: no such folder; --data or GROUNDLING_DATA"):
        load("f8k7", data / "nowhere")


def test_every_public_name_says_which_file_is_missing(data: Path) -> None:
    (data / "f8k7" / "captions.jsonl").unlink()
    needing_data = [name for name, _, needs in names() if needs]
    assert {"f8k7", "multi30k-task1", "multi30k-task2", "flickr8k", "flickr30k-karpathy", "coco-karpathy"} <= set(
        needing_data
    )
    for name in needing_data:
        with pytest.raises(UserError, match=r": no such (file|folder)"):
            load(name, data)


def test_a_saved_folder_and_a_table_are_loaded_by_path(tmp_path: Path) -> None:
    save(small(), tmp_path / "saved")
    assert rows(load(str(tmp_path / "saved"))) == rows(small())
    (tmp_path / "photos").mkdir()
    Image.new("RGB", (4, 4)).save(tmp_path / "photos" / "a.png")
    table = tmp_path / "photos" / "captions.csv"
    table.write_text("picture,language,text\na.png,en,A dog.\na.png,en,\n", encoding="utf-8")
    for place in (table, table.parent):
        corpus, problems = catalogue.load_with_report(str(place))
        assert corpus.texts == ["A dog."]
        assert problems == ["captions.csv:3: the text is empty"]
    with pytest.raises(UserError, match=r"captions\.csv:3: the text is empty"):
        load(str(table), strict=True)


def test_only_emoji_can_be_split_in_several_ways(data: Path) -> None:
    with pytest.raises(UserError, match=r'"f8k7" comes with its own splits; a way to split \("artist"\) is for emoji'):
        load("f8k7", data, split="artist")


def test_a_public_name_wins_over_a_folder_unless_that_is_a_path(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(data)
    assert load("f8k7", data).name == "f8k7"
    with pytest.raises(UserError, match=r"captions\.jsonl:1: no field"):
        load("./f8k7", data)


def test_an_unfinished_corpus_is_not_taken_for_a_table(tmp_path: Path) -> None:
    save(small(), tmp_path)
    (tmp_path / "corpus.json").unlink()
    with pytest.raises(UserError, match=r"no corpus\.json.*build it again"):
        load(str(tmp_path))


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(UserError, match=r'named "flikr8k" \(did you mean "flickr8k"\?\)'):
        load("flikr8k")
