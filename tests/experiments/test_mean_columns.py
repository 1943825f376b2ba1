"""Means over some of the languages (HA and A of SMALR), rows over their parameters, and tables of fewer columns."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from small_tables import make_table

from groundling.errors import UserError
from groundling.experiments.finished import Results
from groundling.experiments.results import summarise
from groundling.experiments.table_entries import table_entries
from groundling.experiments.table_settings import TableSettings, groups
from groundling.recipes import read_table
from groundling.report.experiment import experiment_table, experiment_tables, write_experiment
from groundling.settings import check
from made_results import entry_result, scores

THREE = ["en", "de", "fr"]
MEANS = {"HA": ["en", "de"], "A": THREE}


def table_of(**changes: Any) -> TableSettings:
    rows = [
        {"name": "One each", "each": [["en"], ["de"]], "published": {"en": 10, "HA": 11}},
        {"name": "Small", "line": "All", "set": {"training.batch_size": 32}, "published": {"A": 12}},
        {"name": "Large", "line": "All", "set": {"training.batch_size": 64}},
    ]
    return make_table(**{"languages": THREE, "means": MEANS, "rows": rows, "seeds": [0, 1], **changes})


def results_of(table: TableSettings) -> Results:
    """mR: 10, 20, 40 by language, one more in the second seed; parameters: as many millions as the batch has rows."""
    found: Results = {}
    for entry in table_entries(table):
        seed = entry.recipe.training.seed
        recalls = {code: scores({"mR": [10, 20, 40][THREE.index(code)] + seed}) for code in entry.group}
        size = entry.recipe.training.batch_size * 1_000_000
        facts = {"parameters": size, "word_parameters": size // 2, "trainable_parameters": size + 1_000_000}
        found[entry.key] = entry_result(recalls, facts)
    return found


def test_means_are_over_their_own_languages_and_need_all_of_them() -> None:
    table = table_of()
    summary = summarise(table, results_of(table))
    assert [column.name for column in summary.columns] == [*THREE, "HA", "A"]
    each, small, _ = summary.rows
    assert each.columns["HA"].values == [15, 16]
    assert "A" not in each.columns  # it has no French
    assert small.columns["A"].values == [pytest.approx(70 / 3), pytest.approx(73 / 3)]
    assert each.published == {"en": 10, "HA": 11}
    notes = experiment_table(summary).notes
    assert "HA: the mean of en, de." in notes
    assert "A: the mean of all languages." in notes


def test_a_claim_can_be_about_a_mean() -> None:
    claim = {"says": "no difference", "better": "Small", "than": "One each", "languages": ["HA"]}
    table = table_of(claims=[claim])
    (weighed,) = summarise(table, results_of(table)).claims
    assert weighed.languages["HA"].difference == 0
    (line,) = experiment_tables(summarise(table, results_of(table)))[-1].rows
    assert line[:2] == ["no difference", "HA"]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"means": {"HA": ["en", "cs"]}}, 'means: HA: no column is called "cs"'),
        ({"means": {"en": ["en", "de"]}}, 'means: "en" is the name of a language, too'),
        ({"means": {"all": THREE}}, 'published: no column is called "HA"'),
    ],
)
def test_means_that_cannot_be(changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(UserError, match=problem):
        list(table_entries(table_of(**changes)))


def test_rows_stand_over_their_parameters(tmp_path: Path) -> None:
    table = table_of(x="parameters", parameters="trainable")
    summary = summarise(table, results_of(table))
    assert [row.at for row in summary.rows] == [34.0, 33.0, 65.0]  # two models of 17, one of 33, one of 65
    shown = experiment_table(summary)
    assert [column.name for column in shown.columns][-3:] == ["all", "words", "trainable"]
    assert shown.rows[0][-3:] == [32.0, 16.0, 34.0]
    assert len({len(row) for row in shown.rows}) == 1
    write_experiment(tmp_path, "", summary, {})
    drawn = (tmp_path / "figure-2.svg").read_text()  # A, which the first row lacks
    assert "parameters (millions)" in drawn
    assert drawn.count('<g class="series">') == 1  # both rows of one line
    assert (tmp_path / "figure-1.svg").read_text().count('<g class="series">') == 2
    assert not (tmp_path / "figure-3.svg").exists()
    at_test_time = table_of(x="parameters")
    assert summarise(at_test_time, results_of(at_test_time)).rows[1].at == 32.0


def test_a_combination_that_is_learned_has_parameters_of_its_own() -> None:
    rows = [{"name": "Plain"}, {"name": "CLC-C", "ask": {"consistency": "learned"}}]
    table = table_of(rows=rows, parameters=True, seeds=[0])
    results = results_of(table)
    plain, learned = table_entries(table)
    results[learned.key] = replace(results[learned.key], more_parameters=128)
    sizes = [row.parameters["all"] for row in summarise(table, results).rows]
    assert sizes[1] - sizes[0] == 128
    assert plain.folder == learned.folder


def test_a_table_of_one_language_shows_models_that_were_trained_on_more() -> None:
    table = make_table(languages=["de"], trained_on=THREE, rows=[{"name": "All"}, {"name": "Own", "each": "language"}])
    assert {(entry.row, entry.group) for entry in table_entries(table)} == {("All", tuple(THREE)), ("Own", ("de",))}
    (first, *_), _ = [row.columns for row in summarise(table, results_of(table)).rows]
    assert first == "de"


def test_fewer_columns_report_less_and_train_the_same(tmp_path: Path) -> None:
    """Of a table that is like another, and of one whose base names the languages of its corpus."""
    rows = [{"name": "All"}, {"name": "Own", "each": "language"}]
    whole = make_table(rows=rows).model_dump(mode="json", exclude_none=True)
    (tmp_path / "whole.yaml").write_text(yaml.safe_dump(whole), encoding="utf-8")

    def trained(**values: Any) -> dict[str, list[tuple[str, ...]]]:
        (tmp_path / "part.yaml").write_text(yaml.safe_dump({"like": "whole.yaml", **values}), encoding="utf-8")
        table = TableSettings.model_validate(read_table(str(tmp_path / "part.yaml")))
        return {row.name: groups(table, row) for row in table.rows}

    assert trained(languages=["de"]) == {"All": [tuple(whole["languages"])], "Own": [("de",)]}
    assert trained(languages=["de"], trained_on=["de"]) == {"All": [("de",)], "Own": [("de",)]}
    assert trained(languages=["sv"]) == {"All": [("sv",)], "Own": [("sv",)]}  # not what the other one trains on
    base = {**whole["base"], "corpus": {**whole["base"].get("corpus", {}), "languages": ["de", "en"]}}
    assert trained(languages=["de"], base=base)["All"] == [("de", "en")]


def test_a_table_like_another_may_have_other_numbers_and_means(tmp_path: Path) -> None:
    whole = table_of().model_dump(exclude_defaults=True)
    (tmp_path / "whole.yaml").write_text(yaml.safe_dump(whole))
    part = {"like": "whole.yaml", "title": "German", "languages": ["de"], "means": {}, "trained_on": THREE}
    numbers = {"Small": {"de": 1.5}}
    (tmp_path / "part.yaml").write_text(yaml.safe_dump({**part, "published": numbers}))
    table = check(TableSettings, read_table(str(tmp_path / "part.yaml")), "part")
    assert {row.name: row.published for row in table.rows} == {"One each": {}, "Small": {"de": 1.5}, "Large": {}}
    assert table.means == {}
    whole_entries = {entry.folder for entry in table_entries(table_of())}
    assert {entry.folder for entry in table_entries(table)} == whole_entries  # the same trainings
    (tmp_path / "part.yaml").write_text(yaml.safe_dump({**part, "published": {"Smal": {"de": 1.5}}}))
    with pytest.raises(UserError, match=r'published: no row is called "Smal" \(did you mean "Small"\?\)'):
        read_table(str(tmp_path / "part.yaml"))
