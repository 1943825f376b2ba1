"""Models with a pretrained encoder, whose tokeniser goes along as data, and models that were taught a language."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from exported import ASKED, languages_for
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ENGLISH, GERMAN, make_recipe, make_world
from groundling.encoders import tokenisers
from groundling.encoders.picture.linear import LinearPictureEncoder
from groundling.encoders.text import PooledEncoder, PretrainedEncoder, TextEncoder
from groundling.encoders.text.autoencoded import AutoencodedPooling
from groundling.encoders.text.autoencoder import Autoencoder
from groundling.encoders.text.bidirectional import BidirectionalEncoder, BidirectionalSettings
from groundling.encoders.text.pooled import PooledSettings
from groundling.encoders.text.pretrained import PretrainedSettings
from groundling.encoders.tokenisers.hub import HubTokeniser
from groundling.encoders.tokenisers.words import WordTokeniser
from groundling.export import OnnxModel
from groundling.export.onnx_model import text_inputs
from groundling.export.write import export_run, text_graph
from groundling.model.trained import TrainedModel
from groundling.settings import TextSettings
from groundling.systems import Encoders
from groundling.training import train
from tiny_networks import save_bert

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

SHORT = TextSettings(minimum_count=1, maximum_length=7)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of one layer with random weights, as transformers saves it."""
    words = [*ENGLISH, *GERMAN, "##s", "##e", "狗", "d", "##o"]
    return save_bert(tmp_path_factory.mktemp("encoder"), words, initializer_range=0.5)


@pytest.fixture(scope="module")
def pieces(encoder: Path) -> HubTokeniser:
    return HubTokeniser.build(str(encoder), SHORT)


@settings(max_examples=200, deadline=None)
@given(texts=st.lists(st.text(max_size=30) | st.sampled_from([*ASKED, *ENGLISH, "dogs do " * 9]), max_size=5))
def test_word_pieces_are_cut_alike_without_the_encoder(pieces: HubTokeniser, texts: list[str]) -> None:
    exported = tokenisers.from_json(json.loads(json.dumps(pieces.exported())))
    ours, theirs = (some.encode(texts, ["en"] * len(texts)) for some in (exported, pieces))
    assert np.array_equal(ours.ids, theirs.ids)
    assert np.array_equal(ours.lengths, theirs.lengths)


@pytest.mark.parametrize("kind", ["pretrained", "pooled", "autoencoded"])
def test_a_transformer_has_the_vectors_of_pytorch(kind: str, pieces: HubTokeniser) -> None:
    from groundling import systems

    torch.manual_seed(0)
    made: TextEncoder = PooledEncoder(pieces, 8, PooledSettings(pooling="mean"))
    if kind == "pretrained":
        made = PretrainedEncoder(pieces, 8, PretrainedSettings(pooling="ends"))
    elif kind == "autoencoded":  # the teacher's states are both directions side by side
        words = WordTokeniser.build([*ENGLISH], ["en"] * len(ENGLISH), SHORT)
        teacher = BidirectionalEncoder(words, 8, BidirectionalSettings(word_dimensions=6, pooling="ends"))
        made = AutoencodedPooling(made, Autoencoder(made.state_dimensions, teacher.state_dimensions), teacher)
    encoders, system = Encoders(made, LinearPictureEncoder(12, 8)), systems.make({"name": "vse"})
    model = TrainedModel(make_recipe(), system, pieces, encoders, torch.device("cpu"))
    session = onnxruntime.InferenceSession(text_graph(model.readers[0].encoder, kind).data)
    expected = model.encode_text(ASKED, "en")
    tokens = pieces.encode(ASKED, ["en"] * len(ASKED))
    together = session.run(None, text_inputs(tokens, np.arange(len(ASKED))))[0]
    alone = np.concatenate([session.run(None, text_inputs(tokens, np.array([row])))[0] for row in range(len(ASKED))])
    assert np.abs(together - expected).max() < 1e-5
    assert np.abs(alone - expected).max() < 1e-5
    assert len(np.unique(expected.round(4), axis=0)) > 5


def test_a_taught_model_has_a_reader_for_each_of_its_languages(tmp_path: Path) -> None:
    world = make_world()
    given: dict[str, Any] = {"features": {"array": "features.npy", "names": "names.txt"}}
    few = {"maximum_steps": 2, "validate_every": 2}
    recipe = make_recipe(training=few, corpus={"languages": ["en"]}, **given)
    teacher = recipe.model_copy(update={"system": {"name": "vse", "dimensions": 16, "word_dimensions": 8}})
    train(teacher, world.under(teacher.corpus), tmp_path / "teacher", device="cpu")
    student = {"name": "clseave", "student": "characters", "layers": [12]}
    taught = make_recipe(training=few, **given).model_copy(
        update={"system": student, "start": str(tmp_path / "teacher")}
    )
    train(taught, world, tmp_path / "run", device="cpu", start=tmp_path / "teacher")
    manifest = export_run(tmp_path / "run", tmp_path / "exported")
    assert [reader.languages for reader in manifest.readers] == [[], ["de"]]
    model, exported = TrainedModel.load(tmp_path / "run", "cpu"), OnnxModel.load(tmp_path / "exported")
    for codes in (languages_for(ASKED), ["de"] * len(ASKED), ["en"] * len(ASKED), ["fr"] * len(ASKED)):
        assert np.abs(exported.encode_text(ASKED, codes) - model.encode_text(ASKED, codes)).max() < 1e-5
