"""Tiny random pairs in folders as open_clip publishes them."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

# As open_clip writes them.
VISION = {"image_size": 32, "layers": 2, "width": 16, "head_width": 8, "patch_size": 16}
CUT = {
    "size": [32, 32], "mode": "RGB", "mean": [0.48145466, 0.4578275, 0.40821073],
    "std": [0.26862954, 0.26130258, 0.27577711], "interpolation": "bicubic", "resize_mode": "shortest", "fill_color": 0,
}  # fmt: skip


def write_config(folder: Path, text: dict[str, Any], **cut: Any) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    config = {"embed_dim": 8, "vision_cfg": VISION, "text_cfg": text}
    said = {"model_cfg": config, "preprocess_cfg": CUT | cut}
    (folder / "open_clip_config.json").write_text(json.dumps(said, indent=4))


def of_openai(folder: Path) -> None:
    """CLIP's own tokeniser, which comes with the library."""
    write_config(folder, {"context_length": 77, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 2})


def of_siglip(folder: Path) -> None:
    """A tokeniser in the folder, the last token, the whole picture made square: as timm publishes SigLIP."""
    from tiny_pairs import gemma_tokeniser

    pieces = gemma_tokeniser(folder)
    text = {
        "context_length": 64, "vocab_size": len(pieces), "hf_tokenizer_name": "timm/ViT-B-16-SigLIP2",
        "tokenizer_kwargs": {"clean": "canonicalize"}, "width": 16, "heads": 2, "layers": 2, "no_causal_mask": True,
        "proj_bias": True, "pool_type": "last", "norm_kwargs": {"eps": 1e-06},
    }  # fmt: skip
    half = {"mean": [0.5, 0.5, 0.5], "std": [0.5, 0.5, 0.5]}
    write_config(folder, text, resize_mode="squash", **half)


def save_open_clip(folder: Path, make: Any = of_openai) -> Path:
    """With weights that are large enough for texts to differ."""
    open_clip = pytest.importorskip("open_clip")
    make(folder)
    torch.manual_seed(0)
    made = open_clip.create_model(f"local-dir:{folder}").state_dict()
    large = {
        name: torch.randn_like(value) * 0.3 if value.ndim > 1 else value.contiguous() for name, value in made.items()
    }
    save_file(large, folder / "open_clip_model.safetensors")
    return folder
