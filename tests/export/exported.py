"""Tiny models of every kind, untrained, and a run of one of them with a tiny backbone: all that exporting needs."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file
from torch import Tensor, nn

from conftest import make_recipe, make_world
from groundling import systems
from groundling.corpus import Corpus
from groundling.export.write import export_run
from groundling.files import write_json
from groundling.model.trained import TrainedModel
from groundling.run import Run
from groundling.settings import Recipe
from groundling.systems import System
from groundling.training.planned import context_of
from groundling.vision import backbones
from groundling.vision.backbones import Backbone
from groundling.vision.view import View, on_grid
from plans import dataset_of

FEATURES = 12
WORDS = {"dimensions": 16, "word_dimensions": 8}
NETWORK = {"dimensions": 16, "vectors": "random", "word_dimensions": 8, "universal_dimensions": 10}
NETWORK |= {"state_dimensions": 12, "picture_dimensions": 20}
LATENT = {"latent": {"tokens": 6, "epochs": 1, "batch_size": 25}}
OWN = {"own_words": 4, "own_dimensions": 6}
LETTERS = {**WORDS, "character_dimensions": 4, "longest_word": 9}
KINDS: dict[str, dict[str, Any]] = {
    "words": {"name": "vse", **WORDS},
    "bag": {"name": "bag", **WORDS, "buckets": 64},
    "last of both directions": {"name": "clmr", **WORDS},
    "ends of both directions": {"name": "clmr", **WORDS, "pooling": "ends"},
    "layers of letters": {"name": "liwe", **LETTERS, "layers": [10, 9]},
    "letters one by one": {"name": "liwe", **LETTERS, "words": "charGRU", "pooling": "ends", "boundaries": True},
    "universal": {"name": "mule", **NETWORK},
    "a branch for each language": {"name": "par_embn", **NETWORK},
    "words that languages share": {"name": "la", **NETWORK, **LATENT},
    "own words and shared ones": {"name": "hem", **NETWORK, **LATENT, **OWN},
    "the same, with masks": {"name": "smalr", **NETWORK, **LATENT, **OWN},
}
JUDGING = {"name": "clip_ve", "dimensions": 64, "word_dimensions": 64, "hidden": 6}
TEMPERATURE = 0.4  # of models that judge
CELLS = {"name": "clip_ve", **WORDS, "hidden": 6, "picture": "cells", "cells": 9, "cell_dimensions": 5, "questions": 2}
# What nobody has met in training, of several scripts; nothing at all; more words than are read; one endless word.
ASKED = ["dog", "", "hund katze", "собака Ещё", "一只狗 dog", "🦜", "house " * 70, "x" * 300, "e\u0301té l'eau", "कुत्ता"]
ASKED += ["boat sun fish", "baum", "CAT Katze", "สุนัข", "… —", "bird horse car tree house boat"]


def make_model(
    values: dict[str, Any], corpus: Corpus, recipe: Recipe | None = None, features: int = FEATURES
) -> TrainedModel:
    """With random weights that are large enough for captions to differ, and statistics as if it had been trained."""
    torch.manual_seed(0)
    recipe = (recipe or make_recipe()).model_copy(update={"system": values})
    system: System = systems.make(values)
    tokeniser = system.tokeniser(context_of(recipe, dataset_of(corpus, features)))
    encoders = system.encoders(tokeniser, features)
    with torch.no_grad():
        for name, value in encoders.named_parameters():
            if value.dim() > 1 and "original" not in name:
                value.copy_(torch.randn_like(value) * 0.4)
        for name, kept in encoders.named_buffers():
            if kept.is_floating_point() and "running" in name and not name.startswith("verdict"):
                kept.copy_(torch.rand_like(kept) + 0.5)
    return TrainedModel(recipe, system, tokeniser, encoders, torch.device("cpu"))


def save(model: TrainedModel, folder: Path, languages: list[str]) -> Run:
    """As training leaves it."""
    run = Run(folder)
    run.save_recipe(model.recipe)
    write_json(run.tokeniser_file, model.tokeniser.to_json())
    save_file({name: value.contiguous() for name, value in model.encoders.state_dict().items()}, run.weights_file)
    write_json(run.facts_file, {"languages": languages, **({"temperature": TEMPERATURE} if model.judges else {})})
    return run


def small_backbone(size: int | None, view: View, tuned: object = None, trainable: bool = False) -> Backbone:
    """A network of random weights, so small that it exports in no time."""
    torch.manual_seed(1)
    maps = nn.Sequential(nn.Conv2d(3, 8, 5, 4), nn.ReLU(), nn.Conv2d(8, FEATURES, 3, 2), nn.ReLU())
    maps.eval().requires_grad_(False)

    def network(pictures: Tensor) -> Tensor:
        return on_grid(maps(pictures), view.grid)

    return Backbone("small", FEATURES * view.grid**2, size or 32, network, seen=view)


def run_that_sees(folder: Path, values: dict[str, Any], **features: Any) -> Run:
    """A run whose backbone is that network; it must be known by its name when the run is used."""
    recipe = make_recipe(features={"backbone": "small", "size": 32, **features})
    width = FEATURES * recipe.features.grid**2
    return save(make_model(values, make_world().corpus, recipe, width), folder, ["de", "en"])


_SEEING: list[Run] = []


@pytest.fixture(scope="session")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that finds and judges pictures, exported beside it: once, whichever files ask for it."""
    if not _SEEING:
        with small_backbone_known():
            run = run_that_sees(tmp_path_factory.mktemp("seeing") / "run", JUDGING, crops=10)
            export_run(run.folder, run.folder.parent / "exported")
        _SEEING.append(run)
    return _SEEING[0]


@pytest.fixture(scope="session")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Squares of colours, tall, wide, grey and transparent."""
    place, draw = tmp_path_factory.mktemp("photos"), np.random.default_rng(0)
    for number in range(12):
        size = (40 + 9 * number, 130 - 7 * number)
        mode = ("RGB", "L", "RGBA")[number % 3]
        shape = (size[1], size[0], {"RGB": 3, "L": 1, "RGBA": 4}[mode])
        pixels = draw.integers(0, 256, shape, dtype=np.uint8).repeat(2, axis=0)[: size[1]]
        Image.fromarray(pixels.squeeze() if mode == "L" else pixels, mode).save(place / f"{number}.png")
    return place


@contextmanager
def small_backbone_known() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(backbones.LOADERS, "small", small_backbone)
        yield


def languages_for(texts: list[str]) -> list[str]:
    return ["en" if number % 3 else "de" for number in range(len(texts))]
