"""Tables of systems that judge statements: accuracy and loss, a judge that students share, measures that fit."""

from pathlib import Path
from typing import Any

import pytest
import small_tables
from small_tables import make_table, run_table

from groundling import recipes
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.experiments.how_it_was_made import how_it_was_made
from groundling.experiments.known import known_results, read_records
from groundling.experiments.results import summarise
from groundling.experiments.table_entries import TableEntry, start_of, table_entries
from groundling.experiments.table_settings import TableSettings
from groundling.files import read_json, write_json
from groundling.report.experiment import claims_table, experiment_table, interval_table
from groundling.report.experiment_figures import experiment_figures
from groundling.settings import check
from groundling.systems import meaning
from judged_world import make_judged

forget_datasets, trained = small_tables.forget_datasets, small_tables.trained

JUDGE = {"name": "clip_ve", "dimensions": 12, "word_dimensions": 8, "hidden": 16}
LONG = {"batch_size": 64, "learning_rate": 0.01, "length_pool": 1, "validate_every": 40, "maximum_steps": 80}
SHORT = {**LONG, "validate_every": 10, "maximum_steps": 20}
ROWS = [
    {
        "name": "blind",
        "set": {
            "start": None,
            "corpus.languages": ["en"],
            "system": {**JUDGE, "sees_pictures": False},
            "training": SHORT,
        },
    },
    {"name": "taught"},
    {"name": "words", "set": {"system": {"name": "clseave", "student": "words"}}},
]


@pytest.fixture(autouse=True)
def judged(monkeypatch: pytest.MonkeyPatch) -> None:
    world = make_judged()
    monkeypatch.setattr(Dataset, "load", staticmethod(lambda *_, **options: world))


def entailment_table(**changes: Any) -> TableSettings:
    values: dict[str, Any] = {
        "metrics": ["accuracy", "log_loss"],
        "base": {
            "corpus": {"name": "judged"},
            "text": {"minimum_count": 1},
            "system": {"name": "clseave", "student": "encoder"},
            "training": {**SHORT, "precision": "float32"},
            "start": {"corpus": {"languages": ["en"]}, "system": JUDGE, "training": LONG},
        },
        "rows": ROWS,
        "claims": [
            {"says": "seeing helps", "better": "taught", "than": "blind", "languages": ["en"], "metric": "accuracy"},
            {"says": "and is surer", "better": "taught", "than": "blind", "languages": ["en"], "metric": "log_loss"},
        ],
    }
    return make_table(**{**values, **changes})


def test_a_judge_its_students_and_one_that_is_blind(tmp_path: Path, trained: list[Path]) -> None:
    table = entailment_table()
    results = run_table(table, tmp_path)
    names = [folder.name.rsplit("-", 1)[0] for folder in trained]
    assert sorted(names) == sorted(
        name for seed in (0, 1) for name in (*[f"clip_ve-en-seed{seed}"] * 2, *[f"clseave-en+de-seed{seed}"] * 2)
    )
    found = summarise(table, results)
    blind, taught, words = (row.columns for row in found.rows)
    judges = [
        read_json(folder / "evaluation.json")["languages"]["en"]["accuracy"]
        for folder in trained
        if read_json(folder / "recipe.json")["system"].get("name") == "clip_ve"
        and read_json(folder / "recipe.json")["training"]["maximum_steps"] == LONG["maximum_steps"]
    ]
    assert taught["en accuracy"].values == pytest.approx(judges)
    assert words["en accuracy"].values == pytest.approx(judges)
    assert "de accuracy" not in blind
    assert taught["en accuracy"].mean > blind["en accuracy"].mean + 5
    assert taught["en log_loss"].mean < blind["en log_loss"].mean < 1.2
    seeing, surer = (claim.languages["en"] for claim in found.claims)
    means = {key: taught[f"en {key}"].mean - blind[f"en {key}"].mean for key in ("accuracy", "log_loss")}
    assert seeing.difference == pytest.approx(means["accuracy"])
    assert surer.difference == pytest.approx(-means["log_loss"])  # less of it is better
    lines = claims_table(found).markdown()
    assert f"+{surer.difference:.3f} ± " in lines
    assert "Difference of accuracy or loss, where less is better with the sign turned," in lines
    shown = experiment_table(found).markdown()
    assert f"{blind['en log_loss'].mean:.3f} ± " in shown
    assert "Accuracy: share of statements" in shown
    assert f"{taught['en log_loss'].mean + taught['en log_loss'].interval:.3f}" in interval_table(found).markdown()
    assert [caption for caption, _ in experiment_figures(found)] == ["accuracy", "loss"]


def test_how_a_table_was_made_tells_of_its_judges(tmp_path: Path) -> None:
    """They are no row of it. The table's JSON tells of them where their runs are gone."""
    table = entailment_table(rows=ROWS[1:], claims=[], metrics=["accuracy"])
    entries = list(table_entries(table))
    results = run_table(table, tmp_path / "runs")
    made = how_it_was_made("x", results, entries)
    assert (made["trainings"], made["steps"]) == (4, 4 * SHORT["maximum_steps"])
    assert (made["trainings that these build on"], made["their steps"]) == (2, 2 * LONG["maximum_steps"])
    assert made["their device"] == made["device"]
    write_json(tmp_path / "results.json", summarise(table, results).to_json())
    known = known_results(read_records([tmp_path / "results.json"]), [(table, entries)])
    assert how_it_was_made("x", known, entries) == {**made, "known from earlier JSON": 4}
    assert summarise(table, known) == summarise(table, results)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"metrics": ["mR"], "claims": [], "rows": ROWS[:1]},
            "mR is no measure of system clip_ve, which judges statements here",
        ),
        ({"metrics": ["mR"], "claims": [], "rows": ROWS[1:]}, "mR is no measure of system clseave, which judges"),
        (
            {"metrics": ["accuracy"], "claims": [], "base": small_tables.BASE, "rows": [{"name": "finds"}]},
            "accuracy is no measure of system bag, which finds pictures and captions here",
        ),
    ],
)
def test_a_measure_of_something_else_is_told_before_training(
    changes: dict[str, Any], words: str, tmp_path: Path, trained: list[Path]
) -> None:
    with pytest.raises(UserError, match=words):
        run_table(entailment_table(**changes), tmp_path)
    assert not trained


def test_a_claim_about_a_metric_that_is_not_in_the_table() -> None:
    with pytest.raises(UserError, match="log_loss is none of the table's metrics"):
        run_table(entailment_table(metrics=["accuracy"]), Path("nowhere"))


def test_a_judge_that_is_a_row_itself_is_trained_once(tmp_path: Path, trained: list[Path]) -> None:
    alone = {"start": None, "corpus.languages": ["en"], "system": JUDGE, "training": {**LONG, "precision": "float32"}}
    table = entailment_table(rows=[{"name": "judge", "set": alone}, {"name": "taught"}], claims=[])
    results = run_table(table, tmp_path)
    judges = {folder for folder in trained if folder.name.startswith("clip_ve")}
    assert len(judges) == 2  # one for each seed
    found = summarise(table, results)
    assert all(row.columns["en accuracy"].values for row in found.rows)
    apart = summarise(entailment_table(rows=table.model_dump()["rows"], metrics=["seen_accuracy"], claims=[]), results)
    for row, other in zip(apart.rows, found.rows, strict=True):  # this world has no new statements
        assert row.columns["en"].values == other.columns["en accuracy"].values


def entries_of(name: str) -> list[TableEntry]:
    return list(table_entries(check(TableSettings, recipes.read_table(name), name), [0, 1]))


def test_the_english_row_of_snli_ve_is_the_judge_that_its_students_start_from() -> None:
    """Equal folders: it is trained once for its row and for them, seed by seed."""
    entries = entries_of("snli-ve/table")
    english = {entry.recipe.training.seed: entry.folder for entry in entries if entry.row == "CLIP-VE"}
    students = [entry for entry in entries if entry.row != "CLIP-VE"]
    assert len(english) == 2 and len(students) == 12
    for entry in students:
        start = start_of(entry)
        assert start is not None and start.folder == english[entry.recipe.training.seed]


@pytest.mark.parametrize(
    ("table", "row", "recipe"),
    [
        ("snli-ve/table", "CLIP-VE", "snli-ve/clip-ve"),
        ("scenes/table", "CLSEAVE", "scenes/clip-ve"),
        ("e-snli-ve-flickr8k/table", "CLIP-VE from scratch", "e-snli-ve-flickr8k/clip-ve"),
    ],
)
def test_the_judge_of_a_table_is_the_recipe_of_its_own(table: str, row: str, recipe: str) -> None:
    """All but the corpus, which has its statements in more languages for the table of SNLI-VE."""
    entry = next(entry for entry in entries_of(table) if entry.row == row)
    judge, alone = meaning((start_of(entry) or entry).recipe), meaning(recipes.resolve(recipe, {}))
    assert {**judge, "corpus": {}} == {**alone, "corpus": {}}
