"""`groundling reproduce --known`: what the JSON of a table tells of its trainings takes their place."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from small_tables import forget_datasets, loaded, make_table, on_disk, run_table, trained

from groundling.corpus import storage
from groundling.errors import UserError
from groundling.experiments.asked import check_together
from groundling.experiments.entry_data import cached_dataset
from groundling.experiments.finished import Results
from groundling.experiments.how_it_was_made import how_it_was_made
from groundling.experiments.known import beside, known_results, read_records
from groundling.experiments.record import EITHER, KEY, SHARED, Record, records_from_json, records_to_json
from groundling.experiments.record_settings import are_the_same, settings_of, shared
from groundling.experiments.results import summarise
from groundling.experiments.runner import run_entries
from groundling.experiments.table_entries import table_entries
from groundling.experiments.table_settings import TableSettings
from groundling.files import write_json
from groundling.report.experiment import experiment_page

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
    entries = list(table_entries(table))
    made, later = (
        how_it_was_made("command", found, entries)
        for found in (run_table(table, tmp_path / "runs"), known(table, file))
    )
    assert later == {**made, "known from earlier JSON": len(entries)}
    assert made["steps"] == 20 * len(entries)


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
    made = how_it_was_made("command", found, entries)
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
    made = how_it_was_made("command", results, list(table_entries(table)))
    assert "steps" not in made and made["device"] == "not noted"


def changed(file: Path, other: Path, **values: Any) -> Path:
    """The JSON of a table of one training, with something else told of that."""
    data = json.loads(file.read_text())
    (record,) = records_from_json(data[KEY], data[SHARED], "file")
    write_json(other, {**data, **records_to_json([replace(record, **values)])})
    return other


def test_two_tables_that_tell_of_one_training(loaded: list[Any], tmp_path: Path) -> None:
    """What both tell is put together if it can be the same training; else nobody could say whose numbers count."""
    table = make_table(rows=ROWS[1:2], seeds=[0])
    wider = make_table(rows=ROWS[1:2], seeds=[0], metrics=["mR", "text_to_image.R@10"])
    file = told(table, tmp_path / "runs", tmp_path / "one.json")
    (key,) = known(table, file)
    (record, _), *_ = read_records([file])[key]
    more = {code: {"text_to_image.R@10": 1.0} for code in ("en", "de")}
    both = changed(file, tmp_path / "other.json", values=more, commit=f"a{EITHER}b", device="elsewhere")
    first = changed(file, tmp_path / "first.json", commit=f"b{EITHER}c", device="elsewhere")
    found = known(wider, first, both)[key]
    assert found.run.commit == "b" and found.result.value("de", "text_to_image.R@10") == 1.0
    assert found.result.value("de", "mR") == record.values["de"]["mR"]
    assert not known(wider, first) and not known(wider, both)
    for says, values in (
        (r"mR in de: -1.0 of cells/.*, where .*first.json has ", {"values": {"de": {"mR": -1.0}}, "commit": "b"}),
        (r"commit a of cells/.*, where .*first.json has b or c", {"commit": "a"}),
        (r"test captions in de: 12 of cells/", {"commit": "b", "asked": {"de": "12"}}),
        (r"parameters, words: 12 of cells/", {"commit": "b", "parameters": {"words": 12}}),
        (r"steps: 12 of cells/.*, where .*first.json has 20", {"commit": "b", "steps": 12}),
        (r"setting text.minimum_count: 7 of cells/", {"commit": "b", "settings": {"text.minimum_count": 7}}),
    ):
        other = changed(file, tmp_path / "other.json", **{"device": "elsewhere", **values})
        with pytest.raises(UserError, match=f"other.json: {says}"):
            known(table, first, other)
        assert not known(make_table(rows=ROWS[2:], seeds=[0]), first, other)  # who does not ask for it is not stopped
        assert known_results(read_records([first, other]), [(table, list(table_entries(table)))], done=[key]) == {}


def test_a_default_that_was_changed_since_makes_another_training(loaded: list[Any], tmp_path: Path) -> None:
    """Keys leave defaults out: only the settings tell."""
    table = make_table(rows=ROWS[1:2], seeds=[0])
    file = told(table, tmp_path / "runs", tmp_path / "one.json")
    (entry,) = table_entries(table)
    now = settings_of(entry.recipe)
    assert now["text.minimum_count"] == 1 and now["system.dimensions"] == 8 and now["training.seed"] == 0
    assert "system.name" in now and not any(key.startswith("start") for key in now)
    before = {**now, "training.patience": now["training.patience"] + 1}
    assert not known(table, changed(file, tmp_path / "other.json", settings=before))
    older = {key: value for key, value in now.items() if key != "training.patience"}  # it did not exist then
    assert known(table, changed(file, tmp_path / "other.json", settings=older))
    assert known(table, changed(file, tmp_path / "other.json", settings={}))  # nobody noted them
    gone = {**now, "training.gone": 1}
    assert not are_the_same(gone, now)


def test_settings_of_what_a_training_starts_from() -> None:
    start = {"system": {"name": "bag", "dimensions": 4}, "training": {"batch_size": 8}}
    table = make_table(rows=[{"name": "Both", "set": {"start": start, "teachers": ["runs/one", start]}}], seeds=[0])
    (entry,) = table_entries(table)
    now = settings_of(entry.recipe)
    assert (now["start.training.batch_size"], now["training.batch_size"]) == (8, 16)
    assert (now["teachers.0"], now["teachers.1.system.dimensions"]) == ("runs/one", 4)


def test_what_all_trainings_were_told_is_written_down_once() -> None:
    told = [{"a": 1, "b": [1], "c": None}, {"a": 1, "b": [2], "c": None}, {"a": 1, "b": [1]}]
    assert shared(told) == {"a": 1}
    assert shared([]) == {}
    records = [Record(f"cells/{at}", "Row", at, {"en": {"mR": 1.0}}, settings=each) for at, each in enumerate(told)]
    data = records_to_json(records)
    assert data[SHARED] == {"a": 1} and data[KEY][2]["settings"] == {"b": [1]}
    assert records_from_json(data[KEY], data[SHARED], "file") == records


def test_numbers_of_one_training_are_of_one_run(loaded: list[Any], trained: list[Path], tmp_path: Path) -> None:
    """A training that is done again for a question is not known any more; one that was done here is not, either."""
    plain = make_table(rows=ROWS[1:2], seeds=[0])
    file = told(plain, tmp_path / "runs", tmp_path / "one.json")
    (key,) = known(plain, file)
    wrong = changed(file, tmp_path / "wrong.json", values={"en": {"mR": 99.0}, "de": {"mR": 99.0}})
    people = {"name": "Of people", "set": ROWS[1]["set"], "ask": {"origin": "human"}}
    both = make_table(rows=[ROWS[1], people], seeds=[0])
    entries = list(table_entries(both))
    found = run_entries(entries, tmp_path / "new", None, "cpu", known=known(both, wrong))
    assert len(trained) == 2  # once for "one.json", once for the question
    assert not found[key].known and found[key].result.value("en", "mR") < 99
    assert set(found) == {entry.key for entry in entries}
    assert not known_results(read_records([wrong]), [(both, entries)], done=[key])
    answers = {entry.key: found[entry.key] for entry in entries if entry.ask}
    assert set(beside({key: known(plain, wrong)[key]}, answers)) == set(answers)
    assert set(beside({key: known(plain, wrong)[key]}, {})) == {key}


def test_pretrained_models_are_asked_anew(tmp_path: Path) -> None:
    """Another one may lie in the same folder now."""
    rows = [{"name": "Theirs", "set": {"system": {"name": "pretrained", "model": "somewhere"}}}]
    table = make_table(rows=rows, seeds=[0])
    (entry,) = table_entries(table)
    record = Record(entry.key, "Theirs", 0, {"en": {"mR": 5.0}, "de": {"mR": 5.0}}, columns=["en", "de"])
    write_json(tmp_path / "one.json", records_to_json([record]))
    assert not known(table, tmp_path / "one.json")


def test_a_question_that_had_no_answer_in_a_language_is_known_where_that_was_asked(tmp_path: Path) -> None:
    """Translations exist in some of the languages that a table asks."""
    rows = [{"name": "Translated", "each": [["en"]], "ask": {"translate_to": "en"}}]
    table = make_table(rows=rows, seeds=[0])
    (entry,) = table_entries(table)
    for columns, there in ((["de"], False), (["en", "de"], True)):
        record = Record(entry.key, "Translated", 0, {"de": {"mR": 5.0}}, columns=columns)
        write_json(tmp_path / "one.json", records_to_json([record]))
        assert (entry.key in known(table, tmp_path / "one.json")) == there
    silent = Record(entry.key, "Translated", 0, columns=["en", "de"])
    write_json(tmp_path / "one.json", records_to_json([silent]))
    assert read_records([tmp_path / "one.json"]) == {entry.key: [(silent, tmp_path / "one.json")]}
    assert entry.key in known(table, tmp_path / "one.json")


def test_sizes_that_not_every_model_has_noted(tmp_path: Path) -> None:
    table = make_table(rows=ROWS[:1], seeds=[0], parameters="trainable", x="parameters")
    sizes = {"en": {"all": 3, "words": 1, "trainable": 4}, "de": {"all": 2, "words": 1}}
    records = [
        Record(
            entry.key, "Alone", 0, {entry.group[0]: {"mR": 5.0}}, list(entry.group), parameters=sizes[entry.group[0]]
        )
        for entry in table_entries(table)
    ]
    write_json(tmp_path / "one.json", records_to_json(records))
    assert len(known(table, tmp_path / "one.json")) == 1
    every = known_results(read_records([tmp_path / "one.json"]), [(table, list(table_entries(table)))], complete=False)
    (row,) = summarise(table, every).rows
    assert row.parameters == {"all": 5, "words": 2} and row.at is None


def test_parameters_are_those_of_the_last_seed(tmp_path: Path) -> None:
    """A row shows no others, so nothing is trained again for them."""
    table = make_table(rows=ROWS[1:2], parameters=True)
    first, last = table_entries(table)
    for noted, lacking in ((last, set()), (first, {last.key})):
        records = [
            Record(
                entry.key,
                "Both",
                entry.recipe.training.seed,
                {"en": {"mR": 5.0}, "de": {"mR": 5.0}},
                ["en", "de"],
                parameters={"all": 3, "words": 1} if entry == noted else {},
            )
            for entry in (first, last)
        ]
        write_json(tmp_path / "one.json", records_to_json(records))
        found = known(table, tmp_path / "one.json")
        assert {first.key, last.key} - found.keys() == lacking
        assert summarise(table, found).rows[0].parameters == {"all": 3, "words": 1}


def test_what_lacks_a_part_is_shown_without_it(loaded: list[Any], tmp_path: Path) -> None:
    """`--show` trains nothing: the numbers that are there come, the others stay empty."""
    file = told(make_table(rows=ROWS[1:2]), tmp_path / "runs", tmp_path / "one.json")
    table = make_table(rows=ROWS[1:2], validation=True, reaches=1, seconds=True)
    told_of = read_records([file])
    for key, ((record, path),) in told_of.items():
        told_of[key] = [(replace(record, seconds=None, steps=None), path)]
    found = known_results(told_of, [(table, list(table_entries(table)))], complete=False)
    (row,) = summarise(table, found).rows
    assert len(row.columns["en"].values) == 2 and row.seconds is None and row.validated == {}


def test_a_metric_that_was_not_kept_stays_empty(loaded: list[Any], tmp_path: Path) -> None:
    file = told(make_table(rows=ROWS[1:2]), tmp_path / "runs", tmp_path / "one.json")
    (kept,) = make_table(rows=ROWS[1:2]).metrics
    table = make_table(rows=ROWS[1:2], metrics=[kept, "image_to_text.R@5"])
    entries = list(table_entries(table))
    assert known_results(read_records([file]), [(table, entries)]) == {}  # with `--known` it is trained
    found = known_results(read_records([file]), [(table, entries)], complete=False)
    summary = summarise(table, found)
    (row,) = summary.rows
    assert len(row.columns[f"en {kept}"].values) == 2 and "en image_to_text.R@5" not in row.columns
    assert all(one.values["en"].keys() == {kept} for one in summary.trainings)
    made = how_it_was_made("groundling reproduce x", found, entries)
    assert "–" in experiment_page("", summary, made, "figure")


def test_files_that_are_no_tables(tmp_path: Path) -> None:
    write_json(tmp_path / "old.json", {"title": "Of an older groundling", "rows": []})
    with pytest.raises(UserError, match="no JSON of a table here that tells of its trainings"):
        read_records([tmp_path])
    with pytest.raises(UserError, match=r"old.json: does not tell of its trainings"):
        read_records([tmp_path / "old.json"])
    record = {"training": "cells/a", "row": "Both", "seed": 0, "values": {"en": {"mR": 5.0}}}
    write_json(tmp_path / "table.json", {KEY: [record]})
    write_json(tmp_path / "cells" / "a" / "run.json", {KEY: "of something else"})
    write_json(tmp_path / "counted.json", {KEY: 3})  # as --prepare --json has it
    (tmp_path / "half.json").write_text('{"trainings": [')
    (tmp_path / "lines.json").write_text("{}\n{}\n")
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "nowhere.json").symlink_to(tmp_path / "gone.json")
    assert list(read_records([tmp_path])) == ["cells/a"]
    changes: list[dict[str, Any]] = [{"seed": -1}, {"values": {"en": {"mR": "much"}}}, {"settings": 1}]
    for change in [*changes, {"values": {"en": {"mR": float("nan")}}}, {"values": None}]:
        with pytest.raises(UserError, match=r"table.json: trainings.0.*not the JSON of a table"):
            records_from_json([{**record, **change}], {}, "table.json")
    with pytest.raises(UserError, match="settings of all trainings: should be names and values"):
        records_from_json([record], [], "table.json")


def test_numbers_of_other_test_captions_are_refused(tmp_path: Path, trained: list[Path]) -> None:
    """What was tested on captions that have been changed since belongs into no table with what is tested now."""
    base = on_disk(tmp_path)
    table = make_table(base=base, rows=ROWS[1:2], seeds=[0])
    file = told(table, tmp_path / "runs", tmp_path / "results.json")
    more = make_table(base=base, rows=[ROWS[1], {**ROWS[2], "select": "language"}], seeds=[1, 0])
    entries = list(table_entries(more))
    corpus = storage.load(tmp_path / "corpus")
    texts = [
        f"{text} again" if language == "de" else text
        for text, language in zip(corpus.texts, corpus.languages, strict=True)
    ]
    storage.save(replace(corpus, texts=texts), tmp_path / "corpus")
    cached_dataset.cache_clear()  # as another process would find it
    before = len(trained)
    with pytest.raises(UserError, match=r"its test captions in de are not those that cells/.* was tested on"):
        run_entries(entries, tmp_path / "newer", None, "cpu", known=known(more, file))
    assert len(trained) == before
    found = run_entries(entries, tmp_path / "newer", None, "cpu")  # all of them on the captions that are here now
    old = known(table, file)
    with pytest.raises(UserError, match=r"cells/.* and cells/.* were tested on different captions in de; train one of"):
        check_together(entries, {**found, **old})
    check_together(list(table_entries(table)), old)
