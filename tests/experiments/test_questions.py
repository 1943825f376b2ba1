"""Rows that ask the models of other rows something else: trained once, answered once, and right."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small_tables
from small_tables import BASE, make_table, run_table

from conftest import make_world
from groundling.corpus.info import CorpusInfo
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.consistency.evaluate import ask_together
from groundling.evaluation.loading import load_model
from groundling.evaluation.results import RetrievalResult
from groundling.evaluation.translated_queries import ask_translated
from groundling.experiments.finished import finished_entries
from groundling.experiments.how_it_was_made import how_it_was_made
from groundling.experiments.question import Question
from groundling.experiments.results import summarise
from groundling.experiments.runner import run_entries
from groundling.experiments.table_entries import table_entries
from groundling.experiments.table_settings import TableSettings
from groundling.files import read_json, write_json

forget_datasets, trained = small_tables.forget_datasets, small_tables.trained

PLAIN = {"name": "Plain"}
AVERAGE = {"name": "CLC-A", "ask": {"consistency": "average"}}
LEARNED = {"name": "CLC-C", "ask": {"consistency": "learned"}}
TO_ENGLISH = {"name": "Trans. to En", "each": [["en"]], "ask": {"translate_to": "en"}}


def parallel_world() -> Dataset:
    """First captions are translations of each other; second ones stand alone, and half of the test ones are a
    machine's."""
    world = make_world()
    second = np.arange(len(world.corpus)) % 2 == 1
    test = world.corpus.splits[world.corpus.owners] == "test"
    origins = np.where(second & test, "machine", "human")
    return replace(world, corpus=replace(world.corpus, origins=origins, info=CorpusInfo(parallel="first")))


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> Dataset:
    world = parallel_world()
    monkeypatch.setattr(Dataset, "load", staticmethod(lambda *arguments, **options: world))
    return world


def table_of(*rows: dict[str, Any], **changes: Any) -> TableSettings:
    return make_table(**{"rows": list(rows), "seeds": [0], **changes})


def test_a_model_is_trained_once_for_all_that_is_asked_of_it(
    loaded: Dataset, trained: list[Path], tmp_path: Path
) -> None:
    table = table_of(PLAIN, AVERAGE, LEARNED)
    results = run_table(table, tmp_path)
    assert len(trained) == 1
    assert len(results) == 3
    assert not list(tmp_path.rglob("best.safetensors"))
    plain, average, learned = (results[entry.key] for entry in table_entries(table))
    assert (plain.more_parameters, average.more_parameters, learned.more_parameters) == (0, 0, 2 * 32 + 32)
    assert average.result.languages != plain.result.languages
    (answer,) = tmp_path.rglob("asked-consistency-average-*.json")
    answered = read_json(answer)
    assert RetrievalResult.from_json({**plain.result.to_json(), **answered["alone"]}) == plain.result
    assert answered["consistency"]["how"] == "average"
    trained.clear()
    assert run_table(table, tmp_path) == results
    assert finished_entries(list(table_entries(table)), tmp_path) == results
    assert trained == []
    made = how_it_was_made("…", results, list(table_entries(table)))
    assert (made["trainings"], made["steps"]) == (1, 20)


def test_answers_are_those_of_the_evaluation_by_hand(
    loaded: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("groundling.evaluation.translated_queries.ENOUGH", 0.5)  # every other caption has a translation
    table = table_of(AVERAGE, TO_ENGLISH)
    results = run_table(table, tmp_path, keep_weights=True)
    average, translated = table_entries(table)
    assert results[average.key].result == ask_together(load_model(str(tmp_path / average.folder)), "average").together
    by_hand = ask_translated(load_model(str(tmp_path / translated.folder), every_language=True), "en", "own")
    assert results[translated.key].result == by_hand.result
    (row,) = (row for row in summarise(table, results).rows if row.name == "Trans. to En")
    assert row.columns["en"].mean == by_hand.result.value("en", "mR")


def test_a_translated_row_has_the_columns_that_were_translated(
    loaded: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An English model, and a number for German, where it was asked in English."""
    with pytest.raises(UserError, match="less than 90% of the test captions of corpus world have a translation"):
        run_table(table_of(TO_ENGLISH), tmp_path)
    monkeypatch.setattr("groundling.evaluation.translated_queries.ENOUGH", 0.5)  # every other caption has one
    table = table_of(TO_ENGLISH)
    (row,) = summarise(table, run_table(table, tmp_path)).rows
    assert set(row.columns) == {"en", "de", "mean"}
    assert row.own_mean["mR"].mean == row.columns["mean"].mean


def test_a_question_that_comes_later_is_asked_of_the_weights_if_they_were_kept(
    loaded: Dataset, trained: list[Path], tmp_path: Path
) -> None:
    before = run_table(table_of(PLAIN), tmp_path, keep_weights=True)
    after = run_table(table_of(PLAIN, AVERAGE), tmp_path)
    assert len(trained) == 2  # the second call looks whether the first one's training is finished
    assert {key: after[key] for key in before} == before
    assert list(tmp_path.rglob("best.safetensors"))  # still kept


def test_a_question_that_comes_later_trains_again_where_weights_are_gone(
    loaded: Dataset, trained: list[Path], tmp_path: Path
) -> None:
    before = run_table(table_of(PLAIN), tmp_path)
    after = run_table(table_of(PLAIN, AVERAGE), tmp_path)
    assert len(trained) == 2
    (key,) = before
    assert after[key].result == before[key].result  # on a CPU the same model
    assert len(after) == 2


def test_one_seed_after_another_asks_only_what_is_new(loaded: Dataset, trained: list[Path], tmp_path: Path) -> None:
    first = run_table(table_of(PLAIN, AVERAGE), tmp_path)
    both = run_table(table_of(PLAIN, AVERAGE, seeds=[0, 1]), tmp_path)
    assert len(trained) == 2
    assert {key: both[key] for key in first} == first


def test_an_answer_without_its_training_counts_for_nothing(loaded: Dataset, tmp_path: Path) -> None:
    table = table_of(AVERAGE)
    (entry,) = table_entries(table)
    write_json(tmp_path / entry.folder / entry.ask.file, {"languages": {}})  # type: ignore[union-attr]
    assert finished_entries([entry], tmp_path) == {}


def test_sentences_of_one_origin(loaded: Dataset, tmp_path: Path) -> None:
    rows = [{"name": origin, "ask": {"origin": origin}} for origin in ("human", "machine")]
    table = table_of(PLAIN, *rows)
    results = run_table(table, tmp_path)
    plain, human, machine = (results[entry.key] for entry in table_entries(table))
    assert {code: part.captions for code, part in human.result.languages.items()} == {"en": 25, "de": 25}
    assert machine.result.captions == 50
    assert plain.result.captions == 100


def test_questions_that_cannot_be_answered_stop_a_table_before_it_starts(
    loaded: Dataset, trained: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UserError, match="no test captions of origin translation, only human, machine"):
        run_table(table_of({"name": "x", "ask": {"origin": "translation"}}), tmp_path)
    with pytest.raises(UserError, match="is no source of translations"):
        run_table(table_of({"name": "x", "ask": {"consistency": "average", "source": "nowhere"}}), tmp_path)
    alone = replace(loaded, corpus=replace(loaded.corpus, info=CorpusInfo()))
    small_tables.cached_dataset.cache_clear()
    monkeypatch.setattr(Dataset, "load", staticmethod(lambda *arguments, **options: alone))
    with pytest.raises(UserError, match="no test caption of corpus world has a translation there; give another"):
        run_table(table_of(AVERAGE), tmp_path)
    assert trained == []


@pytest.mark.parametrize(
    ("ask", "problem"),
    [
        ({}, "ask exactly one of consistency, translate_to, origin"),
        ({"consistency": "average", "origin": "human"}, "ask exactly one of"),
        ({"origin": "human", "source": "own"}, "no source of translations"),
        ({"consistency": "mean"}, "'average' or 'learned'"),
        ({"asked": 1}, 'unknown setting "rows.0.ask.asked"'),
    ],
)
def test_what_is_no_question(ask: dict[str, Any], problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        table_of({"name": "x", "ask": ask})


def test_a_table_names_the_source_once_and_a_row_may_have_its_own(tmp_path: Path) -> None:
    rows = [AVERAGE, {"name": "own", "ask": {"consistency": "average", "source": "other.tsv"}}]
    found = [entry.ask for entry in table_entries(table_of(*rows, translations="table.tsv"))]
    assert [question.source for question in found if question] == ["table.tsv", "other.tsv"]
    one, other = found
    assert one and other and one.file != other.file
    assert one.file == Question(consistency="average", source="table.tsv").file


def test_a_table_of_translations_may_lie_below_the_data_folder(loaded: Dataset, tmp_path: Path) -> None:
    corpus = loaded.corpus
    pairs = {}
    for row, (code, text) in enumerate(zip(corpus.languages.tolist(), corpus.texts, strict=True)):
        other = row + 2 if code == "en" else row - 2
        pairs[code, text] = corpus.texts[other]
    lines = [f"{code}\t{'de' if code == 'en' else 'en'}\t{text}\t{told}" for (code, text), told in pairs.items()]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "told.tsv").write_text("\n".join(lines), encoding="utf-8")
    table = table_of(AVERAGE, translations="told.tsv")
    results = run_entries(list(table_entries(table)), tmp_path / "out", tmp_path / "data", "cpu")
    (answer,) = (tmp_path / "out").rglob("asked-*.json")
    assert len(results) == 1
    assert read_json(answer)["consistency"]["translated"] == {"de": 100.0, "en": 100.0}


def test_preparing_trains_nothing(loaded: Dataset, trained: list[Path], tmp_path: Path) -> None:
    table = table_of(PLAIN, AVERAGE)
    assert run_entries(list(table_entries(table)), tmp_path, None, "cpu", only_prepare=True) == {}
    assert trained == []
    assert not list(tmp_path.iterdir())


def test_preparing_makes_word_vectors_that_are_found_without_gensim(
    loaded: Dataset, tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("gensim")
    sizes = {"dimensions": 8, "word_dimensions": 6, "universal_dimensions": 8, "state_dimensions": 8}
    base = {**BASE, "system": {"name": "mule", **sizes, "picture_dimensions": 8, "align_epochs": 0.5}}
    table = table_of(PLAIN, base=base)
    run_entries(list(table_entries(table)), tmp_path / "out", None, "cpu", only_prepare=True)
    for path in (own_cache / "words").glob("*"):
        if not path.name.startswith("seen-"):
            path.unlink()  # what is not taken along
    monkeypatch.setitem(__import__("sys").modules, "gensim", None)
    monkeypatch.setitem(__import__("sys").modules, "gensim.models", None)
    results = run_table(table, tmp_path / "out")
    assert len(results) == 1
