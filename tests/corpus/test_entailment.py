"""Statements follow their pictures, are stored whole, and are judged by their words alone."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundling.corpus import Corpus, storage
from groundling.corpus.entailment import LABELS, Entailments
from groundling.corpus.inspect import describe, summary
from groundling.corpus.inspect_statements import Repeated, label_rows, statement_leaks
from groundling.errors import UserError
from groundling.evaluation.text_only import bag_of_words, majority, text_only


def statements(rows: list[tuple[int, str, str, str, str]]) -> Entailments:
    owners, languages, texts, labels, ids = zip(*rows, strict=True) if rows else ([], [], [], [], [])
    return Entailments(
        np.array(owners, dtype=np.int64),
        np.array(languages, dtype=np.str_),
        list(texts),
        np.array(labels, dtype=np.str_),
        np.array(ids, dtype=np.str_),
    )


def corpus_of(splits: list[str], said: Entailments | None) -> Corpus:
    nothing = np.array([], dtype=np.str_)
    return Corpus(
        name="said",
        pictures=np.array([f"{row}.png" for row in range(len(splits))]),
        splits=np.array(splits),
        owners=np.array([], dtype=np.int64),
        languages=nothing,
        texts=[],
        origins=nothing,
        statements=said,
    )


SAID = statements(
    [
        (0, "en", "A dog runs.", "entailment", "a"),
        (0, "de", "Ein Hund rennt.", "entailment", "a"),
        (2, "en", "A cat sleeps.", "contradiction", "b"),
        (1, "en", "It is late.", "neutral", "c"),
        (2, "en", "a dog runs", "neutral", "d"),
    ]
)
CORPUS = corpus_of(["train", "dev", "test"], SAID)


def test_classes_are_places_in_the_list_of_labels() -> None:
    assert [LABELS[number] for number in SAID.classes()] == SAID.labels.tolist()


def test_statements_go_with_their_pictures_and_languages() -> None:
    test = CORPUS.split("test").statements
    assert test is not None
    assert (test.owners.tolist(), test.ids.tolist()) == ([0, 0], ["b", "d"])
    german = CORPUS.only(["de"]).statements
    assert german is not None and german.texts == ["Ein Hund rennt."]
    kept = CORPUS.keep_captions(np.zeros(0, dtype=bool)).statements
    assert kept is not None and len(kept) == 5


@given(st.lists(st.booleans(), min_size=3, max_size=3))
def test_pictures_kept_keep_their_names_in_statements(keep: list[bool]) -> None:
    kept = CORPUS.keep_pictures(np.array(keep))
    assert kept.statements is not None
    before = {(str(CORPUS.pictures[row]), name) for row, name in zip(SAID.owners, SAID.ids, strict=True) if keep[row]}
    after = {(str(kept.pictures[o]), n) for o, n in zip(kept.statements.owners, kept.statements.ids, strict=True)}
    assert after == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"labels": np.array(["maybe"] * 5)}, "unknown labels: maybe"),
        ({"texts": ["one"]}, "differ in length"),
    ],
)
def test_tables_that_make_no_sense_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        replace(SAID, **change)  # type: ignore[arg-type]


def test_statements_are_about_pictures_of_the_corpus() -> None:
    with pytest.raises(ValueError, match="not a row of pictures"):
        corpus_of(["train"], SAID)


# ---- stored


def test_statements_come_back_from_a_folder(tmp_path: Path) -> None:
    storage.save(CORPUS, tmp_path)
    loaded = storage.load(tmp_path).statements
    assert loaded is not None and loaded.texts == SAID.texts
    for column in ("owners", "languages", "labels", "ids"):
        assert getattr(loaded, column).tolist() == getattr(SAID, column).tolist()


def test_an_empty_table_is_not_the_same_as_none(tmp_path: Path) -> None:
    storage.save(corpus_of(["train"], statements([])), tmp_path)
    loaded = storage.load(tmp_path).statements
    assert loaded is not None and len(loaded) == 0
    storage.save(corpus_of(["train"], None), tmp_path)
    assert storage.load(tmp_path).statements is None
    assert not (tmp_path / "statements.parquet").exists(), "what belongs to no corpus any more is not left lying"


def test_damaged_missing_and_foreign_tables_are_named(tmp_path: Path) -> None:
    storage.save(CORPUS, tmp_path)
    table = tmp_path / "statements.parquet"
    whole = table.read_bytes()
    table.write_bytes(whole[:-3] + b"abc")
    with pytest.raises(UserError, match=r"statements\.parquet: not the file that corpus\.json describes"):
        storage.load(tmp_path)
    table.unlink()
    with pytest.raises(UserError, match=r"statements\.parquet: no such file"):
        storage.load(tmp_path)
    own = tmp_path / "own"
    own.mkdir()
    pq.write_table(pa.table({"mine": [1]}), own / "statements.parquet")
    with pytest.raises(UserError, match="a table of your own would be overwritten"):
        storage.save(CORPUS, own)
    assert pq.read_table(own / "statements.parquet").column_names == ["mine"]
    storage.save(replace(CORPUS, statements=None), own)
    assert pq.read_table(own / "statements.parquet").column_names == ["mine"], "nor removed"


# ---- inspected


def test_labels_are_counted_by_split_and_language() -> None:
    facts = describe(CORPUS)
    assert facts.statements is not None
    assert facts.statements.different == 4
    assert label_rows(facts.statements) == [
        ["train", "de en", 0, 0, 1],
        ["dev", "en", 0, 1, 0],
        ["test", "en", 1, 1, 0],
    ]


def test_statements_of_test_that_are_in_train_are_counted_without_case_and_stops() -> None:
    leaks = statement_leaks(CORPUS, text_only(CORPUS))
    assert leaks is not None
    assert leaks.in_train["en"] == {"dev": Repeated(0, 1), "test": Repeated(1, 2)}
    lines = "\n".join(summary(describe(CORPUS), statement_leaks=leaks))
    assert "5 statements with labels, 4 without their translations" in lines
    assert "test: 1 of 2 statements (en) are word for word in train" in lines


def test_translations_that_disagree_are_told() -> None:
    torn = statements([(0, "en", "A dog.", "neutral", "a"), (0, "de", "Ein Hund.", "entailment", "a")])
    facts = describe(corpus_of(["train"], torn))
    assert facts.statements is not None
    assert facts.statements.torn_translations == 1
    assert any("disagree on picture or label" in line for line in summary(facts))


# ---- judged by words alone


def drawn(number: int, seed: int, clue: float) -> Entailments:
    """Statements of which a share `clue` has a word that gives the label away; all other words say nothing."""
    random = np.random.default_rng(seed)
    rows = []
    for at in range(number):
        label = LABELS[random.integers(3)]
        words = [f"w{random.integers(20)}" for _ in range(4)]
        rows.append((0, "en", " ".join([*words, label] if random.random() < clue else words), label, str(at)))
    return statements(rows)


@pytest.mark.parametrize(("clue", "low", "high"), [(0.0, 0.26, 0.41), (0.5, 0.6, 0.75), (1.0, 0.97, 1.0)])
def test_words_are_used_as_far_as_they_tell(clue: float, low: float, high: float) -> None:
    """With a clue in half of the cases, two thirds are right: half of all for sure, and a third of the others."""
    accuracy = bag_of_words(drawn(1500, 0, clue), drawn(300, 1, clue), drawn(600, 2, clue))
    assert low <= accuracy <= high


def test_order_of_words_is_seen_without_spaces_too() -> None:
    """Runs of characters in Chinese: 狗大 and 大狗 have the same characters."""
    pairs = [("红色大狗叫", "entailment"), ("红色狗大叫", "contradiction")] * 20
    said = statements([(0, "zh", text, label, str(at)) for at, (text, label) in enumerate(pairs)])
    assert bag_of_words(said, statements([]), said) == 1.0


def test_majority_is_that_of_training() -> None:
    train = statements([(0, "en", "x", label, str(at)) for at, label in enumerate(["neutral"] * 3 + ["entailment"])])
    asked = statements([(0, "en", "x", label, str(at)) for at, label in enumerate(["entailment"] * 3 + ["neutral"])])
    assert majority(train, asked) == 0.25


def test_languages_that_cannot_be_measured_are_left_out() -> None:
    found = text_only(CORPUS)
    assert set(found) == {"en"} and found["en"].asked == 2
    assert text_only(corpus_of(["test"], statements([(0, "en", "A dog.", "neutral", "a")]))) == {}
    assert text_only(corpus_of(["test"], None)) == {}
