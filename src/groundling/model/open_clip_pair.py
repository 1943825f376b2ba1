"""A pair of open_clip: a folder with open_clip_config.json, its weights and its tokeniser. Needs the extra `openclip`.

OpenCLIP: Cherti et al. 2023, "Reproducible scaling laws for contrastive language-image learning",
https://arxiv.org/abs/2212.07143. Text and pictures are prepared by open_clip itself, as the folder says; its weights
are safetensors, or PyTorch's own files read as tensors only.
"""

import importlib
import importlib.util
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import torch
from PIL import Image
from torch import Tensor, nn

from groundling import hub
from groundling.errors import UserError
from groundling.files import read_json
from groundling.model.fingerprint import side_fingerprint
from groundling.model.pair import Pair, SideOfPair
from groundling.model.processor_settings import rules_of
from groundling.model.sides import Cutting, Inputs, PictureSide, TextRules, TextSide
from groundling.model.snapshot import tensors
from groundling.vision.preprocessing import Pixels, Upright

CONFIG = "open_clip_config.json"
WEIGHTS = ("open_clip_model.safetensors", "open_clip_pytorch_model.bin")


def open_clip() -> Any:
    """The library, or a sentence that says why it cannot be used."""
    if importlib.util.find_spec("open_clip") is None:
        raise UserError("a model of open_clip needs that library: pip install 'groundling[openclip]'")
    broken = hub.broken_torchvision()
    if broken is not None:
        raise UserError(
            f"a model of open_clip needs torchvision, which cannot be imported here ({broken}); install the one that "
            f"goes with torch {torch.__version__}"
        )
    try:
        return importlib.import_module("open_clip")
    except Exception as error:  # whatever is missing below it
        raise UserError(f"open_clip cannot be imported ({hub.first_line(error)}); install it again") from None


class OpenClipPair(Pair):
    def __init__(self, name: str, folder: Path, device: torch.device) -> None:
        self.library = open_clip()
        self.name, self.folder, self.device = name, folder, device
        said = read_json(folder / CONFIG)
        self.config, self.cut = dict(said.get("model_cfg") or {}), dict(said.get("preprocess_cfg") or {})
        if "embed_dim" not in self.config:
            raise UserError(f"{name}: {CONFIG} does not describe a model")
        if not any((folder / file).exists() for file in WEIGHTS):
            raise UserError(f"{name}: has no weights that are read here ({' or '.join(WEIGHTS)})")
        self.text, self.pictures = OpenClipText(self), OpenClipPictures(self)

    @cached_property
    def network(self) -> nn.Module:
        try:
            model: nn.Module = self.library.create_model(
                f"local-dir:{self.folder}", require_pretrained=True, weights_only=True, device=self.device
            )
        except Exception as error:  # whatever the wrong files, or a part that must be fetched, lead it into
            raise UserError(f"{self.name}: cannot be opened by open_clip ({hub.first_line(error)})") from None
        return model.eval()

    @property
    def dimensions(self) -> int:
        return int(self.config["embed_dim"])

    def weights(self, pictures: bool) -> dict[str, Tensor]:
        """Those of one side."""
        every = tensors(self.folder, self.name, WEIGHTS)
        return {
            key: value
            for key, value in every.items()
            if key.startswith("visual.") == pictures and not key.startswith("logit_")
        }


class OpenClipText(SideOfPair[OpenClipPair], TextSide):
    takes: ClassVar = "text"
    format: ClassVar = "open_clip"

    @cached_property
    def tokeniser(self) -> Any:
        try:
            found = self.pair.library.get_tokenizer(f"local-dir:{self.folder}")
        except Exception as error:  # as above
            raise UserError(f"{self.name}: its tokeniser cannot be read ({hub.first_line(error)})") from None
        if hasattr(found, "set_lang_fn"):  # NLLB's: without it, every text would be read as if it were English
            raise UserError(f"{self.name}: is told the language of every text by a mark of its own, not done here")
        return found

    def tokens(self, texts: Sequence[str]) -> Inputs:
        return {"text": self.tokeniser(list(texts))}

    def text_rules(self) -> TextRules:
        """Texts are filled up to a length, and the network finds padding by itself."""
        said: Mapping[str, Any] = self.pair.config.get("text_cfg") or {}
        options: Mapping[str, Any] = said.get("tokenizer_kwargs") or {}
        own, found = hasattr(self.tokeniser, "bpe_ranks"), self.tokeniser
        special = {*options} - {"clean"} or said.get("tokenizer_mode")
        if special or not (own or hasattr(found, "tokenizer")):
            return super().text_rules()  # which says why not
        pieces = _as_transformers(found) if own else found.tokenizer
        clean = str(options.get("clean", "lower" if own else "whitespace"))
        pad = 0 if own else int(pieces.pad_token_id or 0)
        rules = rules_of(pieces, self.name)
        return TextRules(rules, int(found.context_length), pad, padded=True, masked=False, clean=clean)

    def vectors(self, inputs: Inputs) -> Tensor:
        vectors: Tensor = self.network.encode_text(**inputs)  # type: ignore[operator]  # a method of every pair
        return vectors

    @cached_property
    def fingerprint(self) -> str:
        facts = {"config": self.pair.config.get("text_cfg"), "tokeniser": hub.fingerprint(self.folder, hub.TOKENISER)}
        return side_fingerprint(facts, self.pair.weights(pictures=False), "")


class OpenClipPictures(SideOfPair[OpenClipPair], PictureSide):
    backbone = "open_clip"
    takes: ClassVar = "image"

    @cached_property
    def settings(self) -> Any:
        """How pictures are cut, as open_clip has it."""
        said: Any = self.network.visual.preprocess_cfg  # type: ignore[union-attr]
        return importlib.import_module("open_clip.transform").PreprocessCfg(**said)

    @cached_property
    def transform(self) -> Any:
        """From a picture to pixels, as open_clip does it."""
        return importlib.import_module("open_clip.transform").image_transform_v2(self.settings, is_train=False)

    def cutting(self) -> Cutting:
        said = self.settings
        height, width = (said.size, said.size) if isinstance(said.size, int) else said.size
        if height != width or said.resize_mode not in ("shortest", "squash"):
            return super().cutting()  # which says why not
        kind: Literal["bicubic", "bilinear"] = "bilinear" if said.interpolation == "bilinear" else "bicubic"
        Colours = tuple[float, float, float]
        mean, std = cast(Colours, tuple(said.mean)), cast(Colours, tuple(said.std))
        return Cutting(height, height, said.resize_mode == "squash", kind, mean, std, "torchvision")

    @cached_property
    def preparation(self) -> Upright:
        size: Any = self.network.visual.image_size  # type: ignore[union-attr]
        return Upright(2 * (size if isinstance(size, int) else max(size)))

    def inputs(self, prepared: Sequence[Pixels]) -> Inputs:
        return {"image": torch.stack([self.transform(Image.fromarray(pixels)) for pixels in prepared])}

    def vectors(self, inputs: Inputs) -> Tensor:
        vectors: Tensor = self.network.encode_image(**inputs)  # type: ignore[operator]  # a method of every pair
        return vectors

    @cached_property
    def fingerprint(self) -> str:
        facts = {"config": self.pair.config.get("vision_cfg"), "cut": self.pair.cut}
        return side_fingerprint(facts, self.pair.weights(pictures=True), "")


def _as_transformers(own: Any) -> Any:
    """The tokeniser of OpenAI's CLIP, which open_clip has as code, as transformers has it: the same byte pairs."""
    made = hub.transformers("model of open_clip").CLIPTokenizer
    start, end = own.decoder[own.sot_token_id], own.decoder[own.eot_token_id]
    merges = sorted(own.bpe_ranks, key=own.bpe_ranks.__getitem__)
    return made(vocab=own.encoder, merges=merges, bos_token=start, eos_token=end, unk_token=end, pad_token=end)
