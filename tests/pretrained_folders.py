"""Pretrained models of one layer with random weights, in folders as their libraries save them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import save_file

SIZES = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
VISION = {**SIZES, "image_size": 32, "patch_size": 16}
MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
DIMENSIONS = 8


def text_settings(words: Sequence[str]) -> dict[str, Any]:
    ends = {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3}  # rows of the marks at the ends of a text
    more = {"vocab_size": len(MARKS) + len(words), "max_position_embeddings": 12, "initializer_range": 0.5}
    return {**SIZES, **ends, **more}


def save_tokeniser(folder: Path, words: Sequence[str]) -> None:
    transformers = pytest.importorskip("transformers")
    vocabulary = {word: row for row, word in enumerate([*MARKS, *words])}
    transformers.BertTokenizerFast(vocab=vocabulary, model_max_length=12).save_pretrained(folder)


def save_pair(folder: Path, kind: str, words: Sequence[str], seed: int = 0) -> Path:
    """`kind` is CLIP, ChineseCLIP or Siglip."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(seed)
    more = {} if kind == "Siglip" else {"projection_dim": DIMENSIONS}
    config = getattr(transformers, f"{kind}Config")(text_config=text_settings(words), vision_config=VISION, **more)
    getattr(transformers, f"{kind}Model")(config).save_pretrained(folder)
    squares = {"height": 32, "width": 32}
    cut: dict[str, Any] = {"size": {"shortest_edge": 32} if kind == "CLIP" else squares}
    if kind != "Siglip":
        cut |= {"crop_size": squares, "do_center_crop": True}
    processor = {"image_processor_type": f"{kind}ImageProcessor", "do_resize": True, **cut}
    (folder / "preprocessor_config.json").write_text(json.dumps(processor))
    save_tokeniser(folder, words)
    return folder


def save_sentence_encoder(folder: Path, words: Sequence[str]) -> Path:
    """A BERT, the mean of its states, and a dense layer to the dimensions of the CLIP above."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(1)
    transformers.BertModel(transformers.BertConfig(**text_settings(words))).save_pretrained(folder)
    save_tokeniser(folder, words)
    parts: dict[str, dict[str, Any]] = {
        "1_Pooling": {"word_embedding_dimension": 16, "pooling_mode_mean_tokens": True},
        "2_Dense": {"in_features": 16, "out_features": DIMENSIONS, "bias": False},
    }
    for name, config in parts.items():
        (folder / name).mkdir()
        (folder / name / "config.json").write_text(json.dumps(config))
    save_file({"linear.weight": torch.randn(DIMENSIONS, 16)}, folder / "2_Dense" / "model.safetensors")
    paths = {"": "Transformer", "1_Pooling": "Pooling", "2_Dense": "Dense"}
    modules = [
        {"idx": place, "name": str(place), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for place, (path, kind) in enumerate(paths.items())
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    return folder


def save_photos(folder: Path, number: int = 4) -> Path:
    """Pictures of noise."""
    draw = np.random.default_rng(0)
    folder.mkdir()
    for one in range(number):
        Image.fromarray(draw.integers(0, 255, (40, 50, 3)).astype(np.uint8)).save(folder / f"{one}.png")
    return folder


class MClip(torch.nn.Module):
    """The parts of M-CLIP's text encoder, called as in its published weights."""

    def __init__(self, transformer: torch.nn.Module, dimensions: int) -> None:
        super().__init__()
        self.transformer = transformer
        self.LinearTransformation = torch.nn.Linear(64, dimensions)


def save_m_clip(folder: Path, words: Sequence[str]) -> Path:
    """An XLM-RoBERTa and a linear layer to the dimensions of the CLIP above; config.json as M-CLIP publishes it."""
    transformers = pytest.importorskip("transformers")
    pieces = [(mark, 0.0) for mark in ("<s>", "<pad>", "</s>", "<unk>")] + [(f"▁{word}", -2.0) for word in words]
    transformers.XLMRobertaTokenizer(vocab=[*pieces, ("▁", -9.0)], model_max_length=512).save_pretrained(folder)
    torch.manual_seed(2)
    sizes = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 1, "num_attention_heads": 1}
    marks = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}
    more = {"type_vocab_size": 1, "layer_norm_eps": 1e-5, "max_position_embeddings": 42, "initializer_range": 0.3}
    config = transformers.XLMRobertaConfig(**sizes, **more, **marks, vocab_size=len(pieces) + 1)
    weights = MClip(transformers.XLMRobertaModel(config), DIMENSIONS).state_dict()
    torch.save(weights, folder / "pytorch_model.bin")
    said = {"architectures": ["MultilingualCLIP"], "modelBase": "xlm-roberta-large", "model_type": "M-CLIP"}
    (folder / "config.json").write_text(json.dumps({**said, "numDims": DIMENSIONS, "transformerDimensions": 64}))
    return folder
