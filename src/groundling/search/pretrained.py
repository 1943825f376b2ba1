"""Pretrained models through transformers, from a folder or from the hub. Needs the extra `hub`.

A dual encoder (CLIP, Radford et al. 2021; SigLIP, Zhai et al. 2023; Chinese-CLIP, Yang et al. 2022; and AltCLIP,
MetaCLIP 2) does both sides. Where another text tower is named, the dual encoder only looks at the pictures: so work the
multilingual CLIPs of sentence-transformers (Reimers & Gurevych 2020), whose text tower was taught CLIP's space in fifty
languages.

Weights are read from safetensors only, and no code that comes with a model is ever run.
"""

import io
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import Tensor
from torch.nn.functional import normalize

from groundling import hub
from groundling.devices import pick_device
from groundling.errors import UserError, did_you_mean
from groundling.files import read_json
from groundling.search.encoder import Vectors
from groundling.search.sentence_tower import SentenceTower
from groundling.search.snapshot import WHAT, fingerprint, model_folder, read
from groundling.vision.preprocessing import PictureError, on_white

# How many word pieces each kind was trained to read.
CONTEXT = {"clip": 77, "siglip": 64, "chinese_clip": 52, "altclip": 77, "metaclip_2": 77}
GPU_BATCH = 32


class PretrainedEncoder:
    """See `search.encoder.Encoder`."""

    kind = "pretrained"
    languages: list[str] = []  # noqa: RUF012  # not known: no checkpoint says

    def __init__(self, name: str, text: str | None = None, device: str = "auto") -> None:
        try:
            import transformers
        except ImportError:
            raise hub.needs(WHAT) from None
        transformers.utils.logging.set_verbosity_error()
        transformers.utils.logging.disable_progress_bar()
        self.name, self.device = name, pick_device(device)
        folders = [model_folder(part) for part in (name, text) if part is not None]
        self.folder = _dual_folder(folders[0], name)
        self.backbone = str(read_json(self.folder / "config.json").get("model_type"))
        if self.backbone not in CONTEXT:
            near = did_you_mean(self.backbone, CONTEXT)
            raise UserError(f'{name}: a model of type "{self.backbone}" does not see pictures and text alike{near}')
        self.batch = GPU_BATCH if self.device.type == "cuda" else 1
        self.fingerprint = fingerprint(self.folder, *folders[1:])
        self._sentences = None if text is None else SentenceTower(folders[1], text, self.device)
        config = self._config = read(transformers.AutoConfig, self.folder, name)
        self.dimensions = int(getattr(config, "projection_dim", None) or config.vision_config.hidden_size)
        if self._sentences is not None and self._sentences.dimensions != self.dimensions:
            raise UserError(
                f"{text} gives vectors of {self._sentences.dimensions} numbers, but {name} of {self.dimensions}: "
                "they were not made for each other"
            )

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

    def open_eyes(self) -> None:
        blank = io.BytesIO()
        Image.new("RGB", (64, 64)).save(blank, "PNG")
        try:
            self.encode_pictures([self.prepare(blank.getvalue())])
        except (PictureError, ValueError, RuntimeError) as error:  # its files are not made for each other
            raise UserError(f"{self.name}: this model cannot look at pictures ({hub.first_line(error)})") from None

    def prepare(self, data: bytes) -> Vectors:
        """[3, height, width], as the model's own processor cuts and normalises it."""
        try:
            with Image.open(io.BytesIO(data)) as image:
                sides = [side for side in dict(self._processor.size).values() if side]
                image.draft(None, (2 * max(sides), 2 * max(sides)))  # large photographs are decoded small, and fast
                upright = on_white(ImageOps.exif_transpose(image))
            return cast(Vectors, np.asarray(self._processor(images=[upright], return_tensors="np")["pixel_values"][0]))
        except Exception as error:  # decoders raise whatever a damaged file leads them into
            reason = str(error).replace("<_io.BytesIO object", "the bytes").split(" at 0x")[0]
            raise PictureError(f"not a readable picture ({reason or type(error).__name__})") from error

    @torch.inference_mode()
    def encode_pictures(self, prepared: Sequence[Vectors]) -> Vectors:
        pixels = torch.from_numpy(np.stack(prepared)).to(self.device)
        return _unit(self._dual.get_image_features(pixel_values=pixels))

    @torch.inference_mode()
    def encode_text(self, texts: Sequence[str], languages: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, self.dimensions), dtype=np.float32)
        if self._sentences is not None:
            return self._sentences.encode(texts)
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
