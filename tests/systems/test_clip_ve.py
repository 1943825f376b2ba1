"""Judging statements: the head by hand, what is trained and what is frozen, and the same prediction on every path."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from conftest import make_recipe, make_world
from groundling import systems
from groundling.batches import DeviceBatch, TrainingData
from groundling.corpus.entailment import LABELS
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.entailment import evaluate_entailment
from groundling.files import read_json
from groundling.model import Model
from groundling.model.trained import TrainedModel
from groundling.run import Run
from groundling.settings import TextSettings
from groundling.systems import Context, JudgingEncoders, Plan
from groundling.training import loop, train
from groundling.training.metrics import read_metrics
from groundling.training.validation import EntailmentValidation, validation
from judged_world import judging_recipe, make_judged
from plans import plan
from power_cut import assert_goes_on_exactly

CPU = torch.device("cpu")
KINDS: dict[str, dict[str, Any]] = {
    "words": {},
    "last": {"pooling": "last"},
    "characters": {"text": "characters", "character_dimensions": 4, "layers": [16]},
    "cells": {"picture": "cells", "cells": 3, "cell_dimensions": 8, "questions": 2},
    "given": {"picture": "given", "dimensions": 12},
    "unseen": {"sees_pictures": False},
}


@pytest.fixture(scope="module")
def world() -> Dataset:
    return make_judged()


def ready(world: Dataset, **own: Any) -> tuple[Plan, JudgingEncoders, TrainingData]:
    """The plan of a training, its fresh encoders and the training statements."""
    torch.manual_seed(0)
    made = plan(judging_recipe(**own).system, world.judged().split("train"))
    assert isinstance(made.encoders, JudgingEncoders)
    return made, made.encoders, made.data


def batch_of(data: TrainingData, rows: list[int]) -> DeviceBatch:
    pairs = np.stack([rows, data.owners[rows]])
    longest = int(data.lengths[rows].max())
    return DeviceBatch("picture", torch.from_numpy(pairs), longest, torch.zeros(()))


def test_the_loss_is_that_of_the_statement_its_picture_and_its_label(world: Dataset) -> None:
    made, encoders, data = ready(world)
    encoders.eval()
    rows = [5, 0, 77, 200]
    loss = made.stage.loss(encoders, data, batch_of(data, rows))
    statements = world.corpus.judged().split("train").statements
    assert statements is not None
    tokeniser = made.tokeniser
    expected = []
    for row in rows:
        tokens = tokeniser.encode([statements.texts[row]], [str(statements.languages[row])])
        sentence = encoders.text(torch.from_numpy(tokens.ids), torch.from_numpy(tokens.lengths))
        picture = encoders.picture(torch.from_numpy(world.features[statements.owners[row]][None]))
        shares = encoders.head(sentence, picture).softmax(dim=1)[0]
        expected.append(-shares[LABELS.index(str(statements.labels[row]))].log())
    assert torch.allclose(loss, torch.stack(expected).mean(), atol=1e-6)


@pytest.mark.parametrize("kind", ["words", "characters", "cells"])
def test_a_frozen_picture_encoder_gets_no_gradient_and_keeps_its_statistics(kind: str, world: Dataset) -> None:
    made, encoders, data = ready(world, train_picture=False, **KINDS[kind])
    encoders.train()
    before = {name: value.clone() for name, value in encoders.picture.state_dict().items()}
    made.stage.loss(encoders, data, batch_of(data, list(range(40)))).backward()
    assert all(parameter.grad is None for parameter in encoders.picture.parameters())
    table = next(parameter for name, parameter in encoders.text.named_parameters() if "recurrent" not in name)
    assert table.grad is not None and table.grad.any()  # of words, or of letters: all of the encoder is reached
    assert all(torch.equal(before[name], value) for name, value in encoders.picture.state_dict().items())
    assert not encoders.picture.training
    assert encoders.text.training
    free = ready(world, **KINDS[kind])
    free[1].train()
    made.stage.loss(free[1], free[2], batch_of(free[2], list(range(40)))).backward()
    assert any(parameter.grad is not None and parameter.grad.any() for parameter in free[1].picture.parameters())


def test_a_frozen_text_encoder_stays_and_the_head_learns(world: Dataset) -> None:
    made, encoders, data = ready(world, train_text=False)
    encoders.train()
    made.stage.loss(encoders, data, batch_of(data, list(range(40)))).backward()
    assert all(parameter.grad is None for parameter in encoders.text.parameters())
    assert encoders.head.layers[2].weight.grad.any()  # type: ignore[union-attr, operator]


@pytest.mark.parametrize("kind", KINDS)
def test_it_learns_where_it_sees_and_words_alone_are_chance(kind: str, world: Dataset, tmp_path: Path) -> None:
    run = train(judging_recipe({"maximum_steps": 200}, **KINDS[kind]), world, tmp_path / "run", device="cpu")
    model = Model.load(run.folder, "cpu")
    result = evaluate_entailment(model, world).result.to_json()
    facts = read_json(run.facts_file)
    assert facts["score"] == "accuracy"
    assert facts["parameters_by_part"]["entailment head"] > 1000
    for code in ("en", "de"):
        accuracy = result["languages"][code]["accuracy"]
        assert accuracy > 60 if kind != "unseen" else accuracy < 50  # chance is 33
        assert result["text_only"][code]["words"] < 50
        assert result["languages"][code]["statements"] == 150


def test_every_path_gives_the_same_prediction(world: Dataset, tmp_path: Path) -> None:
    """Validation while training, the loaded model, all at once or one by one."""
    recipe = judging_recipe()
    run = train(recipe, world, tmp_path / "run", device="cpu")
    model = Model.load(run.folder, "cpu")
    part = world.judged().split("dev")
    texts, codes = part.corpus.texts, part.corpus.languages.tolist()
    together = model.judge_features(texts, part.features, codes, part.corpus.owners)
    assert together.dtype == np.float32
    assert np.allclose(together.sum(axis=1), 1, atol=1e-6)
    for row in (0, 7, 100):
        alone = model.judge_features([texts[row]], part.features[part.corpus.owners[row]][None], codes[row])
        assert np.allclose(alone[0], together[row], atol=1e-6)
    made = plan(recipe.system, part)
    validate = validation(
        replace(made, tokeniser=model.tokeniser), Context(recipe, part, part, CPU, lambda stage: None)
    )
    found = validate(model.encoders)
    right = together.argmax(axis=1) == part.corpus.classes()
    for code, accuracy in found.languages.items():
        assert accuracy == pytest.approx(100 * right[part.corpus.languages == code].mean())
    facts = read_json(run.facts_file)
    assert found.score == pytest.approx(facts["best_score"])  # the best weights were kept, and are what is loaded


def test_validation_switches_dropout_off_and_on_again(world: Dataset) -> None:
    _, encoders, data = ready(world, dropout=0.5)
    encoders.train()
    validate = EntailmentValidation(data, "float32", "all")
    first, again = validate(encoders), validate(encoders)
    assert first == again
    assert encoders.training
    assert encoders.head.dropout.training


def test_training_accuracy_is_told_beside_that_of_validation(world: Dataset, tmp_path: Path) -> None:
    recipe = judging_recipe({"maximum_steps": 20, "validate_every": 20})
    run = train(recipe, world, tmp_path / "run", device="cpu")
    (row,) = [row for row in read_metrics(run.metrics_file) if "validation" in row]
    model = TrainedModel.load(run.folder, "cpu")
    for key, split in (("accuracy", "dev"), ("training_accuracy", "train")):
        part = world.judged().split(split)
        texts, codes = part.corpus.texts, part.corpus.languages.tolist()
        logits = model.entailment_logits(texts, part.features, codes, part.corpus.owners)
        right = logits.argmax(axis=1) == part.corpus.classes()
        drawn = np.sort(np.random.default_rng(0).permutation(len(right))[: 25 * 6 * 2])  # as many as dev has
        chosen = right[drawn] if split == "train" else right
        codes = np.array(codes)[drawn] if split == "train" else np.array(codes)
        assert row[key] == pytest.approx(100 * np.mean([chosen[codes == code].mean() for code in ("en", "de")]))
    assert row["training_accuracy"] != row["accuracy"]


def test_the_best_and_not_the_last_weights_are_kept(world: Dataset, tmp_path: Path, monkeypatch: Any) -> None:
    last: dict[str, torch.Tensor] = {}
    original = loop.facts

    def look(plan: Plan, *others: Any) -> Any:
        last.update({name: value.clone() for name, value in plan.encoders.state_dict().items()})
        return original(plan, *others)

    monkeypatch.setattr(loop, "facts", look)
    recipe = judging_recipe({"maximum_steps": 400, "validate_every": 10, "patience": 2})
    run = train(recipe, world, tmp_path / "run", device="cpu")
    facts = read_json(run.facts_file)
    scores = {row["step"]: row["validation"] for row in read_metrics(run.metrics_file) if "validation" in row}
    assert facts["best_step"] == max(scores, key=lambda step: scores[step]) < facts["steps"]
    assert not torch.equal(load_file(run.weights_file)["verdict.layers.8.bias"], last["verdict.layers.8.bias"])


def test_it_can_stop_when_the_loss_first_rises(world: Dataset, tmp_path: Path) -> None:
    settings = {
        "maximum_steps": 1000,
        "validate_every": 10,
        "patience": 1,
        "validation_metric": "loss",
        "learning_rate": 3e-2,
    }
    run = train(judging_recipe(settings), world, tmp_path / "run", device="cpu")
    losses = [row["validation_loss"] for row in read_metrics(run.metrics_file) if "validation_loss" in row]
    assert losses[-1] >= losses[-2]
    assert all(after < before for before, after in pairwise(losses[:-1]))
    facts = read_json(run.facts_file)
    assert facts["steps"] < 1000
    assert facts["score"] == "minus the loss"
    assert facts["best_score"] == pytest.approx(-min(losses))


@pytest.mark.parametrize("kind", ["characters", "cells"])
def test_a_stopped_training_goes_on_exactly(kind: str, world: Dataset, tmp_path: Path, monkeypatch: Any) -> None:
    recipe = judging_recipe({"maximum_steps": 50}, **KINDS[kind])
    assert_goes_on_exactly(recipe, world, tmp_path, monkeypatch)


@pytest.mark.parametrize(
    ("earlier", "own"),
    [
        ({"name": "vse", "dimensions": 16, "word_dimensions": 8}, KINDS["last"]),
        (
            {"name": "liwe", "dimensions": 16, "word_dimensions": 8, "sampling": "lessons"}
            | {"character_dimensions": 4, "layers": [16]},
            {**KINDS["characters"], **KINDS["last"]},
        ),
    ],
)
def test_encoders_of_retrieval_are_taken_over_word_by_word(
    earlier: dict[str, Any], own: dict[str, Any], world: Dataset, tmp_path: Path
) -> None:
    retrieval = make_recipe(training={"maximum_steps": 5}).model_copy(update={"system": earlier})
    if earlier["name"] == "vse":  # "x" is in captions only, so that rows differ
        assert "x" in world.corpus.texts
    before = train(retrieval, world, tmp_path / "before", device="cpu")
    recipe = judging_recipe({"maximum_steps": 1, "learning_rate": 1e-12}, train_picture=False, **own)
    recipe = recipe.model_copy(update={"start": str(before.folder)})
    run = train(recipe, world, tmp_path / "run", device="cpu", start=before.folder)
    old, new = Model.load(before.folder, "cpu"), Model.load(run.folder, "cpu")
    assert old.tokeniser.size != new.tokeniser.size
    if earlier["name"] == "vse":
        ours, theirs = new.encode_text(["dog", "katze"], ["en", "de"]), old.encode_text(["dog", "katze"], ["en", "de"])
        assert np.allclose(ours, theirs, atol=1e-5)
    assert np.allclose(new.encode_features(world.features[:5]), old.encode_features(world.features[:5]), atol=1e-6)


def test_a_run_before_of_another_kind_is_refused(world: Dataset, tmp_path: Path) -> None:
    before = train(make_recipe(training={"maximum_steps": 2}), world, tmp_path / "before", device="cpu")
    recipe = judging_recipe(text="characters", dimensions=24).model_copy(update={"start": str(before.folder)})
    with pytest.raises(UserError, match="start: the text encoder of this lessons run is of another kind or size"):
        train(recipe, world, tmp_path / "run", device="cpu", start=before.folder)
    recipe = judging_recipe(dimensions=24, word_dimensions=12, pooling="last", picture="cells", cells=3)
    with pytest.raises(UserError, match="start: the picture encoder of this lessons run"):
        train(recipe, world, tmp_path / "run", device="cpu", start=before.folder)


def test_features_that_do_not_fit_the_picture_encoder_are_told() -> None:
    tokeniser = systems.make({"name": "vse"}).load_tokeniser(
        {"words": ["a"], "settings": TextSettings().model_dump(), "kind": "words"}
    )
    cells = systems.make({"name": "clip_ve", "picture": "cells", "cells": 4})
    with pytest.raises(UserError, match="6 features cannot be those of 4 cells"):
        cells.encoders(tokeniser, 6)
    given = systems.make({"name": "clip_ve", "picture": "given", "dimensions": 8})
    with pytest.raises(UserError, match=r"set system.dimensions=6"):
        given.encoders(tokeniser, 6)


def test_a_corpus_without_statements_and_a_model_without_a_head(tmp_path: Path) -> None:
    plain = make_world()
    with pytest.raises(UserError, match="corpus world has no statements"):
        train(judging_recipe(), plain, tmp_path / "run", device="cpu")
    run = train(make_recipe(training={"maximum_steps": 2}), plain, tmp_path / "other", device="cpu")
    model = Model.load(run.folder, "cpu")
    assert not model.judges
    with pytest.raises(UserError, match=r"system lessons cannot tell .*: clip_ve"):
        model.judge(["dog"], ["dog.png"], "en")
    settings = make_recipe(training={"validation_metric": "loss"})
    with pytest.raises(UserError, match=r"validation_metric: loss is no metric of systems that find pictures"):
        train(settings, plain, tmp_path / "third", device="cpu")


def test_counts_that_do_not_match(world: Dataset, tmp_path: Path) -> None:
    run = train(judging_recipe({"maximum_steps": 2}), world, tmp_path / "run", device="cpu")
    model = Model.load(run.folder, "cpu")
    assert model.judges
    assert model.judge([], [], "en").shape == (0, 3)
    with pytest.raises(ValueError, match="2 texts but 1 pictures"):
        model.judge(["a", "b"], ["a.png"], "en")
    with pytest.raises(ValueError, match="1 texts but 2 pictures"):
        model.judge_features(["a"], world.features[:2], "en")
    with pytest.raises(UserError, match="12 features each, but was given 5"):
        model.judge_features(["a"], np.zeros((1, 5), dtype=np.float32), "en")


def test_only_the_languages_of_the_recipe_are_learned(world: Dataset, tmp_path: Path) -> None:
    only = world.only(["de"])
    run = train(judging_recipe({"maximum_steps": 2}), only, tmp_path / "run", device="cpu")
    assert read_json(run.facts_file)["languages"] == ["de"]
    assert list(evaluate_entailment(Model.load(run.folder, "cpu"), only).result.to_json()["languages"]) == ["de"]
    assert Run(run.folder).finished


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_looks_at_no_number_on_its_way(kind: str, world: Dataset) -> None:
    """As a recorded step on a GPU needs it; fake tensors have no values to look at."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    made, encoders, data = ready(world, **KINDS[kind])
    encoders.train()
    batch = batch_of(data, list(range(8)))
    with FakeTensorMode(allow_non_fake_inputs=True) as fake:
        rows = fake.from_tensor(batch.rows)
        made.stage.loss(
            encoders, data, DeviceBatch(batch.kind, rows, batch.longest, fake.from_tensor(batch.step))
        ).backward()


def test_a_model_of_cells_cannot_be_searched_with(world: Dataset, tmp_path: Path) -> None:
    run = train(judging_recipe({"maximum_steps": 2}, **KINDS["cells"]), world, tmp_path / "run", device="cpu")
    with pytest.raises(UserError, match="judges pictures cell by cell and cannot find them"):
        Model.load(run.folder, "cpu").score(["dog"], ["dog.png"], "en")


def test_picture_files_are_looked_at_once_each(world: Dataset, tmp_path: Path, monkeypatch: Any) -> None:
    from groundling.vision import from_settings

    looked: list[list[str]] = []

    def look(paths: list[Path], settings: Any) -> Any:
        looked.append([path.name for path in paths])
        return np.stack([world.features[int(path.stem)] for path in paths])

    monkeypatch.setattr(from_settings, "file_features", look)
    run = train(judging_recipe({"maximum_steps": 20}), world, tmp_path / "run", device="cpu")
    model = Model.load(run.folder, "cpu")
    texts, codes = ["dog", "katze", "dog"], ["en", "de", "en"]
    found = model.judge(texts, ["7.png", "3.png", "7.png"], codes)
    assert looked == [["7.png", "3.png"]]
    assert np.allclose(found, model.judge_features(texts, world.features[[7, 3, 7]], codes), atol=1e-6)
