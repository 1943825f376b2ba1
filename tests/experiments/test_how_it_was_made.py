"""What a table tells of its trainings and of those that they build on: commits, devices, steps and seconds."""

from dataclasses import replace
from typing import Any

from small_tables import make_table

from groundling.experiments.finished import Earlier, EntryResult, Results
from groundling.experiments.how_it_was_made import how_it_was_made
from groundling.experiments.table_entries import TableEntry, builds_on, table_entries
from made_results import entry_result

FACTS: dict[str, Any] = {"commit": "abc", "device": "CPU", "precision": "float32", "steps": 100, "seconds": 1.4}
ENGLISH = {"corpus": {"languages": ["en"]}}
TAUGHT = {"name": "Taught", "each": [["de"]], "set": {"start": ENGLISH}}
JUDGE = Earlier("abe", "GPU", "bf16", 300, 9.0)


def entries_of(*rows: dict[str, Any], seeds: int = 1) -> list[TableEntry]:
    return list(table_entries(make_table(rows=list(rows), seeds=list(range(seeds)))))


def trained(**changes: Any) -> EntryResult:
    return entry_result({}, {**FACTS, **changes})


def told(results: Results, entries: list[TableEntry]) -> dict[str, str | int]:
    """Without what is told of the table's own trainings."""
    made = how_it_was_made("x", results, entries)
    return {key: value for key, value in made.items() if key.startswith(("their ", "trainings that"))}


def test_it_sums_up_the_runs() -> None:
    three, seven = entries_of({"name": "Both"}, seeds=3), entries_of({"name": "Both"}, seeds=7)
    runs = [trained(), trained(device="GPU", seconds=2.4), trained(commit="abd", steps=7)]
    results = {entry.key: run for entry, run in zip(three, runs, strict=True)}
    assert how_it_was_made("groundling reproduce x", results, three) == {
        "command": "groundling reproduce x",
        "commit": "abc, abd",
        "device": "CPU, GPU",
        "precision": "float32",
        "trainings": 3,
        "steps": 207,
        "seconds of training": 5,
    }
    assert "3 of 7" in str(how_it_was_made("groundling reproduce x", results, seven)["trainings"])
    assert "0 of 7" in str(how_it_was_made("groundling reproduce x", {}, seven)["trainings"])
    some = {**results, three[0].key: trained(steps=0, seconds=0.0)}
    assert how_it_was_made("x", some, three)["steps"] == "107, without 1 of 3 trainings that have none noted"


def test_what_trainings_build_on_is_told_once_and_apart() -> None:
    """Two rows and two seeds start from two English trainings, which are no rows themselves."""
    entries = entries_of(TAUGHT, {**TAUGHT, "name": "Longer", "set": {**TAUGHT["set"], "text.maximum_length": 9}})
    assert len({one.folder for entry in entries for one in builds_on(entry)}) == 2
    results = {
        entry.key: replace(trained(), builds_on={one.folder: JUDGE for one in builds_on(entry)}) for entry in entries
    }
    assert how_it_was_made("x", results, entries)["steps"] == 200
    assert told(results, entries) == {
        "trainings that these build on": 2,
        "their commit": "abe",
        "their device": "GPU",
        "their precision": "bf16",
        "their steps": 600,
        "their seconds of training": 18,
    }
    assert told(results, entries[:1])["trainings that these build on"] == 1
    assert told({}, entries) == {}  # who is not trained starts from nothing


def test_one_that_nobody_noted_is_counted() -> None:
    entries = entries_of(TAUGHT, seeds=2)
    first, second = entries
    (judge,) = builds_on(first)
    results = {first.key: replace(trained(), builds_on={judge.folder: JUDGE}), second.key: trained()}
    made = told(results, entries)
    assert (made["trainings that these build on"], made["their commit"]) == (2, "abe, not noted")
    assert made["their steps"] == "300, without 1 of 2 trainings that have none noted"


def test_one_that_was_trained_again_meanwhile_counts_twice() -> None:
    """Of two rows that start from the same training, one was trained on another machine."""
    same = {"start": {**ENGLISH, "training": {"maximum_steps": 20}}, "training.maximum_steps": 30}
    entries = entries_of(TAUGHT, {**TAUGHT, "name": "Longer", "set": same})
    (judge,) = {one.folder for entry in entries for one in builds_on(entry)}
    results = {
        entry.key: replace(trained(), builds_on={judge: replace(JUDGE, commit=commit)})
        for entry, commit in zip(entries, ("abe", "abf"), strict=True)
    }
    made = told(results, entries)
    assert (made["trainings that these build on"], made["their commit"], made["their steps"]) == (2, "abe, abf", 600)


def test_a_row_that_teaches_others_is_one_of_the_tables_own() -> None:
    rows = [{"name": "Both"}, {"name": "Taught", "set": {"teachers": [{"training": {"seed": 0}}]}}]
    entries = entries_of(*rows)
    plain, taught = entries
    assert [one.folder for one in builds_on(taught)] == [plain.folder]
    results = {plain.key: trained(), taught.key: replace(trained(), builds_on={plain.folder: JUDGE})}
    assert told(results, entries) == {}
    assert told({taught.key: results[taught.key]}, entries)["their steps"] == 300


def test_what_a_start_starts_from_counts_as_well() -> None:
    first = {"corpus": {"languages": ["en"]}, "training": {"maximum_steps": 10}}
    row = {"name": "Third", "set": {"start": {**ENGLISH, "start": first}, "teachers": [first]}}
    (entry,) = entries_of(row)
    steps = [one.recipe.training.maximum_steps for one in builds_on(entry)]
    assert sorted(steps) == [10, 20]  # each once, though one is needed twice
