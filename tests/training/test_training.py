import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from conftest import make_recipe, make_world
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.retrieval import evaluate_retrieval
from groundling.model import Model
from groundling.run import Run
from groundling.settings import TrainingSettings
from groundling.training import train
from groundling.training.metrics import read_metrics
from groundling.training.schedule import learning_rate
from power_cut import assert_goes_on_exactly, kill_9_at_any_moment, same_weights

SYSTEMS = {
    "lessons": {"name": "lessons", "dimensions": 24, "word_dimensions": 12, "caption_pairs_after": 10},
    "vse": {"name": "vse", "dimensions": 24, "word_dimensions": 12, "objective": "sum_of_hinges"},
    "bag": {"name": "bag", "dimensions": 24, "word_dimensions": 12, "buckets": 100, "dropout": 0.3},
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_system_learns_the_world_in_both_languages(system: str, world: Dataset, tmp_path: Path) -> None:
    recipe = make_recipe(system=SYSTEMS[system], training={"maximum_steps": 300, "validate_every": 50})
    run = train(recipe, world, tmp_path / "run", device="cpu")
    result = evaluate_retrieval(Model.load(run.folder, "cpu"), world).result.to_json()
    for code in ("en", "de"):  # 25 pictures: chance R@10 is 40
        assert result["languages"][code]["text_to_image"]["R@10"] > 80, system


def test_the_same_seed_gives_the_same_weights_and_another_does_not(world: Dataset, tmp_path: Path) -> None:
    one = train(make_recipe(), world, tmp_path / "one", device="cpu")
    two = train(make_recipe(), world, tmp_path / "two", device="cpu")
    other = train(make_recipe(training={"seed": 1}), world, tmp_path / "other", device="cpu")
    assert same_weights(one, two)
    assert not same_weights(one, other)


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("stop_after", [1, 2, 3])
def test_a_stopped_training_goes_on_exactly(
    system: str, stop_after: int, world: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped right after the first, second and third checkpoint (inside and at the end of an interval)."""
    assert_goes_on_exactly(make_recipe(system=SYSTEMS[system]), world, tmp_path, monkeypatch, stop_after)


CHILD = """
import sys, pathlib
sys.path.insert(0, sys.argv[2])
from conftest import make_recipe, make_world
from groundling.training import train
recipe = make_recipe(training={"maximum_steps": 400})
folder = pathlib.Path(sys.argv[1])
train(recipe, make_world(), folder, resume=folder.exists(), device="cpu", checkpoint_seconds=0)
"""


def test_kill_9_at_any_moment_then_resume_gives_the_same_weights(tmp_path: Path) -> None:
    whole = train(make_recipe(training={"maximum_steps": 400}), make_world(), tmp_path / "whole", device="cpu")
    killed = tmp_path / "killed"
    command = [sys.executable, "-c", CHILD, str(killed), str(Path(__file__).parent.parent)]
    kill_9_at_any_moment(lambda: subprocess.Popen(command, stderr=subprocess.DEVNULL), lambda: _steps(killed), 4)
    subprocess.run(command, check=True)
    assert same_weights(whole, Run(killed))


def _steps(folder: Path) -> int:
    try:
        return len((folder / "metrics.jsonl").read_text().splitlines())
    except FileNotFoundError:
        return 0


def test_training_stops_when_validation_no_longer_improves(world: Dataset, tmp_path: Path) -> None:
    recipe = make_recipe(training={"patience": 2, "learning_rate": 1e-9, "maximum_steps": 10_000})
    run = train(recipe, world, tmp_path / "run", device="cpu")
    facts = json.loads(run.facts_file.read_text())
    assert facts["steps"] == facts["best_step"] + 2 * 20


def test_the_kept_weights_are_those_of_the_best_validation(world: Dataset, tmp_path: Path) -> None:
    run = train(make_recipe(), world, tmp_path / "run", device="cpu")
    rows = [row for row in read_metrics(run.metrics_file) if "validation" in row]
    best = max(rows, key=lambda row: row["validation"])
    result = evaluate_retrieval(Model.load(run.folder, "cpu"), world, split="dev").result.to_json()
    total = sum(part["rsum"] for part in result["languages"].values())
    assert total == pytest.approx(best["validation"])


def test_vocabulary_comes_from_training_captions_only(world: Dataset, tmp_path: Path) -> None:
    corpus = world.corpus
    test_rows = corpus.splits[corpus.owners] == "test"
    texts = [f"{text} secret" if row else text for text, row in zip(corpus.texts, test_rows, strict=True)]
    changed = Dataset(type(corpus)(**{**corpus.__dict__, "texts": texts}), world.features)
    run = train(make_recipe(training={"maximum_steps": 20}), changed, tmp_path / "run", device="cpu")
    words = json.loads(run.tokeniser_file.read_text())["words"]
    assert "dog" in words
    assert "secret" not in words


def test_encoding_is_the_same_alone_and_in_company(world: Dataset, tmp_path: Path) -> None:
    run = train(make_recipe(training={"maximum_steps": 20}), world, tmp_path / "run", device="cpu")
    model = Model.load(run.folder, "cpu")
    texts = ["dog", "dog cat tree house", "", "zebra"]
    together = model.encode_text(texts, "en")
    alone = np.concatenate([model.encode_text([text], "en") for text in texts])
    assert np.allclose(together, alone, atol=1e-6)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)


def test_a_run_folder_is_not_overwritten(world: Dataset, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    train(make_recipe(training={"maximum_steps": 20}), world, folder, device="cpu")
    before = (folder / "best.safetensors").read_bytes()
    with pytest.raises(UserError, match="already"):
        train(make_recipe(training={"maximum_steps": 20}), world, folder, device="cpu")
    with pytest.raises(UserError, match="another recipe"):
        train(make_recipe(training={"maximum_steps": 40}), world, folder, resume=True, device="cpu")
    other = tmp_path / "mine"
    other.mkdir()
    (other / "letter.txt").write_text("dear")
    with pytest.raises(UserError, match="not empty"):
        train(make_recipe(), world, other, device="cpu")
    assert (folder / "best.safetensors").read_bytes() == before
    assert [file.name for file in other.iterdir()] == ["letter.txt"]


def test_a_damaged_checkpoint_or_weights_file_is_named(world: Dataset, tmp_path: Path) -> None:
    recipe = make_recipe(training={"maximum_steps": 20})
    run = train(recipe, world, tmp_path / "run", device="cpu")
    run.weights_file.write_bytes(run.weights_file.read_bytes()[:100])
    with pytest.raises(UserError, match=r"best\.safetensors: damaged"):
        Model.load(run.folder)
    run.facts_file.unlink()
    run.checkpoint_file.write_bytes(b"rubbish")
    with pytest.raises(UserError, match=r"checkpoint\.safetensors: this checkpoint cannot be used"):
        train(recipe, world, run.folder, resume=True, device="cpu")


def test_a_loss_that_explodes_is_told(world: Dataset, tmp_path: Path) -> None:
    features = world.features.copy()
    features[0] = np.nan
    with pytest.raises(UserError, match="the loss is nan"):
        train(
            make_recipe(training={"maximum_steps": 60}), Dataset(world.corpus, features), tmp_path / "run", device="cpu"
        )


def test_one_language_has_no_caption_pairs(world: Dataset, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="caption_pairs"):
        train(make_recipe(), world.only(["en"]), tmp_path / "run", device="cpu")


def test_learning_rate_by_hand() -> None:
    plain = TrainingSettings(learning_rate=0.1, decay_after=15)
    assert learning_rate(plain, 0, 14.9) == 0.1
    assert learning_rate(plain, 0, 15.0) == pytest.approx(0.01)
    assert learning_rate(plain, 0, 45.0) == pytest.approx(0.01)
    again = TrainingSettings(learning_rate=0.1, decay_after=15, decay_repeats=True)
    assert [learning_rate(again, 0, epoch) for epoch in (14.9, 15.0, 29.9, 30.0, 45.0)] == pytest.approx(
        [0.1, 0.01, 0.01, 0.001, 0.0001]
    )
    cosine = TrainingSettings(learning_rate=0.1, decay_to=0.2, maximum_steps=100)
    assert learning_rate(cosine, 0, 0) == pytest.approx(0.1)
    assert learning_rate(cosine, 50, 0) == pytest.approx(0.06)
    assert learning_rate(cosine, 100, 0) == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("batch_size", "languages", "every"),
    [(16, ["en", "de"], 25), (16, ["de"], 12), (128, ["en", "de"], 3), (150, ["en"], 1), (400, ["en"], 1)],
)
def test_validation_once_an_epoch(
    batch_size: int, languages: list[str], every: int, world: Dataset, tmp_path: Path
) -> None:
    """100 pictures with two captions in each of two languages: 400 captions, whole batches that go through them."""
    training = {"validate_every": "epoch", "batch_size": batch_size, "maximum_steps": 30, "learning_rate": 1e-9}
    recipe = make_recipe(system=SYSTEMS["bag"], training=training)
    run = train(recipe, world.only(languages), tmp_path / "run", device="cpu")
    steps = [line["step"] for line in read_metrics(run.metrics_file) if "validation" in line]
    validations = [*range(every, 30, every), 30]  # and at the last step
    assert steps == validations[: len(steps)]
    assert len(steps) == min(len(validations), steps.index(run_best(run)) + 11)  # all, or until patience (10) is lost


def run_best(run: Run) -> int:
    return int(json.loads(run.facts_file.read_text())["best_step"])


def test_validation_once_an_epoch_goes_on_exactly(
    world: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = make_recipe(system=SYSTEMS["bag"], training={"validate_every": "epoch", "maximum_steps": 40})
    assert_goes_on_exactly(recipe, world, tmp_path, monkeypatch)


@pytest.mark.parametrize("value", ["epok", 0, -1, 1.5])
def test_validate_every_is_steps_or_epoch(value: object) -> None:
    with pytest.raises(UserError, match="validate_every"):
        make_recipe(training={"validate_every": value})
