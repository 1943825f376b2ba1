"""A picture network that is trained: it learns what the frozen one cannot see, and the run holds it."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file
from torch import Tensor, nn
from torch._subclasses.fake_tensor import FakeTensorMode

from conftest import make_recipe
from groundling.batches import DeviceBatch
from groundling.corpus import Corpus
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.retrieval import evaluate_retrieval
from groundling.model.trained import TrainedModel as Model
from groundling.objectives import mixed_languages
from groundling.run import Run
from groundling.settings import FeatureSettings, Recipe
from groundling.training import train
from groundling.vision import backbones, tuned, tuning
from groundling.vision.backbones import Backbone
from groundling.vision.efficientnet_lite import ConvNorm
from groundling.vision.from_settings import corpus_features
from groundling.vision.view import View
from plans import plan

COLOURS = {
    "red": (220, 40, 30),
    "green": (40, 200, 60),
    "blue": (30, 60, 220),
    "white": (230, 230, 230),
    "black": (9, 9, 9),
}
GERMAN = {"red": "rot", "green": "grün", "blue": "blau", "white": "weiß", "black": "schwarz"}
FEATURES = {"backbone": "tiny", "size": 32, "mirror": True}


class Tiny(nn.Module):
    """Weights at random, and nearly blind at first: it sees how bright a picture is, and neither colours nor places."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.maps = nn.Sequential(ConvNorm(3, 8, 3, 2), ConvNorm(8, 16, 3, 2))
        with torch.no_grad():
            for layer in self.maps:
                weight = layer.conv.weight
                weight.copy_(weight.mean(dim=(1, 2, 3), keepdim=True).expand_as(weight))

    def forward(self, pictures: Tensor) -> Tensor:
        return self.maps(pictures).mean(dim=(2, 3))

    def fuse(self) -> None:
        for module in self.modules():
            if isinstance(module, ConvNorm):
                module.fuse()


def load(size: int | None, view: View, weights: tuned.Weights | None = None, trainable: bool = False) -> Backbone:
    network = Tiny()
    if weights is not None:
        weights.into(network, "tiny")
    if not trainable:
        with torch.no_grad():
            network.fuse()
        network.eval().requires_grad_(False)
    return Backbone("tiny", 16, size or 32, network, fingerprint="" if weights is None else weights.fingerprint)


@pytest.fixture(autouse=True)
def tiny(monkeypatch: pytest.MonkeyPatch, own_cache: Path) -> None:
    monkeypatch.setitem(backbones.LOADERS, "tiny", load)


@pytest.fixture(scope="module")
def flags(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """Pictures of two colours, one above the other, which captions in two languages name from the top."""
    root, draw = tmp_path_factory.mktemp("flags"), np.random.default_rng(0)
    names, owners, codes, texts = [], [], [], []
    pairs = [(a, b) for a in COLOURS for b in COLOURS if a != b]
    for number in range(100):
        above, below = pairs[number % len(pairs)]
        picture = np.concatenate([np.tile(COLOURS[above], (25, 60, 1)), np.tile(COLOURS[below], (25, 60, 1))])
        noisy = np.clip(picture + draw.normal(0, 12, picture.shape), 0, 255).astype(np.uint8)
        names.append(f"{number}.png")
        Image.fromarray(noisy).save(root / names[-1])
        for code, words in (("en", {name: name for name in COLOURS}), ("de", GERMAN)):
            owners.append(number)
            codes.append(code)
            texts.append(f"{words[above]} {words[below]}")
    splits = np.array(["train"] * 60 + ["dev"] * 20 + ["test"] * 20)
    origins = np.array(["human"] * len(texts))
    return Corpus("flags", np.array(names), splits, np.array(owners), np.array(codes), texts, origins, root)


def dataset_of(corpus: Corpus) -> Dataset:
    features, _ = corpus_features(corpus, FeatureSettings.model_validate(FEATURES))
    return Dataset(corpus, features)


def recipe_of(steps: int = 120, **system: Any) -> Recipe:
    training = {"batch_size": 20, "optimiser": "adamw", "moving_average": 0.9, "maximum_steps": steps, "clip": 2.0}
    small = {"name": "polyglot", "dimensions": 16, "word_dimensions": 8, "hidden": 12, "captions": 2, "dropout": 0.0}
    more = {"word_dropout": 0.0, "picture_dropout": 0.0, "picture_learning_rate": 5e-3, "tune": True, **system}
    recipe = make_recipe(training=training, features=FEATURES)
    return recipe.model_copy(update={"system": {**small, **more}})


@pytest.fixture
def run(flags: Corpus, tmp_path: Path) -> Run:
    return train(recipe_of(), dataset_of(flags), tmp_path / "run", device="cpu")


def test_a_tuned_network_sees_what_the_frozen_one_does_not_and_the_run_holds_it(
    run: Run, flags: Corpus, tmp_path: Path
) -> None:
    model = Model.load(run.folder, "cpu")
    assert model.feature_settings is not None
    seen = without_files(flags, model)
    tuned_recall = evaluate_retrieval(model, seen).result.to_json()["mean"]["mR"]
    frozen = train(recipe_of(tune=False, noise=0.0), dataset_of(flags), tmp_path / "frozen", device="cpu")
    frozen_recall = evaluate_retrieval(Model.load(frozen.folder, "cpu"), dataset_of(flags)).result.to_json()["mean"][
        "mR"
    ]
    assert tuned_recall > frozen_recall + 5
    # Files, and features that the run keeps for machines without them, are the same to it.
    assert flags.root is not None
    paths = [flags.root / name for name in flags.split("test").pictures.tolist()]
    np.testing.assert_allclose(
        model.encode_pictures(paths), model.encode_features(seen.split("test").features), atol=2e-2
    )
    weights = load_file(run.weights_file)
    statistics = {name: value for name, value in Tiny().state_dict().items() if "running" in name}
    for name, value in statistics.items():
        assert torch.equal(weights[f"network.{name}"], value)  # they stay as they are
    assert not torch.equal(weights["network.maps.0.conv.weight"], Tiny().state_dict()["maps.0.conv.weight"])


def test_who_looks_through_the_network_of_another_run_takes_it_along(run: Run, flags: Corpus, tmp_path: Path) -> None:
    assert flags.root is not None
    paths = [flags.root / name for name in flags.pictures[:3].tolist()]
    vectors = Model.load(run.folder, "cpu").encode_pictures(paths)
    pairs = [(text, f"{text}-o") for text in ("red blue", "green red", "white black", "blue green", "black red")]
    file = tmp_path / "pairs.tsv"
    lines = [f"{known} {number}\t{new}" for number in range(12) for known, new in pairs]
    file.write_text("en\teo\n" + "\n".join(lines) + "\n")
    from groundling.training.teaching import Lesson, teach

    teach(Lesson(str(run.folder), ("eo",), str(file), steps=4, minimum_count=1), tmp_path / "taught", device="cpu")
    shutil.move(run.folder, tmp_path / "away")
    taught = Model.load(tmp_path / "taught", "cpu")
    np.testing.assert_allclose(taught.encode_pictures(paths), vectors, atol=1e-6)
    assert taught.picture_fingerprint and without_files(flags, taught).features.shape == (40, 16)


def without_files(flags: Corpus, model: Model) -> Dataset:
    """As a machine sees it that has no pictures."""
    corpus = replace(flags, root=None).keep_pictures(flags.splits != "train")
    assert model.feature_settings is not None
    features, usable = corpus_features(corpus, model.feature_settings)
    assert usable.all()
    return Dataset(corpus, features)


def test_a_killed_training_ends_in_the_same_weights(
    flags: Corpus, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from groundling.training import checkpoint

    dataset, recipe = dataset_of(flags), recipe_of(40)
    whole = train(recipe, dataset, tmp_path / "whole", device="cpu", checkpoint_seconds=1e9)
    save = checkpoint.save

    def killed(*arguments: Any) -> None:
        save(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(checkpoint, "save", killed)
    with pytest.raises(KeyboardInterrupt):
        train(recipe, dataset, tmp_path / "killed", device="cpu", checkpoint_seconds=0)
    monkeypatch.setattr(checkpoint, "save", save)
    resumed = train(recipe, dataset, tmp_path / "killed", resume=True, device="cpu", checkpoint_seconds=1e9)
    one, other = load_file(whole.weights_file), load_file(resumed.weights_file)
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_a_step_can_be_recorded(flags: Corpus, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing on the way from the pictures' pixels to the loss looks at a value of the batch."""
    made = plan(recipe_of().system, dataset_of(flags).split("train"), {"batch_size": 16}, features=FEATURES)
    batch = made.stage.sampler.batch(0)
    in_groups = mixed_languages.read_in_groups
    # as a GPU does
    monkeypatch.setattr(mixed_languages, "read", lambda *told: in_groups(told[0], told[1], told[2], batch.packing))
    assert made.stage.bring is not None
    made.stage.bring(batch)
    with FakeTensorMode(allow_non_fake_inputs=True) as fake:
        rows, step = fake.from_tensor(torch.from_numpy(batch.rows)), fake.from_tensor(torch.zeros(()))
        made.stage.loss(made.encoders.train(), made.data, DeviceBatch(batch.kind, rows, batch.longest, step)).backward()


def test_without_pictures_it_is_said(flags: Corpus, tmp_path: Path) -> None:
    dataset = dataset_of(flags)
    with pytest.raises(UserError, match="corpus flags has no picture files here"):
        train(recipe_of(), replace(dataset, corpus=replace(flags, root=None)), tmp_path / "run", device="cpu")


def test_a_network_is_compiled_only_where_that_can_be_done(monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = torch.device("cuda")
    monkeypatch.setattr(tuning, "find_spec", lambda _: object())
    monkeypatch.setattr(tuning.shutil, "which", lambda name: "/usr/bin/gcc" if name == "gcc" else None)
    assert tuning.can_compile(gpu)
    assert not tuning.can_compile(torch.device("cpu"))
    monkeypatch.setattr(tuning.shutil, "which", lambda _: None)
    assert not tuning.can_compile(gpu)
    monkeypatch.undo()
    monkeypatch.setattr(tuning, "find_spec", lambda _: None)
    assert not tuning.can_compile(gpu)
