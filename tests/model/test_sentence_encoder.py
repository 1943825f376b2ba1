"""Separate text encoders, sentence-transformers' and M-CLIP's: our vectors are those of their makers' own code."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn.functional import normalize

pytest.importorskip("sentence_transformers")
import transformers
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize, Transformer
from sentence_transformers.sentence_transformer.modules import LayerNorm, Pooling

from groundling.errors import UserError
from groundling.model import load
from groundling.model.multilingual_clip import MultilingualClip
from groundling.model.pooled_transformer import POOLINGS
from groundling.model.sentence_encoder import SentenceEncoder
from tiny_pairs import PAIRS, TEXTS, bert_tokeniser, roberta_tokeniser

CPU = torch.device("cpu")
SIZES = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}


def bert(folder: Path) -> Path:
    torch.manual_seed(0)
    vocabulary = len(bert_tokeniser(folder))
    config = transformers.BertConfig(**SIZES, vocab_size=vocabulary, max_position_embeddings=40, initializer_range=0.5)
    transformers.BertModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return bert(tmp_path_factory.mktemp("bert"))


def check(folder: Path, model: Any) -> None:
    """Saved by sentence-transformers, read by us."""
    model.save(str(folder))
    ours = SentenceEncoder(folder, "text", CPU)
    expected = model.encode(TEXTS, normalize_embeddings=True)
    assert ours.dimensions == expected.shape[1]
    np.testing.assert_allclose(ours.encode(TEXTS), expected, atol=1e-5)
    np.testing.assert_allclose(ours.encode(TEXTS[::-1], batch_size=2)[::-1], expected, atol=1e-5)


@pytest.mark.parametrize("pooling", [*POOLINGS, ("cls", "mean", "max")])
def test_every_pooling(pooling: Any, encoder: Path, tmp_path: Path) -> None:
    first = Transformer(str(encoder), max_seq_length=6)
    check(tmp_path / "text", SentenceTransformer(modules=[first, Pooling(16, pooling)], device="cpu"))


@pytest.mark.parametrize("pooling", ["cls", "lasttoken", "weightedmean"])
def test_a_tokeniser_that_pads_on_the_left(pooling: str, encoder: Path, tmp_path: Path) -> None:
    """There, texts that are read together move each other's positions; read alone they are what they should be."""
    first = Transformer(str(encoder), max_seq_length=20)
    first.tokenizer.padding_side = "left"
    model = SentenceTransformer(modules=[first, Pooling(16, pooling)], device="cpu")
    model.save(str(tmp_path))
    alone = np.concatenate([model.encode([text], normalize_embeddings=True) for text in TEXTS])
    np.testing.assert_allclose(SentenceEncoder(tmp_path, "text", CPU).encode(TEXTS), alone, atol=1e-5)


def test_every_part_in_its_place(encoder: Path, tmp_path: Path) -> None:
    torch.manual_seed(1)
    first, pooling = Transformer(str(encoder)), Pooling(16, "mean")
    orders = {
        "dense": [Dense(16, 8, activation_function=nn.Tanh())],
        "normalised-first": [Normalize(), Dense(16, 8, activation_function=nn.GELU()), LayerNorm(8)],
        "two": [Dense(16, 12, bias=False, activation_function=nn.Identity()), Dense(12, 8), Normalize()],
        "residual": [Dense(16, 16, use_residual=True), Dense(16, 8, use_residual=True)],
    }
    for name, rest in orders.items():
        check(tmp_path / name, SentenceTransformer(modules=[first, pooling, *rest], device="cpu"))


def test_capitals_and_prompts_as_the_folder_says(encoder: Path, tmp_path: Path) -> None:
    parts = [Transformer(str(encoder), do_lower_case=True), Pooling(16, "mean")]
    prompts = {"prompts": {"query": "a picture of "}, "default_prompt_name": "query"}
    check(tmp_path / "text", SentenceTransformer(modules=parts, device="cpu", **prompts))


def test_the_layout_of_the_multilingual_clip(encoder: Path, tmp_path: Path) -> None:
    """clip-ViT-B-32-multilingual-v1 as published: DistilBERT → mean → dense without an activation; old keys."""
    torch.manual_seed(2)
    folder = tmp_path / "text"
    vocabulary = len(bert_tokeniser(folder))
    sizes = {"dim": 16, "hidden_dim": 32, "n_layers": 2, "n_heads": 2}
    transformers.DistilBertModel(
        transformers.DistilBertConfig(**sizes, vocab_size=vocabulary, max_position_embeddings=40)
    ).save_pretrained(folder)
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 20, "do_lower_case": false}')
    paths = {"": "Transformer", "1_Pooling": "Pooling", "2_Dense": "Dense"}
    (folder / "modules.json").write_text(
        json.dumps(
            [
                {"idx": row, "name": str(row), "path": path, "type": f"sentence_transformers.models.{kind}"}
                for row, (path, kind) in enumerate(paths.items())
            ]
        )
    )
    old = {
        "word_embedding_dimension": 16, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True,
        "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False,
    }  # fmt: skip
    dense = {
        "in_features": 16, "out_features": 8, "bias": False,
        "activation_function": "torch.nn.modules.linear.Identity",
    }  # fmt: skip
    for name, config in {"1_Pooling": old, "2_Dense": dense}.items():
        (folder / name).mkdir()
        (folder / name / "config.json").write_text(json.dumps(config))
    save_file({"linear.weight": torch.randn(8, 16)}, folder / "2_Dense" / "model.safetensors")
    expected = SentenceTransformer(str(folder), device="cpu").encode(TEXTS, normalize_embeddings=True)
    np.testing.assert_allclose(SentenceEncoder(folder, "text", CPU).encode(TEXTS), expected, atol=1e-5)
    PAIRS["clip"](tmp_path / "clip" / "0_CLIPModel")  # as sentence-transformers keeps the picture side
    model = load(str(tmp_path / "clip"), str(folder))
    np.testing.assert_allclose(model.encode_text(TEXTS), expected, atol=1e-5)
    assert model.text_fingerprint != load(str(tmp_path / "clip")).text_fingerprint
    assert model.picture_fingerprint == load(str(tmp_path / "clip")).picture_fingerprint


def test_a_clip_inside_of_sentence_transformers(tmp_path: Path) -> None:
    PAIRS["new_clip"](tmp_path / "st" / "0_CLIPModel")
    parts = [{"idx": 0, "name": "0", "path": "0_CLIPModel", "type": "sentence_transformers.models.CLIPModel"}]
    (tmp_path / "st" / "modules.json").write_text(json.dumps(parts))
    side, whole = SentenceEncoder(tmp_path / "st", "text", CPU), load(str(tmp_path / "st"))
    expected = SentenceTransformer(str(tmp_path / "st"), device="cpu").encode(TEXTS, normalize_embeddings=True)
    np.testing.assert_allclose(side.encode(TEXTS), expected, atol=1e-5)
    np.testing.assert_allclose(whole.encode_text(TEXTS), expected, atol=1e-5)


def test_parts_that_are_not_known_are_refused_by_name(encoder: Path, tmp_path: Path) -> None:
    def folder(name: str, modules: list[dict[str, str]], **configs: dict[str, Any]) -> Path:
        place = tmp_path / name
        bert(place)
        (place / "modules.json").write_text(json.dumps(modules))
        for part, config in configs.items():
            (place / part).mkdir()
            (place / part / "config.json").write_text(json.dumps(config))
        return place

    first, pooling = {"path": "", "type": "x.Transformer"}, {"path": "p", "type": "x.Pooling"}
    for place, words in {
        folder("cnn", [first, pooling, {"path": "c", "type": "x.CNN"}], p={}, c={}): 'a part of type "CNN"',
        folder("bow", [{"path": "", "type": "x.BoW"}]): 'begins with "BoW"',
        folder("way", [first, pooling], p={"pooling_mode": "attention"}): 'pools word pieces by "attention"',
        folder("out", [first, {"path": "../x", "type": "x.Dense"}]): "names a folder outside of it",
        folder("act", [first, {"path": "d", "type": "x.Dense"}], d={"activation_function": "a.Evil"}): '"Evil" is not',
        encoder: "modules.json is missing",
    }.items():
        with pytest.raises(UserError, match=words):
            SentenceEncoder(place, "text", CPU)


class PublishedMClip(nn.Module):
    """What the package multilingual-clip computes, as it describes it: mean of the real tokens, then a linear layer."""

    def __init__(self, transformer: Any, numbers: int) -> None:
        super().__init__()
        self.transformer = transformer
        self.LinearTransformation = nn.Linear(transformer.config.hidden_size, numbers)

    def encode(self, text: str, pieces: Any) -> np.ndarray:
        with torch.inference_mode():
            states = self.transformer(**pieces(text, return_tensors="pt"))[0][0]
            return normalize(self.LinearTransformation(states.mean(dim=0)), dim=0).numpy()


@pytest.mark.parametrize("base", ["xlm-roberta-large", "sentence-transformers/LaBSE"])
@pytest.mark.parametrize("stored", ["pytorch_model.bin", "model.safetensors"])
def test_m_clip_beside_a_picture_side(base: str, stored: str, tmp_path: Path) -> None:
    torch.manual_seed(3)
    folder = tmp_path / "mclip"
    sizes = {"hidden_size": 128, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2}
    if base.startswith("xlm"):
        pieces = roberta_tokeniser(folder)
        more = {"layer_norm_eps": 1e-5, "type_vocab_size": 1, "max_position_embeddings": 42, "pad_token_id": 1}
        transformer = transformers.XLMRobertaModel(
            transformers.XLMRobertaConfig(**sizes, **more, vocab_size=len(pieces), initializer_range=0.2)
        )
    else:
        pieces = bert_tokeniser(folder)
        config = {"vocab_size": len(pieces), "max_position_embeddings": 40, "initializer_range": 0.2}
        transformer = transformers.BertModel(transformers.BertConfig(**sizes, **config))
    made = PublishedMClip(transformer, 8).eval()
    # As published: nothing of the encoder but its name.
    config = {
        "architectures": ["MultilingualCLIP"], "modelBase": base, "model_type": "M-CLIP", "numDims": 8,
        "torch_dtype": "float32", "transformerDimensions": 128,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(config))
    if stored == "pytorch_model.bin":
        torch.save(made.state_dict(), folder / stored)
    else:
        save_file(made.state_dict(), folder / stored)
    PAIRS["clip"](tmp_path / "clip")
    model = load(str(tmp_path / "clip"), str(folder))
    expected = np.stack([made.encode(text, pieces) for text in TEXTS])
    np.testing.assert_allclose(model.encode_text(TEXTS), expected, atol=1e-5)
    np.testing.assert_allclose(np.concatenate([model.encode_text(text) for text in TEXTS]), expected, atol=1e-5)
    with pytest.raises(UserError, match="it is a text side alone"):
        save_file({}, folder / "model.safetensors")
        load(str(folder))


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("evil-ran"),)


def test_weights_of_pytorch_hold_nothing_but_tensors(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    roberta_tokeniser(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "M-CLIP", "modelBase": "xlm-roberta-large"}')
    for what, words in {
        "code": "damaged, or holds more than tensors",
        "list": "holds other things than weights",
        "little": "not those of an M-CLIP",
        "nothing": "no weights that are read here",
    }.items():
        contents = {"code": {"a": Evil()}, "list": [1], "little": {"a": torch.zeros(1)}}
        if what in contents:
            torch.save(contents[what], tmp_path / "pytorch_model.bin")
        else:
            (tmp_path / "pytorch_model.bin").unlink()
        with pytest.raises(UserError, match=words):
            MultilingualClip(tmp_path, "text", CPU)
    assert not (tmp_path / "evil-ran").exists()
    (tmp_path / "config.json").write_text('{"model_type": "M-CLIP", "modelBase": "gpt-9"}')
    torch.save({"a": torch.zeros(1)}, tmp_path / "pytorch_model.bin")
    with pytest.raises(UserError, match='M-CLIP made of "gpt-9"'):
        MultilingualClip(tmp_path, "text", CPU)
