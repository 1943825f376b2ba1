"""Pretrained models through transformers, from a folder or from the hub. Needs the extra `hub`.

A dual encoder (CLIP, Radford et al. 2021, https://arxiv.org/abs/2103.00020; SigLIP, Zhai et al. 2023,
https://arxiv.org/abs/2303.15343; Chinese-CLIP, Yang et al. 2022, https://arxiv.org/abs/2211.01335; and AltCLIP,
MetaCLIP 2) does both sides. With another text side it becomes a `paired.PairedModel`.

Weights are read from safetensors only, and no code that comes with a model is ever run.
"""

import io
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from PIL import Image
from torch import Tensor
from torch.nn.functional import normalize

from groundling import hub
from groundling.decoding.structure import PictureError
from groundling.devices import pick_device
from groundling.errors import UserError, did_you_mean
from groundling.files import read_json
from groundling.model.protocol import Model, Vectors
from groundling.model.snapshot import WHAT, fingerprint, model_folder, read
from groundling.vision.preprocessing import Pixels, Upright

# How many word pieces each kind was trained to read.
CONTEXT = {"clip": 77, "siglip": 64, "chinese_clip": 52, "altclip": 77, "metaclip_2": 77}
GPU_BATCH = 32


class PretrainedModel(Model):
    """See `protocol.Model`. The network is loaded with the first text or picture."""

    kind = "pretrained"
    asks_language = False

    def __init__(self, name: str, device: str = "auto") -> None:
        try:
            import transformers
        except ImportError:
            raise hub.needs(WHAT) from None
        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        self.name, self.device = name, pick_device(device)
        self.languages = []  # not known: no checkpoint says
        self.folder = _dual_folder(model_folder(name), name)
        self.backbone = str(read_json(self.folder / "config.json").get("model_type"))
        if self.backbone not in CONTEXT:
            near = did_you_mean(self.backbone, CONTEXT)
            raise UserError(f'{name}: a model of type "{self.backbone}" does not see pictures and text alike{near}')
        self.batch = GPU_BATCH if self.device.type == "cuda" else 1
        self._config = read(transformers.AutoConfig, self.folder, name)

    @property
    def dimensions(self) -> int:
        return int(getattr(self._config, "projection_dim", None) or self._config.vision_config.hidden_size)

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(self.folder)

    @property
    def text_fingerprint(self) -> str:
        return self.fingerprint  # both sides lie in the same files

    @property
    def picture_fingerprint(self) -> str:
        return self.fingerprint

    @cached_property
    def _dual(self) -> Any:
        from transformers import AutoModel

        return read(AutoModel, self.folder, self.name, use_safetensors=True).to(self.device).eval()

    @cached_property
    def _processor(self) -> Any:
        from transformers import AutoImageProcessor

        return read(AutoImageProcessor, self.folder, self.name)

    @cached_property
    def _pieces(self) -> Any:
        from transformers import AutoTokenizer

        return read(AutoTokenizer, self.folder, self.name)

    def load_picture_side(self) -> None:
        blank = io.BytesIO()
        Image.new("RGB", (64, 64)).save(blank, "PNG")
        try:
            self.encode_prepared([self.preparation(blank.getvalue())])
        except (PictureError, ValueError, RuntimeError) as error:  # its files are not made for each other
            raise UserError(f"{self.name}: this model cannot look at pictures ({hub.first_line(error)})") from None

    @cached_property
    def preparation(self) -> Upright:
        """The picture upright and on white paper, large enough for the model's own processor, which does the rest."""
        return Upright(2 * max(side for side in dict(self._processor.size).values() if side))

    @torch.inference_mode()
    def encode_prepared(self, prepared: Sequence[Pixels]) -> Vectors:
        images = [Image.fromarray(pixels) for pixels in prepared]
        # One by one: an older processor asks that all pictures of a call have one size.
        pixels = [self._processor(images=[image], return_tensors="np")["pixel_values"][0] for image in images]
        return _unit(self._dual.get_image_features(pixel_values=torch.from_numpy(np.stack(pixels)).to(self.device)))

    @torch.inference_mode()
    def _encode_text(self, texts: Sequence[str], languages: Sequence[str], batch_size: int) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        parts = [self._encode_some(texts[start : start + batch_size]) for start in range(0, len(texts), batch_size)]
        return np.concatenate(parts)

    def _encode_some(self, texts: Sequence[str]) -> Vectors:
        siglip = self.backbone == "siglip"
        positions = int(self._config.text_config.max_position_embeddings)
        tokens = self._pieces(
            [text.lower() for text in texts] if siglip else list(texts),  # it has read nothing but small letters
            truncation=True,
            max_length=min(CONTEXT[self.backbone], positions),
            padding="max_length" if siglip else True,  # it was trained on padding, and without a mask over it
            return_tensors="pt",
        ).to(self.device)
        mask = {} if siglip else {"attention_mask": tokens["attention_mask"]}
        return _unit(self._dual.get_text_features(input_ids=tokens["input_ids"], **mask))


def _dual_folder(folder: Path, name: str) -> Path:
    """Where config.json and the weights lie; sentence-transformers keeps a CLIP in a folder of its own."""
    inner = folder / "0_CLIPModel"
    place = inner if inner.is_dir() and not (folder / "config.json").exists() else folder
    if not (place / "config.json").exists():
        raise UserError(f"{name}: no model is there (neither a run with recipe.json nor a folder with config.json)")
    if not any(place.glob("*.safetensors")):
        raise UserError(f"{name}: has no weights in safetensors, and other formats are not read; choose another model")
    return place


def _unit(output: Any) -> Vectors:
    vectors: Tensor = getattr(output, "pooler_output", output)
    return cast(Vectors, normalize(vectors.float(), dim=1).cpu().numpy())
