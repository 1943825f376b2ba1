"""Every kind of encoder as a graph: the vectors of PyTorch, for captions of any length in any company."""

import json
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from exported import ASKED, KINDS, languages_for, make_model
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import make_world
from groundling.encoders import tokenisers
from groundling.export.onnx_model import text_inputs
from groundling.export.write import make_graph, text_graph
from groundling.model.trained import TrainedModel

onnxruntime = pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

WORLD = make_world()
TRACED = [kind for kind in KINDS if kind != "the same, with masks"]  # whose encoders are those of the kind before it


@cache
def traced(kind: str) -> tuple[TrainedModel, Any]:
    model = make_model(KINDS[kind], WORLD.corpus)
    return model, onnxruntime.InferenceSession(text_graph(model.readers[0].encoder, kind).data)


def encode(kind: str, texts: list[str], codes: list[str], wider: int = 0) -> npt.NDArray[np.float32]:
    """By the graph, all at once; `wider` adds so many columns of padding that is not even zero."""
    model, session = traced(kind)
    tokens = tokenisers.from_json(json.loads(json.dumps(model.tokeniser.exported()))).encode(texts, codes)
    inputs = text_inputs(tokens, np.arange(len(texts)))
    inputs["ids"] = np.pad(inputs["ids"], ((0, 0), (0, wider)), constant_values=int(inputs["ids"].max()))
    return np.asarray(session.run(None, inputs)[0])


@pytest.mark.parametrize("kind", TRACED)
def test_captions_of_all_lengths_and_scripts_have_the_vectors_of_pytorch(kind: str) -> None:
    codes = languages_for(ASKED)
    expected = traced(kind)[0].encode_text(ASKED, codes)
    assert np.abs(encode(kind, ASKED, codes) - expected).max() < 1e-5
    assert len(np.unique(expected.round(4), axis=0)) >= 5  # or equality would mean nothing


@pytest.mark.parametrize("kind", TRACED)
def test_neither_company_nor_padding_changes_a_caption(kind: str) -> None:
    codes = languages_for(ASKED)
    together = encode(kind, ASKED, codes)
    alone = np.concatenate([encode(kind, [text], [code]) for text, code in zip(ASKED, codes, strict=True)])
    assert np.abs(together - alone).max() < 1e-5
    assert np.abs(together - encode(kind, ASKED, codes, wider=9)).max() < 1e-5


@pytest.mark.parametrize("kind", ["ends of both directions", "letters one by one", "a branch for each language"])
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_any_captions(kind: str, data: st.DataObject) -> None:
    known = st.sampled_from(["dog", "hund", "katze", "boat", "tree", "haus"])
    caption = st.lists(known | st.text(max_size=12), max_size=8).map(" ".join)
    lines = data.draw(st.lists(st.tuples(caption, st.sampled_from(["en", "de"])), min_size=1, max_size=6))
    texts, codes = [text for text, _ in lines], [code for _, code in lines]
    assert np.abs(encode(kind, texts, codes) - traced(kind)[0].encode_text(texts, codes)).max() < 1e-5


@pytest.mark.parametrize("kind", ["words", "universal"])
def test_pictures_in_any_number(kind: str) -> None:
    model = traced(kind)[0]
    inputs = {"features": (torch.ones(3, model.features), ["pictures", None])}
    graph = make_graph(model.encoders.picture.export_graph(), inputs, "pictures", "it")
    session = onnxruntime.InferenceSession(graph.data)
    for count in (1, 2, 150):
        features = WORLD.features[:count]
        found = session.run(None, {"features": features})[0]
        assert np.abs(found - model.encode_features(features)).max() < 1e-5


def test_exporting_leaves_the_model_as_it_was() -> None:
    """Its encoder is taken apart in a copy."""
    model = make_model(KINDS["layers of letters"], WORLD.corpus)
    before = model.encode_text(["dog"], ["en"])
    names = list(model.encoders.state_dict())
    text_graph(model.readers[0].encoder, "liwe")
    fresh = TrainedModel(model.recipe, model.system, model.tokeniser, model.encoders, model.device)
    assert np.array_equal(fresh.encode_text(["dog"], ["en"]), before)
    assert list(model.encoders.state_dict()) == names
