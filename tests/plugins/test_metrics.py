"""A metric from outside the package is measured, printed and may stand in a table, by one `register` call."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from groundling.errors import UserError
from groundling.evaluation.entailment_scores import measure_entailment
from groundling.evaluation.metrics import METRICS, EntailmentMetric, RankMetric, find
from groundling.evaluation.ranks import Ranks
from groundling.evaluation.recalls import recalls

sys.path.append(str(Path(__file__).parent.parent / "cli"))

import commands
from commands import call, child

own_ground, world_files = commands.own_ground, commands.world_files

SETTINGS = {
    "text": {"minimum_count": 1},
    "system": {"name": "bag", "dimensions": 8, "word_dimensions": 8, "buckets": 50},
    "training": {"batch_size": 16, "maximum_steps": 20, "validate_every": 10, "precision": "float32"},
}


def recipe_of(world: Path) -> dict[str, Any]:
    features = {"array": str(world / "features.npy"), "names": str(world / "names.txt")}
    return {"name": "tiny", "corpus": {"name": str(world / "corpus")}, "features": features, **SETTINGS}


def mean_reciprocal_rank(ranks: np.ndarray) -> float:
    return 100 * float((1 / ranks).mean())


@pytest.fixture
def mrr() -> Iterator[RankMetric]:
    metric = RankMetric(name="MRR", about="MRR: mean of 1 / rank, in percent", compute=mean_reciprocal_rank, decimals=2)
    METRICS.register("MRR", metric)
    yield metric
    del METRICS._own["MRR"]


def test_a_metric_of_ones_own_is_measured_by_direction(mrr: RankMetric) -> None:
    found = recalls(Ranks(text_to_image=np.array([1, 2, 4]), image_to_text=np.array([0, 2])))
    assert found.value("text_to_image.MRR") == pytest.approx(100 * (1 + 0.5 + 0.25) / 3)
    assert found.value("image_to_text.MRR") == 50  # a picture without captions asks nothing
    assert find("text_to_image.MRR").heading == "T→I MRR"


def test_a_finished_table_has_it_without_training_again(world_files: Path) -> None:
    """From the ranks that were saved: the weights are gone."""
    table = {"title": "T", "languages": ["en", "de"], "seeds": [0], "base": recipe_of(world_files)}
    Path("table.yaml").write_text(json.dumps({**table, "rows": [{"name": "bag"}]}))
    assert call("reproduce", "table.yaml", "--out", "tables").code == 0
    assert not list(Path("tables").rglob("best.safetensors"))
    Path("table.yaml").write_text(json.dumps({**table, "metrics": ["image_to_text.first"], "rows": [{"name": "bag"}]}))
    assert "no metric is called" in call("reproduce", "table.yaml", "--out", "tables").err
    METRICS.register("first", RankMetric(name="first", compute=lambda ranks: 100 * float((ranks == 1).mean())))
    try:
        shown = call("reproduce", "table.yaml", "--out", "tables", "--show", "--json").json
    finally:
        del METRICS._own["first"]
    (evaluation,) = Path("tables").rglob("evaluation.json")
    saved = json.loads(evaluation.read_text())["languages"]["de"]["image_to_text"]
    assert shown["rows"][0]["columns"]["de"]["mean"] == saved["R@1"]
    assert "first" not in saved


def test_it_stands_in_json_in_the_report_and_in_a_table(mrr: RankMetric, world_files: Path) -> None:
    recipe = recipe_of(world_files)
    Path("tiny.yaml").write_text(json.dumps(recipe))
    assert call("train", "tiny.yaml", "--out", "run").code == 0
    result = call("evaluate", "run", "--json").json
    number = result["languages"]["de"]["text_to_image"]["MRR"]
    assert 0 < number <= 100
    assert f"{number:.2f}" in call("evaluate", "run").out
    for name in ("report.html", "report.md"):
        report = Path("run", name).read_text()
        assert f"{number:.2f}" in report
        assert "MRR: mean of 1 / rank, in percent" in report
    rows = [{"name": "bag", "published": {"de": 12.5}}]
    table = {"title": "T", "metrics": ["text_to_image.MRR"], "languages": ["en", "de"], "seeds": [0], "base": recipe}
    Path("table.yaml").write_text(json.dumps({**table, "rows": rows}))
    summary = call("reproduce", "table.yaml", "--out", "tables", "--json").json
    assert summary["columns"][1]["metric"] == "text_to_image.MRR"
    assert summary["rows"][0]["columns"]["de"]["mean"] == pytest.approx(number)  # the same recipe, the same weights
    shown = call("reproduce", "table.yaml", "--out", "tables").out
    assert f"{number:.2f}" in shown
    assert "12.50" in shown  # as many digits as the metric has


def test_help_and_recipes_list_it(mrr: RankMetric) -> None:
    assert "MRR: mean of 1 / rank, in percent" in " ".join(call("evaluate", "--help").out.split())
    listed = {entry["name"]: entry for entry in call("recipes", "--json").json}
    assert listed["MRR"] == {"name": "MRR", "kind": "metric", "about": mrr.about}


def test_which_way_is_better_is_the_metrics_own() -> None:
    assert [find(name).sign for name in ("mR", "text_to_image.median", "log_loss")] == [1, -1, -1]
    assert find("accuracy").task == "entailment" != find("mR").task


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("R@10", r"R@10 is a metric of one direction: text_to_image\.R@10 or image_to_text\.R@10"),
        ("text_to_image.mR", 'mR is not a metric of one direction; write "mR"'),
        ("text_to_image.R@11", r'no metric is called "R@11" \(did you mean "R@1'),
        ("acuracy", r'no metric is called "acuracy" \(did you mean "accuracy"\?\)'),
    ],
)
def test_a_name_that_is_no_metric_is_a_sentence(name: str, words: str) -> None:
    with pytest.raises(UserError, match=words):
        find(name)


def test_a_metric_of_entailment() -> None:
    metric = EntailmentMetric(name="sure", about="Sure", compute=lambda found: float(found.probabilities.max()))
    METRICS.register("sure", metric)
    try:
        found = measure_entailment([0, 1], [[0.5, 0.25, 0.25], [0.1, 0.8, 0.1]], ["en", "de"])
        assert found.value("en", "sure") == 0.5
        assert found.mean["sure"] == pytest.approx(0.65)
        assert found.to_json()["languages"]["de"]["sure"] == 0.8
    finally:
        del METRICS._own["sure"]


def test_names_of_metrics_are_known_without_torch() -> None:
    """`groundling --help` and lists of tables must be quick."""
    code = "import sys, groundling.evaluation.metrics; print('torch' in sys.modules, 'numpy' in sys.modules)"
    assert child(code, capture_output=True).stdout.split() == ["False", "False"]


def test_a_training_may_be_validated_by_it(mrr: RankMetric, world_files: Path) -> None:
    recipe = recipe_of(world_files)
    recipe["training"] = {**recipe["training"], "validation_metric": "image_to_text.MRR"}
    Path("tiny.yaml").write_text(json.dumps(recipe))
    facts = call("train", "tiny.yaml", "--out", "run", "--json").json
    assert facts["score"] == "image_to_text.MRR"
    assert 0 < facts["best_score"] <= 200  # of two languages, each at most 100
    recipe["training"]["validation_metric"] = "accuracy"
    Path("wrong.yaml").write_text(json.dumps(recipe))
    said = call("train", "wrong.yaml", "--out", "wrong")
    assert "accuracy is no metric of systems that find pictures and captions" in said.err
