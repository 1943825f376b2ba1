"""A pair through transformers, from a folder or from the hub. Needs the extra `hub`.

Weights are read from safetensors only, and no code that comes with a model is ever run. What each type does with a
text is in `pair_types`; its own `get_text_features` and `get_image_features` make the vectors.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

from groundling import hub
from groundling.errors import UserError
from groundling.files import read_json
from groundling.model.fingerprint import StoredWeights, side_fingerprint
from groundling.model.pair import Pair, SideOfPair
from groundling.model.pair_types import PAIR_TYPES, has_sentence, is_picture, is_text, pair_type
from groundling.model.processor_settings import cutting_of, rules_of
from groundling.model.sides import Cutting, Inputs, PictureSide, TextRules, TextSide
from groundling.model.snapshot import WHAT, check_weights, read, read_tokeniser
from groundling.vision.preprocessing import Pixels, Upright

PREPROCESSOR = "preprocessor_config.json"


class TransformersPair(Pair):
    def __init__(self, name: str, folder: Path, device: torch.device) -> None:
        self.library = hub.transformers(WHAT)
        self.name, self.folder, self.device = name, _inner(folder), device
        path = self.folder / "config.json"
        self.config_file = read_json(path) if path.exists() else {}
        self.model_type = str(self.config_file.get("model_type"))
        if not self.config_file or self.model_type in PAIR_TYPES:  # else the type is what is wrong with it
            check_weights(self.folder, name)
        self.type = pair_type(self.config_file, name)
        self.config = read(self.library.AutoConfig, self.folder, name)
        self.text, self.pictures = PairText(self), PairPictures(self)

    @cached_property
    def network(self) -> nn.Module:
        options: dict[str, Any] = {"use_safetensors": True, "dtype": torch.float32}
        if self.type.attention is not None:
            options["attn_implementation"] = self.type.attention
        model: nn.Module = read(self.library.AutoModel, self.folder, self.name, **options)
        return model.to(self.device).eval()

    @property
    def dimensions(self) -> int:
        return int(getattr(self.config, "projection_dim", None) or self.config.vision_config.hidden_size)

    def settings(self, side: str) -> dict[str, Any]:
        """What config.json says of one side."""
        return {"type": self.model_type, "config": self.config_file.get(f"{side}_config", {})}


class PairText(SideOfPair[TransformersPair], TextSide):
    @cached_property
    def pieces(self) -> Any:
        """Its tokeniser."""
        return read_tokeniser(self.pair.library, self.folder, self.name)

    @property
    def longest(self) -> int:
        """Word pieces that are read of a text, with the marks at its ends."""
        config, said = self.pair.config.text_config, int(self.pieces.model_max_length)
        positions = int(getattr(config, "max_position_embeddings", said))
        return min(said, positions, self.pair.type.context or said)

    def tokens(self, texts: Sequence[str]) -> Inputs:
        kind = self.pair.type
        given = self.pieces(
            [text.lower() for text in texts] if kind.small_letters else list(texts),
            truncation=True,
            max_length=self.longest,
            padding="max_length" if kind.padded else True,
            padding_side="right",
            return_attention_mask=True,
            return_tensors="pt",
        )
        ids: Tensor = given["input_ids"]
        if not has_sentence(kind, self.pair.model_type, ids, self.pair.config, self.pieces):
            raise UserError(
                f"{self.name}: its tokeniser puts no mark where the model takes the sentence from ({kind.reading}); "
                "its files are not made for each other"
            )
        return {"input_ids": ids, "attention_mask": given["attention_mask"]} if kind.masked else {"input_ids": ids}

    def text_rules(self) -> TextRules:
        kind, pad = self.pair.type, self.pieces.pad_token_id
        rules = rules_of(self.pieces, self.name)
        return TextRules(rules, self.longest, int(pad), kind.padded, kind.masked, kind.small_letters)

    def vectors(self, inputs: Inputs) -> Tensor:
        return _pooled(self.network.get_text_features(**inputs))  # type: ignore[operator]  # a method of every pair

    @cached_property
    def fingerprint(self) -> str:
        facts = {**self.pair.settings("text"), "tokeniser": hub.fingerprint(self.folder, hub.TOKENISER)}
        return side_fingerprint(facts, StoredWeights(self.folder, is_text), "")


class PairPictures(SideOfPair[TransformersPair], PictureSide):
    def __init__(self, pair: TransformersPair) -> None:
        super().__init__(pair)
        self.backbone = pair.model_type

    @cached_property
    def processor(self) -> Any:
        """By Pillow, so that a picture has the same vector whether torchvision is installed or not."""
        return read(self.pair.library.AutoImageProcessor, self.folder, self.name, backend="pil")

    @cached_property
    def preparation(self) -> Upright:
        """The picture upright and on white paper, large enough for the model's own processor, which does the rest."""
        patches = getattr(self.processor, "max_num_patches", None)  # NaFlex: any shape, of so many patches
        if patches:
            return Upright(2 * round(self.processor.patch_size * patches**0.5))
        return Upright(2 * max(side for side in dict(self.processor.size).values() if side))

    def inputs(self, prepared: Sequence[Pixels]) -> Inputs:
        # One by one: an older processor asks that all pictures of a call have one size.
        each = [self.processor(images=[Image.fromarray(pixels)], return_tensors="np") for pixels in prepared]
        return {key: torch.from_numpy(np.concatenate([np.asarray(one[key]) for one in each])) for key in each[0]}

    def cutting(self) -> Cutting:
        return cutting_of(self.processor, self.name)

    def vectors(self, inputs: Inputs) -> Tensor:
        return _pooled(self.network.get_image_features(**inputs))  # type: ignore[operator]  # a method of every pair

    @cached_property
    def fingerprint(self) -> str:
        facts = {**self.pair.settings("vision"), "pictures": hub.fingerprint(self.folder, [PREPROCESSOR])}
        return side_fingerprint(facts, StoredWeights(self.folder, is_picture), "")


def _inner(folder: Path) -> Path:
    """Where config.json and the weights lie; sentence-transformers keeps a CLIP in a folder of its own."""
    inner = folder / "0_CLIPModel"
    return inner if inner.is_dir() and not (folder / "config.json").exists() else folder


def _pooled(output: Any) -> Tensor:
    vectors: Tensor = getattr(output, "pooler_output", output)
    return vectors
