"""A table's JSON is what its recipe makes of the trainings that it tells of: rows, claims and titles, by no hand."""

from itertools import combinations, groupby
from pathlib import Path

import pytest
from site_scripts import ROOT

from groundling.experiments.finished import folder_of
from groundling.experiments.known import contradictions, read_records
from groundling.experiments.record import KEY, SHARED, records_from_json
from groundling.experiments.results import summarise
from groundling.experiments.table_settings import TableSettings
from groundling.files import read_json
from groundling.recipes import read_table
from groundling.settings import check

RESULTS = ROOT / "docs" / "results"
TABLES = [path for path in sorted(RESULTS.rglob("*.json")) if KEY in read_json(path)]


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.relative_to(RESULTS).as_posix())
def test_a_table_is_made_of_its_trainings(path: Path) -> None:
    """Where this fails: `groundling reproduce TABLE --known docs/results --out RUNS`, then
    `python scripts/documentation/result_pages.py RUNS TABLE`."""
    data = read_json(path)
    name = data["made"]["command"].split()[2]
    table = check(TableSettings, read_table(name), name)
    results = {one.training: one.found() for one in records_from_json(data[KEY], data[SHARED], str(path))}
    made = summarise(table, results, data["seeds"]).to_json()
    assert data["about"] == table.about.strip()
    assert [row["name"] for row in data["rows"]] == [row["name"] for row in made["rows"]]
    for row, again in zip(data["rows"], made["rows"], strict=True):
        for key in again.keys() - {"at", "parameters", "seconds", "validated"}:
            assert row.get(key) == again[key], f"{row['name']}: {key}"
        for key in {"at", "parameters", "seconds", "validated"} & again.keys():  # some are known of whole rows alone
            assert again[key] in (row.get(key), None, {}), f"{row['name']}: {key}"
    for key in (
        "title",
        "metrics",
        "languages",
        "means",
        "common_languages",
        "published_on",
        "columns",
        "folds",
        "claims",
    ):
        assert data[key] == made[key], key


def test_no_two_tables_tell_different_things_of_a_training() -> None:
    """Where this fails, `groundling reproduce --known docs/results` would refuse both."""
    for training, told in read_records([RESULTS]).items():
        for (one, first), (other, second) in combinations(told, 2):
            assert not list(contradictions(one, other)), f"{training}: {first}, {second}"


def test_a_training_has_as_many_word_parameters_whatever_is_asked_of_it() -> None:
    told = read_records([RESULTS])
    for training, keys in groupby(sorted(told), folder_of):
        words = {one.parameters.get("words") for key in keys for one, _ in told[key]} - {None}
        assert len(words) <= 1, training


def test_most_tables_tell_of_their_trainings() -> None:
    """Those of older runs, whose settings no recipe has any more, do not."""
    assert len(TABLES) > 30
