"""A folded run: the same scores, fewer numbers, nothing of the old run touched."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from conftest import GERMAN, make_recipe, make_world
from groundling import systems
from groundling.dataset import Dataset
from groundling.encoders.compact import Plan, plan
from groundling.encoders.tokenisers.by_language import LanguageTokeniser
from groundling.errors import UserError
from groundling.evaluation.parameters import count_model
from groundling.evaluation.retrieval import evaluate_retrieval
from groundling.model import Model
from groundling.run import Run
from groundling.settings import TextSettings
from groundling.training import train
from groundling.training.compact import compact

SMALL: dict[str, Any] = {
    "dimensions": 16,
    "word_dimensions": 12,
    "universal_dimensions": 20,
    "state_dimensions": 24,
    "picture_dimensions": 32,
    "vectors": "random",
}
LATENT = {"latent": {"tokens": 12, "epochs": 2, "batch_size": 25}}
SETTINGS: dict[str, dict[str, Any]] = {
    "embn": {},
    "par_embn": {},
    "mule": {"align_epochs": 1},
    "la": LATENT,
    "hem": {**LATENT, "own_words": 4, "own_dimensions": 6},
    "smalr": {**LATENT, "own_words": 4, "own_dimensions": 6},
}


pytestmark = pytest.mark.usefixtures("own_cache")


def trained(name: str, world: Dataset, folder: Path, **changes: Any) -> Run:
    system = {"name": name, **SMALL, **SETTINGS[name], **changes}
    return train(make_recipe(system=system, training={"maximum_steps": 20}), world, folder, device="cpu")


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_same_scores_from_fewer_numbers(name: str, world: Dataset, tmp_path: Path) -> None:
    world = world.only(["de"]) if name == "embn" else world
    run = trained(name, world, tmp_path / "run")
    before = files(run.folder)
    told = compact(run.folder, tmp_path / "small")
    assert files(run.folder) == before
    old, new = Model.load(run.folder), Model.load(tmp_path / "small")
    corpus = world.corpus
    captions = [
        model.encode_text([*corpus.texts, "unknown"], [*corpus.languages.tolist(), "de"]) for model in (old, new)
    ]
    pictures = [model.encode_features(world.features) for model in (old, new)]
    assert np.abs(captions[0] @ pictures[0].T - captions[1] @ pictures[1].T).max() < 1e-5
    one, other = (evaluate_retrieval(model, world, "test").result.to_json()["languages"] for model in (old, new))
    assert one == other
    parts = count_model(new)
    assert sum(part.test_time for part in parts) == told.compact < told.test_time
    # Every number of the file is one that runs.
    assert told.compact == sum(value.numel() for value in new.encoders.state_dict().values())
    assert told.bytes_after < told.bytes_before


@pytest.mark.parametrize(("german", "kept"), [(10, True), (3, False)])
def test_a_map_is_kept_where_that_is_smaller(german: int, kept: bool, tmp_path: Path) -> None:
    """From 2 dimensions to 5 a map has 15 numbers, which six rows are worth: 6·2 + 15 < 6·5."""
    world = make_world()
    dropped = set(GERMAN[german:])
    texts = [" ".join(word for word in text.split() if word not in dropped) for text in world.corpus.texts]
    world = replace(world, corpus=replace(world.corpus, texts=texts))
    run = trained("mule", world, tmp_path / "run", word_dimensions=2, universal_dimensions=5)
    compact(run.folder, tmp_path / "small")
    old, new = Model.load(run.folder), Model.load(tmp_path / "small")
    words: Any = new.encoders.text.words
    assert words.mapped == [kept, True]
    one, other = (model.encode_text(texts, world.corpus.languages.tolist()) for model in (old, new))
    assert np.allclose(one, other, atol=1e-6)


def test_plans_by_hand() -> None:
    # MULE with 8,000 words to a language: 300 numbers each and a map are less than 512 each.
    assert plan([1, 8001, 16001], 300, 512, 0, 1024, 1, True) == Plan(512, (True, True))
    # 700 words are worth no map of 154,112 numbers, for 700 · 212 is less.
    assert plan([1, 701, 8701], 300, 512, 0, 1024, 1, True) == Plan(512, (False, True))
    # One GRU for each language takes the maps in.
    assert plan([1, 8001, 16001], 300, 512, 0, 1024, 2, True) == Plan(300, (False, False))
    assert plan([1, 8001], 300, 512, 0, 1024, 1, True) == Plan(300, (False,))
    # Tokens are universal embeddings, which the GRU must still read.
    assert plan([1, 5001], 50, 512, 100, 1024, 1, True) == Plan(512, (True,))
    assert plan([1, 2, 3], 512, 512, 100, 1024, 1, False) == Plan(512, (False, False))


def test_mistakes_are_told_and_leave_everything_alone(world: Dataset, tmp_path: Path) -> None:
    run = trained("mule", world, tmp_path / "run")
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "notes.txt").write_text("mine")
    with pytest.raises(UserError, match="there: is there already"):
        compact(run.folder, tmp_path / "there")
    with pytest.raises(UserError, match="no run here"):
        compact(tmp_path / "nowhere", tmp_path / "small")
    compact(run.folder, tmp_path / "small")
    with pytest.raises(UserError, match="is compact already"):
        compact(tmp_path / "small", tmp_path / "smaller")
    lessons = train(make_recipe(training={"maximum_steps": 20}), world, tmp_path / "lessons", device="cpu")
    with pytest.raises(UserError, match="a model of system lessons has nothing to fold"):
        compact(lessons.folder, tmp_path / "smaller")
    assert not (tmp_path / "smaller").exists()
    recipe = make_recipe(system={"name": "mule", **SMALL, "compact": True})
    with pytest.raises(UserError, match="cannot be trained"):
        train(recipe, world, tmp_path / "new", device="cpu")


def test_the_published_size() -> None:
    """Seed 001 ends with 7.1M parameters: no words at all, and a GRU with a state of 512."""
    system = systems.make({"name": "la", "compact": True, "state_dimensions": 512})
    encoders = system.encoders(LanguageTokeniser({"en": ()}, TextSettings(), 512), 2048)
    words = sum(value.numel() for value in encoders.text.words.parameters())
    consistency = 10 * 32 + 32
    folded_norm = 2 * 2048
    total = sum(value.numel() for value in encoders.parameters()) - words + folded_norm + consistency
    assert total == 7_088_480
    assert isinstance(encoders.picture.norm, torch.nn.Identity)
