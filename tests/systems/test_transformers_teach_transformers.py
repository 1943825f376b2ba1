"""A transformers teacher with a transformers student, by sentences and by words: as published, with tiny networks."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from conftest import ENGLISH, GERMAN, make_recipe
from groundling.dataset import Dataset
from groundling.evaluation.retrieval import evaluate_retrieval
from groundling.files import read_json
from groundling.model import Model
from groundling.training import train
from tiny_networks import save_bert

pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def teacher(world: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of English whose text encoder is a BERT."""
    folder = tmp_path_factory.mktemp("teacher")
    bert = save_bert(folder / "bert", ENGLISH)
    recipe = make_recipe(training={"maximum_steps": 150, "validate_every": 50}, corpus={"languages": ["en"]})
    system = {"name": "vse", "dimensions": 16, "text": {"name": "pretrained", "encoder": str(bert)}}
    recipe = recipe.model_copy(update={"system": system})
    train(recipe, world.under(recipe.corpus), folder / "run", device="cpu")
    shutil.rmtree(bert)
    return folder / "run"


@pytest.mark.parametrize("system", ["clseave", "clteave"])
def test_german_is_learned_from_a_transformer_by_a_transformer(
    system: str, teacher: Path, world: Dataset, tmp_path: Path
) -> None:
    student = save_bert(tmp_path / "bert", GERMAN, size=24)  # other states than the teacher's
    training = {"maximum_steps": 200, "validate_every": 50, "warm_up": 0.1, "optimiser": "adamw", "learning_rate": 5e-3}
    own = {"name": system, "student": f"hub:{student}"}
    recipe = make_recipe(training=training).model_copy(update={"system": own, "start": str(teacher)})
    train(recipe, world, tmp_path / "run", device="cpu", start=teacher)
    shutil.rmtree(student)
    before, model = Model.load(teacher, "cpu"), Model.load(tmp_path / "run", "cpu")
    old, new = (evaluate_retrieval(part, world).result.to_json()["languages"] for part in (before, model))
    assert new["en"] == old["en"]
    assert new["de"]["mR"] > old["de"]["mR"] + 10
    texts = world.corpus.only(["en"]).texts[:20]
    assert np.array_equal(model.encode_text(texts, "en"), before.encode_text(texts, "en"))
    assert len(list((tmp_path / "run/pretrained").iterdir())) == 2  # configurations and tokenisers of both
    assert read_json(tmp_path / "run/run.json")["languages"] == ["en", "de"]
