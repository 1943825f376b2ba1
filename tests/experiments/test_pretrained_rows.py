"""A pretrained model as a row of a table: evaluated once, bound to its files, beside trained rows."""

import sys
from pathlib import Path
from typing import Any

import pytest
import small_tables
from small_tables import BASE, make_table, run_table

from groundling import api
from groundling.errors import UserError
from groundling.evaluation.request import EvaluationRequest
from groundling.evaluation.saved import evaluate_model
from groundling.experiments.results import summarise
from groundling.experiments.table_entries import table_entries
from groundling.model import load
from groundling.run import Run
from groundling.settings import Recipe, check
from pretrained_folders import save_pair

sys.path.append(str(Path(__file__).parent.parent / "cli"))

from shapes import COLOURS, SHAPES, draw_shapes, write_table

forget_datasets, trained = small_tables.forget_datasets, small_tables.trained


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "cache"))
    write_table(tmp_path / "shapes", draw_shapes(tmp_path / "shapes"))
    save_pair(tmp_path / "clip", "CLIP", [*COLOURS, *SHAPES, "a"])
    return tmp_path


def table_of(ground: Path, **changes: Any) -> small_tables.TableSettings:
    features = {"backbone": "efficientnet-lite0", "size": 32}
    base = {**BASE, "corpus": {"name": str(ground / "shapes")}, "features": features}
    clip = {"name": "pretrained", "model": str(ground / "clip")}
    rows = [{"name": "CLIP", "set": {"system": clip}}, {"name": "asked in English", "set": {"system": clip}}]
    rows[1]["ask"] = {"translate_to": "en", "source": "comparable"}
    return make_table(base=base, rows=rows, parameters=True, **changes)


def test_it_is_evaluated_once_whatever_the_seeds(ground: Path, trained: list[Path]) -> None:
    table = table_of(ground)
    first, asked = table_entries(table)  # one entry for both seeds
    results = run_table(table, ground / "out")
    assert trained == []
    by_hand = evaluate_model(
        load(str(ground / "clip")), EvaluationRequest(str(ground / "shapes")), out=ground / "by hand"
    ).result
    row, translated = summarise(table, results).rows
    for code in ("de", "en"):
        assert row.columns[code].mean == by_hand.value(code, "mR")
        assert row.columns[code].values == [by_hand.value(code, "mR")]
    assert translated.columns["en"].mean == row.columns["en"].mean  # as they are
    assert row.parameters is not None and row.parameters["words"] == 16 * (5 + 9)
    run = Run(ground / "out" / first.folder)
    before = run.evaluation_file.stat().st_mtime_ns
    assert run_table(table, ground / "out") == results
    assert run.evaluation_file.stat().st_mtime_ns == before
    assert asked.folder == first.folder


def test_another_model_in_its_folder_is_evaluated_anew(ground: Path) -> None:
    table = table_of(ground, seeds=[0])
    old = run_table(table, ground / "out")
    save_pair(ground / "clip", "CLIP", [*COLOURS, *SHAPES, "a"], seed=7)
    assert run_table(table, ground / "out") != old


def test_mistakes_are_said_before_anything_is_trained(ground: Path, trained: list[Path]) -> None:
    lost = make_table(base=BASE, rows=[{"name": "one", "set": {"system": {"name": "pretrained", "model": "gone"}}}])
    with pytest.raises(UserError, match="gone: neither the folder of a run"):
        run_table(lost, ground / "out")
    with pytest.raises(UserError, match="accuracy is no measure of a pretrained model"):
        run_table(table_of(ground, metrics=["accuracy"]), ground / "out")
    assert trained == []
    assert not (ground / "out").exists()


def test_there_is_nothing_to_train(ground: Path) -> None:
    recipe = check(Recipe, {"corpus": {"name": "emoji"}, "system": {"name": "pretrained", "model": "a/b"}}, "recipe")
    with pytest.raises(UserError, match="pretrained is used as it is, and not trained: `groundling evaluate a/b"):
        api.train_recipe(recipe, ground / "run")
