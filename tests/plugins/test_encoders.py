"""A text encoder and a picture encoder from outside the package train, teach, are taught, exported and asked."""

from pathlib import Path
from typing import Any

import own_encoders  # one file; each encoder registers itself there by one line
import pytest

from conftest import make_recipe, make_world
from groundling.model.trained import TrainedModel
from groundling.settings import Recipe
from groundling.training import train

WORLD = make_world()
OWN = {"text": {"name": "own_mean", "layers": 2}, "picture": {"name": "own_deep"}}
ARRAY = {"array": "features.npy", "names": "names.txt"}


def recipe_of(system: dict[str, Any], **more: Any) -> Recipe:
    recipe = make_recipe(features=ARRAY, **more)
    return recipe.model_copy(update={"system": system})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that learned English."""
    folder = tmp_path_factory.mktemp("own") / "run"
    system = {"name": "vse", "dimensions": 16, "word_dimensions": 12, **OWN}
    recipe = recipe_of(system, corpus={"languages": ["en"]})
    train(recipe, WORLD.under(recipe.corpus), folder, device="cpu")
    return folder


def rsum(model: TrainedModel, language: str) -> float:
    """How often, of 100, a test picture is the first for its first caption."""
    test = WORLD.split("test")
    chosen = test.corpus.keep_captions(test.corpus.languages == language)
    scores = model.encode_text(chosen.texts, language) @ model.encode_features(test.features).T
    return 100 * float((scores.argmax(axis=1) == chosen.owners).mean())


def test_it_trains_and_is_loaded_again(run: Path) -> None:
    model = TrainedModel.load(run, "cpu")
    assert isinstance(model.encoders.text, own_encoders.MeanEncoder)
    assert isinstance(model.encoders.picture, own_encoders.DeepPictureEncoder)
    assert len(model.encoders.text.layers) == 5  # two hidden layers, as its own setting says
    assert model.encoders.text.pairs.embedding_dim == 12  # the system's setting, which the encoder has, too
    assert model.features == 12
    assert rsum(model, "en") > 40  # chance is 4
