"""Pairs of transformers with random weights, saved in the layout of the published ones."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

MARKS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = [*MARKS, "a", "red", "green", "rotes", "bild", "picture", "dog", "hund", "##s", "σ", "ς"]
SIZES = {"hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2}
TEXT = {**SIZES, "vocab_size": len(WORDS), "max_position_embeddings": 12, "initializer_range": 0.5}
TEXT |= {"pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "projection_size": 16}
VISION = {**SIZES, "image_size": 32, "patch_size": 16, "initializer_range": 0.5}
KINDS = ("CLIP", "Siglip", "ChineseCLIP")
ASKED = ["a red picture", "", "rotes bild", "A DOG", "dogs " * 30, "something else, 小犬 🦜"]


def save_tokeniser(folder: Path) -> None:
    transformers = pytest.importorskip("transformers")
    rows = {word: row for row, word in enumerate(WORDS)}
    transformers.BertTokenizerFast(vocab=rows, model_max_length=12).save_pretrained(folder)


def save_pair(kind: str, folder: Path) -> Path:
    """A model of this kind; CLIP keeps the short side and cuts, the others make the picture a square."""
    transformers = pytest.importorskip("transformers")
    torch.manual_seed(0)
    more = {} if kind == "Siglip" else {"projection_dim": 8}
    config = getattr(transformers, f"{kind}Config")(text_config=TEXT, vision_config=VISION, **more)
    getattr(transformers, f"{kind}Model")(config).eval().save_pretrained(folder)
    square = {"height": 32, "width": 32}
    processor: dict[str, Any] = {"image_processor_type": f"{kind}ImageProcessor", "do_resize": True, "resample": 3}
    processor |= {"size": {"shortest_edge": 40} if kind == "CLIP" else square}
    processor |= {"crop_size": square, "do_center_crop": True} if kind == "CLIP" else {"do_center_crop": False}
    (folder / "preprocessor_config.json").write_text(json.dumps(processor))
    (folder / "README.md").write_text("---\nlanguage: en\nlicense: mit\n---\n# A tiny pair\n")
    save_tokeniser(folder)
    return folder
