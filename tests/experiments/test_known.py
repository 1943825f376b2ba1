"""`groundling reproduce --known`: what the JSON of a table tells of its trainings takes their place."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_tables import forget_datasets, loaded, make_table, on_disk, run_table, trained

from groundling.corpus import storage
from groundling.errors import UserError
from groundling.experiments.entry_data import cached_dataset
from groundling.experiments.finished import Results
from groundling.experiments.known import known_results, read_records
from groundling.experiments.record import KEY, Record, records_from_json
from groundling.experiments.results import how_it_was_made, summarise
from groundling.experiments.runner import run_entries
from groundling.experiments.table_entries import table_entries
from groundling.experiments.table_settings import TableSettings
from groundling.files import write_json

__all__ = ["forget_datasets", "loaded", "trained"]  # fixtures

ROWS = [
    {"name": "Alone", "each": "language"},
    {"name": "Both", "set": {"training.batch_size": 32}},
    {"name": "Large", "set": {"system.dimensions": 12}},
]


def told(table: TableSettings, out: Path, file: Path) -> Path:
    """The JSON of a table that was trained."""
    write_json(file, summarise(table, run_table(table, out)).to_json())
    return file


def known(table: TableSettings, *files: Path) -> Results:
    return known_results(read_records(files), [(table, list(table_entries(table)))])


def test_a_table_is_the_same_from_its_json_as_from_its_runs(loaded: list[Any], tmp_path: Path) -> None:
    table = make_table(rows=ROWS, parameters="trainable", validation=True, reaches=1, seconds=True)
    file = told(table, tmp_path / "runs", tmp_path / "results.json")
    again = summarise(table, known(table, file)).to_json()
    assert again == json.loads(file.read_text())
    assert len(again[KEY]) == 2 * (2 + 1 + 1)
    assert {one["row"] for one in again[KEY]} == {"Alone", "Both", "Large"}


def test_only_what_is_not_known_is_trained(loaded: list[Any], trained: list[Path], tmp_path: Path) -> None:
    """A row more, a seed more and other claims: the trainings that were there before are not done again."""
    small = make_table(rows=ROWS[:2])
    file = told(small, tmp_path / "runs", tmp_path / "results.json")
    before = len(trained)
    table = make_table(rows=[*ROWS[1:], {"name": "New name", "each": "language"}], seeds=[0, 1, 2])
    entries = list(table_entries(table))
    found = run_entries(entries, tmp_path / "new", None, "cpu", known=known(table, file))
    assert set(found) == {entry.key for entry in entries}
    assert len(trained) - before == 3 + 1 + 2  # Large; seed 2 of Both, and of the two models that stood in "Alone"
    first, last = summarise(small, run_table(small, tmp_path / "runs")), summarise(table, found)
    assert last.rows[2].columns["en"].values[:2] == first.rows[0].columns["en"].values
    made = how_it_was_made("command", found, len(entries))
    assert made["trainings"] == len(entries) and made["known from earlier JSON"] == 6


def test_a_training_without_what_the_table_shows_is_done_again(loaded: list[Any], tmp_path: Path) -> None:
    file = told(make_table(rows=ROWS[:1]), tmp_path / "runs", tmp_path / "results.json")
    assert len(known(make_table(rows=ROWS[:1]), file)) == 4
    for asked in ({"metrics": ["text_to_image.R@10"]}, {"validation": True}, {"validation": True, "reaches": 3}):
        assert not known(make_table(rows=ROWS[:1], **asked), file)
    assert len(known(make_table(rows=ROWS[:1], languages=["en"]), file)) == 2
    assert not known(make_table(rows=ROWS[1:2]), file)


def test_parameters_that_nobody_noted_leave_their_cell_empty() -> None:
    """A row of two models, of which one is known without its parameters: their sum is not known."""
    table = make_table(rows=ROWS[:1], seeds=[0], parameters=True)
    sizes = {"en": {"all": 3_000_000, "words": 1_000_000}, "de": {}}
    results = {
        entry.key: Record(
            entry.key, "Alone", 0, {entry.group[0]: {"mR": 5.0}}, parameters=sizes[entry.group[0]]
        ).found()
        for entry in table_entries(table)
    }
    assert summarise(table, results).rows[0].parameters is None
    made = how_it_was_made("command", results, 2)
    assert "steps" not in made and made["device"] == "not noted"


def test_two_tables_that_tell_different_things_of_one_training(loaded: list[Any], tmp_path: Path) -> None:
    table = make_table(rows=ROWS[1:2], seeds=[0])
    file = told(table, tmp_path / "runs", tmp_path / "one.json")
    data = json.loads(file.read_text())
    other = tmp_path / "other.json"
    more = {"de": data[KEY][0]["values"]["de"], "fr": {"mR": 1.0}}
    write_json(other, {**data, KEY: [{**data[KEY][0], "values": more, "device": "elsewhere"}]})
    (record,) = read_records([file, other])
    assert set(record.values) == {"en", "de", "fr"}  # what both tell of it, put together
    more["de"] = {"mR": -1.0}
    write_json(other, {**data, KEY: [{**data[KEY][0], "values": more}]})
    with pytest.raises(UserError, match=r"other.json: mR of cells/.* in de is -1, and .* in .*one.json; give only one"):
        read_records([file, other])


def test_files_that_are_no_tables(tmp_path: Path) -> None:
    write_json(tmp_path / "old.json", {"title": "Of an older groundling", "rows": []})
    with pytest.raises(UserError, match="no JSON of a table here that tells of its trainings"):
        read_records([tmp_path])
    with pytest.raises(UserError, match=r"old.json: does not tell of its trainings"):
        read_records([tmp_path / "old.json"])
    record = {"training": "cells/a", "row": "Both", "seed": 0, "values": {"en": {"mR": 5.0}}}
    write_json(tmp_path / "table.json", {KEY: [record]})
    assert [one.training for one in read_records([tmp_path])] == ["cells/a"]
    changes: list[dict[str, Any]] = [{"seed": -1}, {"values": {"en": {"mR": "much"}}}]
    for change in [*changes, {"values": {"en": {"mR": float("nan")}}}, {"values": None}]:
        with pytest.raises(UserError, match=r"table.json: trainings.0.*not the JSON of a table"):
            records_from_json([{**record, **change}], "table.json")


def test_numbers_of_other_test_captions_are_refused(tmp_path: Path, trained: list[Path]) -> None:
    """What was tested on captions that have been changed since belongs into no table with what is tested now."""
    base = on_disk(tmp_path)
    table = make_table(base=base, rows=ROWS[1:2], seeds=[0])
    file = told(table, tmp_path / "runs", tmp_path / "results.json")
    entries = list(table_entries(table))
    assert run_entries(entries, tmp_path / "new", None, "cpu", known=known(table, file))
    assert len(trained) == 1
    corpus = storage.load(tmp_path / "corpus")
    texts = [
        f"{text} again" if language == "de" else text
        for text, language in zip(corpus.texts, corpus.languages, strict=True)
    ]
    storage.save(replace(corpus, texts=texts), tmp_path / "corpus")
    cached_dataset.cache_clear()  # as another process would find it
    with pytest.raises(UserError, match=r"its test captions in de are not those that cells/.* was tested on"):
        run_entries(entries, tmp_path / "newer", None, "cpu", known=known(table, file))
