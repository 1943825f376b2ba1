"""A judge is calibrated when its training ends; old runs are as before; students have their teacher's temperature."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conftest import make_recipe
from groundling.calibration import fit_temperature, log_loss, probabilities
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.entailment import evaluate_entailment, statement_classes
from groundling.files import read_json, write_json
from groundling.model import Model
from groundling.run import Run
from groundling.training import train
from groundling.training.calibrating import calibrate
from judged_world import judging_recipe, make_judged


@pytest.fixture(scope="module")
def judged() -> Dataset:
    return make_judged()


@pytest.fixture(scope="module")
def trained(judged: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Long enough to be too sure of itself."""
    folder = tmp_path_factory.mktemp("judge") / "run"
    recipe = judging_recipe({"maximum_steps": 200, "validate_every": 100})
    train(recipe, judged, folder, device="cpu")
    return folder


@pytest.fixture
def run(trained: Path, tmp_path: Path) -> Run:
    return Run(Path(shutil.copytree(trained, tmp_path / "run")))


def uncalibrated(run: Run) -> Run:
    """As runs were before there were temperatures."""
    facts = read_json(run.facts_file)
    write_json(run.facts_file, {key: value for key, value in facts.items() if not key.startswith("temperature")})
    run.seal()
    return run


def test_training_leaves_the_temperature_that_dev_statements_ask_for(run: Run, judged: Dataset) -> None:
    facts, model = read_json(run.facts_file), Model.load(run.folder, "cpu")
    assert facts["temperature_from"] == "300 dev statements of judged"
    assert model.temperature == facts["temperature"] != 1
    dev = judged.judged().split("dev")
    logits = model.entailment_logits(dev.corpus.texts, dev.features, dev.corpus.languages.tolist(), dev.corpus.owners)
    classes = statement_classes(dev.corpus)
    assert facts["temperature"] == fit_temperature(logits, classes)
    losses = {other: log_loss(logits, classes, other) for other in np.geomspace(0.1, 50, 300)}
    assert log_loss(logits, classes, model.temperature) <= min(losses.values())


def test_a_run_without_a_temperature_is_as_it_was(run: Run, judged: Dataset) -> None:
    with_one = evaluate_entailment(Model.load(run.folder, "cpu"), judged)
    model = Model.load(uncalibrated(run).folder, "cpu")
    assert model.temperature == 1
    without = evaluate_entailment(model, judged)
    part = judged.judged().split("test")
    logits = model.entailment_logits(
        part.corpus.texts, part.features, part.corpus.languages.tolist(), part.corpus.owners
    )
    shares = np.exp(logits.astype(np.float64))
    np.testing.assert_allclose(without.probabilities, shares / shares.sum(axis=1, keepdims=True), rtol=1e-5, atol=1e-9)
    told, untold = with_one.result.to_json(), without.result.to_json()
    assert "uncalibrated" not in untold
    assert (with_one.probabilities.argmax(axis=1) == without.probabilities.argmax(axis=1)).all()
    for key in ("accuracy", "confusion", "low", "high"):
        assert told["overall"][key] == untold["overall"][key]
    for key in ("log_loss", "calibration_error"):
        assert told["uncalibrated"]["languages"]["de"][key] == untold["languages"]["de"][key]
        assert told["uncalibrated"]["mean"][key] == untold["mean"][key]
        assert told["overall"][key] < untold["overall"][key]
    run.facts_file.unlink()  # weights of a training that goes on
    assert Model.load(run.folder, "cpu").temperature == 1


def test_probabilities_are_those_of_the_temperature(run: Run, judged: Dataset) -> None:
    model = Model.load(run.folder, "cpu")
    asked = (["dog", "hund"], judged.features[:2], ["en", "de"])
    expected = probabilities(model.entailment_logits(*asked), model.temperature)
    assert (model.judge_features(*asked) == expected).all()


@pytest.mark.parametrize("value", [0, -1.0, "hot", None, True, float("inf")])
def test_a_temperature_that_is_none_is_named(run: Run, value: object) -> None:
    text = run.facts_file.read_text()
    run.facts_file.write_text(text.replace(str(read_json(run.facts_file)["temperature"]), _json(value)))
    run.seal()
    with pytest.raises(UserError, match=r"run\.json: temperature: a number above 0 is needed"):
        Model.load(run.folder, "cpu")


def _json(value: object) -> str:
    return {"hot": '"hot"', None: "null", True: "true", float("inf"): "Infinity"}.get(value, str(value))  # type: ignore[call-overload,no-any-return]


def test_a_student_has_the_temperature_of_its_teacher(trained: Path, judged: Dataset, tmp_path: Path) -> None:
    english = tmp_path / "english"
    recipe = judging_recipe({"maximum_steps": 100, "validate_every": 50})
    recipe = recipe.model_copy(update={"corpus": recipe.corpus.model_copy(update={"languages": ["en"]})})
    train(recipe, judged.under(recipe.corpus), english, device="cpu")
    student = make_recipe(training={"maximum_steps": 5, "validate_every": 5})
    own = {"name": "clseave", "student": "words"}
    student = student.model_copy(update={"system": own, "start": str(english)})
    train(student, judged, tmp_path / "student", device="cpu", start=english)
    facts = read_json(Run(tmp_path / "student").facts_file)
    assert facts["temperature"] == Run(english).temperature() != 1
    assert facts["temperature_from"] == "the teacher"
    one, two = (Model.load(folder, "cpu") for folder in (english, tmp_path / "student"))
    asked = (["dog", "cat"], judged.features[:2], "en")
    np.testing.assert_allclose(one.judge_features(*asked), two.judge_features(*asked), rtol=1e-4)


def test_what_is_calibrated_later_is_as_if_it_had_been_at_once(
    run: Run, judged: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Dataset, "load", staticmethod(lambda *_: judged))
    facts = read_json(run.facts_file)
    found = calibrate(uncalibrated(run).folder, device="cpu")
    assert read_json(run.facts_file) == facts
    assert found.temperature == facts["temperature"]
    assert found.before == 1
    assert found.loss_calibrated < found.loss_uncalibrated


def test_a_power_cut_leaves_the_run_as_it_was(run: Run, judged: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Dataset, "load", staticmethod(lambda *_: judged))
    before = {path.name: path.read_bytes() for path in uncalibrated(run).folder.iterdir() if path.is_file()}

    def cut(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", cut)
        with pytest.raises(KeyboardInterrupt):
            calibrate(run.folder, device="cpu")
    assert {path.name: path.read_bytes() for path in run.folder.iterdir() if path.is_file()} == before
    calibrate(run.folder, device="cpu")
    assert Model.load(run.folder, "cpu").temperature != 1


def test_mistakes_change_nothing(run: Run, judged: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    few = judged.having(judged.corpus.keep_pictures(np.arange(150) % 25 < 6))
    monkeypatch.setattr(Dataset, "load", staticmethod(lambda *_: few))
    before = run.facts_file.read_bytes()
    with pytest.raises(UserError, match=r"stays what it was.*72 dev statements of judged: fewer than 100 statements"):
        calibrate(run.folder, device="cpu")
    upside_down = replace(judged, features=-judged.features)
    monkeypatch.setattr(Dataset, "load", staticmethod(lambda *_: upside_down))
    with pytest.raises(UserError, match=r"judges 300 dev statements of judged no better than a guess would"):
        calibrate(run.folder, device="cpu")
    with pytest.raises(UserError, match="only dev statements are free"):
        calibrate(run.folder, split="test", device="cpu")
    assert run.facts_file.read_bytes() == before
    run.facts_file.unlink()
    with pytest.raises(UserError, match="not finished"):
        calibrate(run.folder, device="cpu")


def test_too_few_dev_statements_leave_a_temperature_of_1(judged: Dataset, tmp_path: Path) -> None:
    few = judged.having(judged.corpus.keep_pictures((np.arange(150) < 100) | (np.arange(150) % 25 < 6)))
    train(judging_recipe({"maximum_steps": 5, "validate_every": 5}), few, tmp_path / "run", device="cpu")
    facts = read_json(tmp_path / "run" / "run.json")
    assert facts["temperature"] == 1
    assert facts["temperature_from"] == "not fitted on 72 dev statements of judged: fewer than 100 statements"


def test_a_model_that_finds_pictures_has_none(world: Dataset, tmp_path: Path) -> None:
    run = train(make_recipe(training={"maximum_steps": 5, "validate_every": 5}), world, tmp_path / "run", device="cpu")
    assert "temperature" not in read_json(run.facts_file)
    with pytest.raises(UserError, match="no probabilities that could be calibrated"):
        calibrate(run.folder, device="cpu")
