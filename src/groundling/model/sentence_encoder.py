"""A text encoder as sentence-transformers saves it: a transformer, a pooling, dense layers, listed in modules.json."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.errors import UserError
from groundling.files import read_json
from groundling.model.protocol import Vectors
from groundling.model.snapshot import model_folder, read

ACTIVATIONS: dict[str, type[nn.Module]] = {"Identity": nn.Identity, "Tanh": nn.Tanh, "ReLU": nn.ReLU, "GELU": nn.GELU}
POOLINGS = ("mean", "cls", "max")
LONGEST = 128  # word pieces, where the folder does not say


class SentenceEncoder:
    """Texts of any language it knows into unit vectors."""

    @staticmethod
    def load(name: str, device: torch.device) -> "SentenceEncoder":
        """By folder or hub name."""
        return SentenceEncoder(model_folder(name), name, device)

    def __init__(self, folder: Path, name: str, device: torch.device) -> None:
        from transformers import AutoModel, AutoTokenizer

        self.folder, self.name, self.device = folder, name, device
        if not (folder / "modules.json").exists():
            raise UserError(f"{name}: no text encoder of sentence-transformers is there (modules.json is missing)")
        self.pooling, self.dense = "mean", nn.Sequential()
        place = folder
        for module in read_json(folder / "modules.json"):
            kind, path = str(module["type"]).rsplit(".", 1)[-1], folder / str(module["path"])
            if not path.resolve().is_relative_to(folder.resolve()):
                raise UserError(f"{name}: modules.json names a folder outside of it")
            if kind == "Transformer":
                place = path
            elif kind == "Pooling":
                self.pooling = self._pooling(read_json(path / "config.json"))
            elif kind == "Dense":
                self.dense.extend(self._dense(path))
            elif kind != "Normalize":  # all of our vectors are normalised
                raise UserError(f'{name}: a text encoder with a part of type "{kind}" is not known here')
        self.dense.to(device).eval()
        self.pieces = read(AutoTokenizer, place, name)
        self.transformer = read(AutoModel, place, name, use_safetensors=True).to(device).eval()
        own = place / "sentence_bert_config.json"
        said = read_json(own).get("max_seq_length") if own.exists() else None
        self.longest = min(int(said or LONGEST), self.pieces.model_max_length)
        layers = [layer for layer in self.dense if isinstance(layer, nn.Linear)]
        self.dimensions = int(layers[-1].out_features if layers else self.transformer.config.hidden_size)

    def _pooling(self, config: dict[str, Any]) -> str:
        old = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls", "pooling_mode_max_tokens": "max"}
        chosen = [pooling for key, pooling in old.items() if config.get(key)] or [str(config.get("pooling_mode"))]
        if len(chosen) != 1 or chosen[0] not in POOLINGS:
            raise UserError(f"{self.name}: pools word pieces in a way that is not known here ({', '.join(POOLINGS)})")
        return chosen[0]

    def _dense(self, path: Path) -> list[nn.Module]:
        config = read_json(path / "config.json")
        activation = str(config.get("activation_function", "Identity")).rsplit(".", 1)[-1]
        if activation not in ACTIVATIONS:
            raise UserError(f'{self.name}: a dense layer with "{activation}" is not known here')
        layer = nn.Linear(config["in_features"], config["out_features"], bias=config.get("bias", True))
        if not (path / "model.safetensors").exists():
            raise UserError(f"{self.name}: {path.name} has no weights in safetensors, and other formats are not read")
        try:
            weights = load_file(path / "model.safetensors")
            layer.load_state_dict({key.removeprefix("linear."): value for key, value in weights.items()})
        except (SafetensorError, RuntimeError) as error:
            raise UserError(f"{self.name}: {path.name} is damaged ({str(error).splitlines()[0]})") from None
        return [layer, ACTIVATIONS[activation]()]

    @torch.inference_mode()
    def encode(self, texts: Sequence[str], batch_size: int = 512) -> Vectors:
        parts = [self._encode_some(texts[start : start + batch_size]) for start in range(0, len(texts), batch_size)]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimensions), dtype=np.float32)

    def _encode_some(self, texts: Sequence[str]) -> Vectors:
        tokens = self.pieces(
            list(texts), padding=True, truncation=True, max_length=self.longest, return_tensors="pt"
        ).to(self.device)
        states: Tensor = self.transformer(
            input_ids=tokens["input_ids"], attention_mask=tokens["attention_mask"]
        ).last_hidden_state
        mask = tokens["attention_mask"][:, :, None].to(states.dtype)
        if self.pooling == "cls":
            pooled = states[:, 0]
        elif self.pooling == "max":
            pooled = states.masked_fill(mask == 0, -torch.inf).amax(dim=1)
        else:
            pooled = (states * mask).sum(dim=1) / mask.sum(dim=1)
        return cast(Vectors, normalize(self.dense(pooled).float(), dim=1).cpu().numpy())
