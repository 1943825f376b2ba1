"""The numbers of a table from the evaluations of its entries, by hand."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_tables import make_table

from groundling.errors import UserError
from groundling.experiments.finished import EntryResult, Results
from groundling.experiments.results import summarise as summarise_table
from groundling.experiments.table_entries import TableEntry, table_entries
from groundling.experiments.table_settings import TableSettings
from groundling.experiments.validated_columns import validated_columns
from groundling.experiments.validations import Validated, validated
from groundling.report.experiment import experiment_tables
from groundling.run_facts import RunFacts
from made_results import entry_result, scores


def evaluation(**recalls: float) -> EntryResult:
    """An evaluation with this mR for each language."""
    return entry_result({code: scores({"mR": value}, {"R@10": 2 * value}) for code, value in recalls.items()})


def summarise(*arguments: Any, **options: Any) -> dict[str, Any]:
    return summarise_table(*arguments, **options).to_json()


def results_of(table: TableSettings, number: Callable[[TableEntry, str], float | None]) -> Results:
    """For each entry an evaluation with `number(entry, language)`; an entry with None anywhere is not finished."""
    found = {}
    for entry in table_entries(table):
        numbers = {code: number(entry, code) for code in entry.group}
        if None not in numbers.values():
            found[entry.folder] = evaluation(**numbers)  # type: ignore[arg-type]
    return found


NUMBERS = {
    ("Alone", "en"): (10, 14),
    ("Alone", "de"): (20, 30),
    ("Both", "en"): (11, 13),
    ("Both", "de"): (25, 15),
}  # (row, language) → seed 0, seed 1


def by_hand(**changes: Any) -> tuple[TableSettings, Results]:
    rows = [
        {"name": "Alone", "each": "language", "published": {"en": [12.5] * len(changes.get("metrics", ["mR"]))}},
        {"name": "Both", "set": {"training.batch_size": 32}},
    ]
    table = make_table(**{"rows": rows, **changes})
    return table, results_of(table, lambda entry, code: NUMBERS[entry.row, code][entry.recipe.training.seed])


def test_means_deviations_and_intervals_by_hand() -> None:
    summary = summarise(*by_hand())
    alone, both = summary["rows"]
    assert (summary["title"], summary["metrics"], summary["languages"]) == ("Two rows", ["mR"], ["en", "de"])
    assert (summary["seeds"], summary["published_on"], summary["claims"]) == ([0, 1], "", [])
    assert [(column["name"], column["language"], column["metric"]) for column in summary["columns"]] == [
        ("en", "en", "mR"),
        ("de", "de", "mR"),
        ("mean", "mean", "mR"),
    ]
    # Two values: the deviation is their distance / √2, the interval 12.706 · deviation / √2.
    assert alone["columns"]["en"] == {
        "values": [10, 14],
        "mean": 12,
        "deviation": pytest.approx(4 / math.sqrt(2)),
        "interval": pytest.approx(12.706 * 2),
    }
    assert both["columns"]["de"]["mean"] == 20
    assert both["columns"]["de"]["deviation"] == pytest.approx(10 / math.sqrt(2))
    assert (alone["published"], both["published"]) == ({"en": 12.5}, {})


def test_the_mean_column_averages_languages_seed_by_seed() -> None:
    """Of "Both" it is 18 and 14: its deviation is that of these two, not the mean of the languages' deviations."""
    alone, both = summarise(*by_hand())["rows"]
    assert alone["columns"]["mean"]["values"] == [15, 22]
    assert both["columns"]["mean"]["values"] == [18, 14]
    assert both["columns"]["mean"]["mean"] == 16
    assert both["columns"]["mean"]["deviation"] == pytest.approx(4 / math.sqrt(2))


@pytest.mark.parametrize(
    ("changes", "names"),
    [
        ({"mean": False}, ["en", "de"]),
        ({"languages": ["de"], "rows": [{"name": "Both", "each": [["en", "de"]]}]}, ["de"]),
        (
            {"metrics": ["mR", "text_to_image.R@10"]},
            ["en mR", "en text_to_image.R@10", "de mR", "de text_to_image.R@10"],
        ),
        (
            {"metrics": ["mR", "text_to_image.R@10"], "mean": True, "languages": ["en"]},
            ["en mR", "en text_to_image.R@10", "mean mR", "mean text_to_image.R@10"],
        ),
    ],
    ids=["no mean", "one language", "two metrics", "two metrics and their means"],
)
def test_columns_are_languages_by_metrics(changes: dict[str, Any], names: list[str]) -> None:
    summary = summarise(*by_hand(**changes))
    assert [column["name"] for column in summary["columns"]] == names
    assert all(list(row["columns"]) == names for row in summary["rows"])


def test_several_metrics_have_a_number_each() -> None:
    """`published` lists the numbers of a language in the order of the metrics."""
    rows = [{"name": "Both", "published": {"de": [19.5, 41.5], "mean": [1.5, 2.5]}}]
    table, results = by_hand(metrics=["mR", "text_to_image.R@10"], mean=True, rows=rows)
    (both,) = summarise(table, results)["rows"]
    assert both["columns"]["de mR"]["values"] == [25, 15]
    assert both["columns"]["de text_to_image.R@10"]["values"] == [50, 30]
    assert both["columns"]["mean text_to_image.R@10"]["values"] == [36, 28]
    assert both["published"] == {
        "de mR": 19.5,
        "de text_to_image.R@10": 41.5,
        "mean mR": 1.5,
        "mean text_to_image.R@10": 2.5,
    }


def test_other_seeds_and_rows_with_fewer_languages() -> None:
    table, results = by_hand(rows=[{"name": "Alone", "each": [["en"]]}], metrics=["text_to_image.R@10"])
    (only,) = summarise(table, results, seeds=[1])["rows"]
    assert only["columns"] == {"en": {"values": [28], "mean": 28, "deviation": None, "interval": None}}
    assert summarise(table, results, seeds=[1])["seeds"] == [1]


def test_a_language_that_is_trained_but_no_column_is_left_out() -> None:
    table, results = by_hand(languages=["de"], rows=[{"name": "Both", "each": [["en", "de"]]}])
    (both,) = summarise(table, results)["rows"]
    assert list(both["columns"]) == ["de"]
    assert both["columns"]["de"]["values"] == [25, 15]


def test_a_seed_given_twice_counts_once() -> None:
    table, results = by_hand()
    twice = summarise(table, results, seeds=[0, 0, 1])
    assert twice["rows"] == summarise(table, results, seeds=[0, 1])["rows"]
    assert twice["seeds"] == [0, 1]


def test_an_unfinished_table_has_what_there_is() -> None:
    """Of "Alone", German with seed 1 is still to come; of "Both" there is one seed, which has no interval."""
    table, _ = by_hand()
    missing = {("Alone", "de", 1), ("Both", "de", 1)}

    def so_far(entry: TableEntry, code: str) -> float | None:
        seed = entry.recipe.training.seed
        return None if (entry.row, code, seed) in missing else NUMBERS[entry.row, code][seed]

    alone, both = (row["columns"] for row in summarise(table, results_of(table, so_far))["rows"])
    assert (alone["en"]["values"], alone["de"]["values"], alone["mean"]["values"]) == ([10, 14], [20], [15])
    assert both["mean"] == {"values": [18], "mean": 18, "deviation": None, "interval": None}
    assert [row["columns"] for row in summarise(table, {})["rows"]] == [{}, {}]


@given(st.lists(st.floats(0, 100), min_size=6, max_size=6), st.permutations(range(6)))
@settings(deadline=None)
def test_numbers_go_to_their_own_row_and_column_whatever_the_order_of_results(
    numbers: list[float], order: list[int]
) -> None:
    table = make_table(seeds=[4], languages=["en", "de", "fr"], rows=[{"name": "x", "each": "language"}, {"name": "y"}])
    places = {(row, code): 3 * at + n for at, row in enumerate("xy") for n, code in enumerate(("en", "de", "fr"))}
    results = results_of(table, lambda entry, code: numbers[places[entry.row, code]])
    shuffled = {key: results[key] for key in sorted(results, key=lambda key: order[list(results).index(key)])}
    for row in summarise(table, shuffled)["rows"]:
        for code in ("en", "de", "fr"):
            assert row["columns"][code]["values"] == [numbers[places[row["name"], code]]]


def test_the_mean_over_the_languages_that_a_row_was_trained_on() -> None:
    """Where rows have different languages, the column `mean` has a number for some of them only."""
    rows = [{"name": "Alone", "each": [["de"]]}, {"name": "Both"}]
    alone, both = summarise(*by_hand(rows=rows))["rows"]
    assert "mean" not in alone["columns"]
    assert alone["own_mean"]["mR"]["values"] == [20, 30]
    assert both["own_mean"]["mR"] == both["columns"]["mean"]
    table, _ = by_hand(rows=rows)
    assert [row["own_mean"] for row in summarise(table, {})["rows"]] == [{"mR": None}, {"mR": None}]


def test_points_of_lines_with_different_languages_have_a_mean_over_common_ones() -> None:
    """Seed by seed: the deviation is that of the mean over languages."""
    rows = [
        {"name": "1", "at": 1, "each": "language"},
        {"name": "2", "at": 2, "each": [["de", "en"]]},
        {"name": "3", "at": 3},
        {"name": "no point", "each": [["fr"]]},
    ]
    changes: dict[str, Any] = {"rows": rows, "languages": ["en", "de", "fr"], "base": {"corpus": {"name": "x"}}}
    table = make_table(**changes)
    numbers = {"en": (1, 5), "de": (5, 1), "fr": (90, 90)}
    results = results_of(table, lambda entry, code: numbers[code][entry.recipe.training.seed])
    summary = summarise(table, results)
    assert summary["common_languages"] == ["en", "de"]
    for row in summary["rows"][:3]:
        assert (row["common_mean"]["mR"]["values"], row["common_mean"]["mR"]["deviation"]) == ([3, 3], 0)
    assert summary["rows"][3]["common_mean"] == {"mR": None}
    assert summarise(table, {})["rows"][0]["common_mean"] == {"mR": None}
    same = summarise(make_table(**{**changes, "rows": [rows[0], rows[2], rows[3]]}), {})
    assert same["common_languages"] is None
    assert [row["common_mean"] for row in same["rows"]] == [None] * 3


def test_parameters_are_those_of_all_models_of_a_row() -> None:
    """Once for each model, however many seeds it was trained with."""
    table, results = by_hand(parameters=True)
    sizes = {entry.folder: 1000 * len(entry.group) for entry in table_entries(table)}
    for folder, result in results.items():
        results[folder] = replace(result, run=RunFacts(parameters=sizes[folder], word_parameters=sizes[folder] // 10))
    alone, both = summarise(table, results)["rows"]
    assert alone["parameters"] == both["parameters"] == {"all": 2000, "words": 200}
    assert [row["parameters"] for row in summarise(*by_hand())["rows"]] == [None, None]
    assert summarise(table, {})["rows"][0]["parameters"] is None


def test_seconds_are_those_of_one_training_on_average() -> None:
    table, results = by_hand(seconds=True)
    took = dict(zip(results, (1.0, 2.0, 3.0, 6.0, 10.0, 30.0), strict=True))
    for folder, result in results.items():
        results[folder] = replace(result, run=RunFacts(seconds=took[folder]))
    summary = summarise_table(table, results)
    assert [row.seconds for row in summary.rows] == [3.0, 20.0]
    (printed, *_) = experiment_tables(summary)
    assert [column.name for column in printed.columns][-1] == "seconds"
    assert [row[-1] for row in printed.rows if row[0] in ("Alone", "Both")] == [3.0, 20.0]
    assert [row.seconds for row in summarise_table(*by_hand()).rows] == [None, None]


def test_metrics_are_picked_by_direction_and_name() -> None:
    result = scores({"mR": 3}, {"R@10": 4, "median": 5}, {"R@1": 6})
    asked = ("mR", "text_to_image.R@10", "text_to_image.median", "image_to_text.R@1")
    assert [result.value(metric) for metric in asked] == [3, 4, 5, 6]
    with pytest.raises(UserError, match=r"no text_to_image\.R@1 was measured here; evaluate the run again"):
        result.value("text_to_image.R@1")
    with pytest.raises(UserError, match="accuracy is no measure of retrieval"):
        result.value("accuracy")


def test_a_model_selected_for_a_language_answers_for_it_alone() -> None:
    rows = [{"name": "Both", "select": "language"}]
    table = make_table(rows=rows, seeds=[0])
    chosen = {"en": {"en": 40.0, "de": 1.0}, "de": {"en": 2.0, "de": 30.0}}  # by the language it was selected for
    found = results_of(table, lambda entry, code: chosen[entry.selected or ""][code])
    (row,) = summarise(table, found)["rows"]
    assert {name: column["values"] for name, column in row["columns"].items() if name != "mean"} == {
        "en": [40.0],
        "de": [30.0],
    }


def test_how_trainings_went_on_dev_by_hand() -> None:
    """Seed 0 has two models that reach 20 at steps 20 and 40; one of seed 1's never does."""
    models = [
        (0, validated(((10, 5.0), (20, 25.0), (30, 22.0)), 20, 20)),
        (0, validated(((10, 5.0), (40, 21.0)), 40, 20)),
    ]
    models += [(1, validated(((10, 50.0),), 10, 20)), (1, validated(((10, 4.0), (20, 3.0)), 10, 20))]
    assert models[0][1] == Validated(25.0, 20, {"20": 20}) and models[3][1] == Validated(4.0, 10, {"20": None})
    found = validated_columns(models, reaches=20)
    assert {name: column.values for name, column in found.items()} == {
        "dev": [(25 + 21) / 2, (50 + 4) / 2],
        "best step": [30, 10],
        "steps to 20": [30],
        "seeds that reach 20": [1],
    }
    assert list(validated_columns(models, None)) == ["dev", "best step"]
    assert validated_columns([], 20) == {}
    partly = [*models, (2, validated(((10, 90.0),), 10, None))]  # of seed 2 one of two models is there
    assert validated_columns(partly, None)["dev"].values == [23, 27]


def test_a_table_tells_how_its_trainings_went_where_it_is_asked() -> None:
    table, results = by_hand(validation=True, reaches=6)
    told = {
        key: replace(found, validations=((10, 5.0), (20, 7.0)), run=RunFacts(best_step=20))
        for key, found in results.items()
    }
    assert summarise(table, told)["rows"][0]["validated"]["steps to 6"]["values"] == [20, 20]
    shown = experiment_tables(summarise_table(table, told))[1].markdown()
    assert "On the dev split" in shown and "7.0" in shown
    silent, results = by_hand()
    assert summarise(silent, told)["rows"][0]["validated"] == {}


def test_a_row_that_stays_empty_has_its_published_numbers_and_a_reason() -> None:
    rows = [{"name": "Both"}, {"name": "Theirs", "empty": "its weights are not public.", "published": {"en": 12.5}}]
    table = make_table(rows=rows, seeds=[0])
    assert {entry.row for entry in table_entries(table)} == {"Both"}
    summary = summarise_table(table, results_of(table, lambda entry, code: 10.0))
    assert summary.rows[1].columns == {}
    shown = experiment_tables(summary)[0].markdown()
    assert "12.5" in shown and "Theirs: not trained; its weights are not public." in shown
