"""A whole journey on data of one's own: build, inspect, features, train, evaluate."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import commands
import pytest
from commands import Said, assert_one_sentence, call, content
from shapes import draw_shapes, write_table

from groundling import progress
from groundling.vision.backbones import Backbone

own_ground = commands.own_ground  # each test in a folder of its own


class Journey(NamedTuple):
    folder: Path
    built: Any
    inspected: Any
    features: Any
    facts: Any
    evaluation: Any
    report: Said


@pytest.fixture(scope="module")
def journey(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Journey]:
    """From a folder of pictures to a report, as a newcomer would go; the tests below look at what it left."""
    folder = tmp_path_factory.mktemp("journey")
    write_table(folder / "shapes", draw_shapes(folder / "shapes"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GROUNDLING_CACHE", str(folder / "cache"))
        patch.delenv("GROUNDLING_DATA", raising=False)
        patch.chdir(folder)
        built = call("corpus", "build", "shapes", "--out", "corpus", "--json").json
        inspected = call("corpus", "inspect", "corpus", "--json").json
        features = call("features", "corpus", "--size", 64, "--json").json

        def again(*_: object) -> None:
            raise AssertionError("these features are in the cache")

        patch.setattr(Backbone, "encode", again)
        settings = ["features.size=64", "text.minimum_count=1", "training.batch_size=16", "training.maximum_steps=120"]
        settings += ["training.learning_rate=0.005", "training.validate_every=40", "system.buckets=500"]
        assigned = [part for setting in settings for part in ("--set", setting)]
        facts = call("train", "--corpus", "corpus", "--system", "bag", *assigned, "--out", "run", "--json").json
        evaluation = call("evaluate", "run", "--json").json
        report = call("evaluate", "run")
    yield Journey(folder, built, inspected, features, facts, evaluation, report)
    progress.show(False)


def test_the_journey_s_corpus(journey: Journey) -> None:
    for facts in (journey.built, journey.inspected):
        assert (facts["name"], facts["pictures"], facts["captions"]) == ("shapes", 48, 96)
        assert facts["splits"]["train"] == {"pictures": 24, "en": 24, "de": 24}
        assert facts["splits"]["test"] == {"pictures": 12, "en": 12, "de": 12}
    assert journey.built["problems"] == []
    assert journey.built["folder"] == "corpus"
    leaks = journey.inspected["leaks"]
    assert leaks["captions"]["en"]["test"]["count"] == 12  # the same words were trained on, and inspect says so
    assert leaks["pictures_by_content"]["test"]["count"] == 0


def test_the_journey_s_features_and_training(journey: Journey) -> None:
    features = {key: journey.features[key] for key in ("corpus", "backbone", "pictures", "dimensions", "skipped")}
    assert features == {
        "corpus": "shapes",
        "backbone": "efficientnet-lite0",
        "pictures": 48,
        "dimensions": 1280,
        "skipped": [],
    }
    assert journey.facts["system"] == "bag"
    assert journey.facts["steps"] == 120
    assert sorted(journey.facts["languages"]) == ["de", "en"]
    recipe = json.loads((journey.folder / "run/recipe.json").read_text())
    assert recipe["system"] == {"name": "bag", "buckets": 500}
    assert recipe["training"]["maximum_steps"] == 120


def test_the_journey_s_evaluation_has_every_number(journey: Journey) -> None:
    result = journey.evaluation
    assert (result["corpus"], result["split"], result["pictures"], result["captions"]) == ("shapes", "test", 12, 24)
    assert set(result["languages"]) == {"en", "de"}
    for part in (*result["languages"].values(), result["mean"]):
        six = []
        for direction in ("image_to_text", "text_to_image"):
            assert set(part[direction]) == {"R@1", "R@5", "R@10", "median", "mean"}
            six += [part[direction][key] for key in ("R@1", "R@5", "R@10")]
        assert part["rsum"] == pytest.approx(sum(six))
        assert part["mR"] == pytest.approx(sum(six) / 6)
    assert result["chance"]["R@1"] == pytest.approx(100 / 12)
    for code in ("en", "de"):  # it has learnt: chance is 8.3
        assert result["languages"][code]["text_to_image"]["R@1"] > 40


def test_the_journey_s_report(journey: Journey) -> None:
    run = journey.folder / "run"
    kept = json.loads((run / "evaluation.json").read_text())
    kept["made"] = journey.evaluation["made"]  # for whoever publishes the numbers
    assert {key: value for key, value in kept.items() if key != "made_from"} == journey.evaluation
    html, markdown = (run / "report.html").read_text(), (run / "report.md").read_text()
    assert "✓" in html
    assert "✗" in html
    assert "a red circle" in html
    recall = f"{journey.evaluation['languages']['de']['text_to_image']['R@1']:.1f}"
    for text in (html, markdown, journey.report.out):
        assert "German" in text
        assert recall in text
    assert "Report: run/report.html" in journey.report.out


@pytest.fixture
def at_the_end(journey: Journey, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of where the journey ended, to go on from."""
    monkeypatch.setenv("GROUNDLING_CACHE", str(journey.folder / "cache"))
    shutil.copytree(journey.folder / "run", "run")
    recipe = json.loads(Path("run/recipe.json").read_text())
    recipe["corpus"]["name"] = str(journey.folder / "corpus")
    Path("run/recipe.json").write_text(json.dumps(recipe))
    Path("run/checksums.json").unlink()  # else the recipe is damaged
    return Path("run")


def test_an_evaluation_says_where_it_is_from(journey: Journey) -> None:
    made = journey.evaluation["made"]
    assert made["trained at"] == made["commit"] == journey.facts["commit"]
    assert made["device"] == journey.facts["device"]
    assert made["trained on"] == f"{made['device']}, {journey.facts['precision']}, {journey.facts['steps']:,} steps"


def test_evaluating_again_gives_the_same_and_other_questions_change_nothing(journey: Journey, at_the_end: Path) -> None:
    assert call("evaluate", at_the_end, "--json").json == journey.evaluation
    before = content(at_the_end)
    dev = call("evaluate", at_the_end, "--split", "dev", "--json").json
    assert dev["split"] == "dev"
    assert dev["pictures"] == 12
    other = call("evaluate", at_the_end, "--corpus", journey.folder / "corpus", "--json").json
    assert other == journey.evaluation
    said = call("evaluate", at_the_end, "--split", "train")
    assert "train" in said.out
    assert "Report:" not in said.out
    assert content(at_the_end) == before


def test_a_run_whose_corpus_is_gone_names_it(at_the_end: Path) -> None:
    recipe = json.loads((at_the_end / "recipe.json").read_text())
    recipe["corpus"]["name"] = "gone"
    (at_the_end / "recipe.json").write_text(json.dumps(recipe))
    assert_one_sentence(call("evaluate", at_the_end), 'no corpus, file or folder named "gone"')
    assert_one_sentence(call("train", "--resume", at_the_end), 'no corpus, file or folder named "gone"')


def test_quiet_commands_show_no_progress(journey: Journey, at_the_end: Path) -> None:
    call("--quiet", "evaluate", at_the_end)
    with progress.bar("Shown?", 1) as bar:
        assert type(bar).__name__ == "_Silent"
    call("evaluate", at_the_end)
    with progress.bar("Shown?", 1) as bar:
        assert type(bar).__name__ != "_Silent"
