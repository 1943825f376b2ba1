"""A text encoder as sentence-transformers saves it: a transformer, a pooling, dense layers, listed in modules.json.

A folder of sentence-transformers may also hold a whole CLIP, whose text side is read here.
"""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling import hub
from groundling.errors import UserError
from groundling.files import read_json
from groundling.model.pair_types import PAIR_TYPES
from groundling.model.pooled_transformer import POOLINGS, PooledTransformer
from groundling.model.sides import Inputs, TextRules, TextSide
from groundling.model.snapshot import WHAT, fingerprint, read, read_tokeniser
from groundling.model.transformers_pair import TransformersPair

ACTIVATIONS: dict[str, type[nn.Module]] = {
    "Identity": nn.Identity, "Tanh": nn.Tanh, "ReLU": nn.ReLU, "GELU": nn.GELU, "SiLU": nn.SiLU, "Sigmoid": nn.Sigmoid,
}  # fmt: skip
OLD_POOLINGS = {  # how older files say it, in the order in which several are put side by side
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
SETTINGS = "sentence_bert_config.json"


class SentenceEncoder(TextSide):
    """Texts of any language it knows → first part (a pooled transformer, or the text side of a pair) → the rest."""

    def __init__(self, folder: Path, name: str, device: torch.device) -> None:
        self.folder, self.name, self.device = folder, name, device
        self.library = hub.transformers(WHAT)
        parts = self._parts()
        self.first = self._first(*parts[0], parts[1:])
        layers = [layer for kind, path in parts[1:] for layer in self._layers(kind, path)]
        self.rest = nn.Sequential(*layers).to(device).eval()

    @property
    def network(self) -> nn.Module:
        return nn.ModuleList([self.first.network, self.rest])

    @cached_property
    def dimensions(self) -> int:
        linear = [layer.linear for layer in self.rest if isinstance(layer, Dense)]
        return int(linear[-1].out_features) if linear else self.first.dimensions

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(self.folder)

    def tokens(self, texts: Sequence[str]) -> Inputs:
        return self.first.tokens(texts)

    def text_rules(self) -> TextRules:
        return self.first.text_rules()

    def vectors(self, inputs: Inputs) -> Tensor:
        vectors: Tensor = self.rest(self.first.vectors(inputs))
        return vectors

    def _parts(self) -> list[tuple[str, Path]]:
        """(type, folder) of each part, in order."""
        if not (self.folder / "modules.json").exists():
            raise UserError(
                f"{self.name}: no text encoder of sentence-transformers (modules.json is missing) nor M-CLIP is there"
            )
        parts = []
        for module in read_json(self.folder / "modules.json"):
            kind, path = str(module["type"]).rsplit(".", 1)[-1], self.folder / str(module["path"])
            if not path.resolve().is_relative_to(self.folder.resolve()):
                raise UserError(f"{self.name}: modules.json names a folder outside of it")
            parts.append((kind, path))
        if not parts or parts[0][0] not in ("Transformer", "CLIPModel"):
            kind = parts[0][0] if parts else "nothing"
            raise UserError(f'{self.name}: a text encoder that begins with "{kind}" is not known here')
        return parts

    def _first(self, kind: str, place: Path, after: list[tuple[str, Path]]) -> TextSide:
        config = read_json(place / "config.json") if (place / "config.json").exists() else {}
        if kind == "CLIPModel" or config.get("model_type") in PAIR_TYPES:
            return TransformersPair(self.name, place, self.device).text
        pooling = next((path for other, path in after if other == "Pooling"), None)
        own = read_json(place / SETTINGS) if (place / SETTINGS).exists() else {}
        network = read(self.library.AutoModel, place, self.name, use_safetensors=True, dtype=torch.float32)
        pieces = read_tokeniser(self.library, place, self.name)
        positions = int(getattr(network.config, "max_position_embeddings", -1))
        longest = int(own.get("max_seq_length") or min(pieces.model_max_length, positions if positions > 0 else 512))
        poolings = self._poolings({} if pooling is None else read_json(pooling / "config.json"))
        return PooledTransformer(
            self.name,
            place,
            network.to(self.device).eval(),
            pieces,
            poolings,
            min(longest, pieces.model_max_length),
            bool(own.get("do_lower_case")),
            self._prefix(pooling),
        )

    def _prefix(self, pooling: Path | None) -> str:
        """What sentence-transformers puts before every text, where the folder says so."""
        path = self.folder / "config_sentence_transformers.json"
        said = read_json(path) if path.exists() else {}
        prefix = str((said.get("prompts") or {}).get(said.get("default_prompt_name"), ""))
        if prefix and pooling is not None and read_json(pooling / "config.json").get("include_prompt") is False:
            raise UserError(f"{self.name}: leaves its prompt out of the mean, which is not known here")
        return prefix

    def _poolings(self, config: dict[str, Any]) -> list[str]:
        said = config.get("pooling_mode")
        if said is None:
            said = [pooling for key, pooling in OLD_POOLINGS.items() if config.get(key)] or "mean"
        chosen = [said] if isinstance(said, str) else list(said)
        unknown = [pooling for pooling in chosen if pooling not in POOLINGS]
        if unknown:
            raise UserError(
                f'{self.name}: pools word pieces by "{unknown[0]}", which is not known here ({", ".join(POOLINGS)} are)'
            )
        return chosen

    def _layers(self, kind: str, path: Path) -> list[nn.Module]:
        if kind in ("Pooling", "Dropout"):  # a part of the first; not used but in training
            return []
        if kind == "Normalize":
            return [Normalize()]
        config = read_json(path / "config.json")
        if kind == "Dense":
            return [self._loaded(self._dense(config), path)]
        if kind == "LayerNorm":
            return [self._loaded(LayerNorm(int(config["dimension"])), path)]
        raise UserError(f'{self.name}: a text encoder with a part of type "{kind}" is not known here')

    def _dense(self, config: dict[str, Any]) -> "Dense":
        activation = str(config.get("activation_function", "Tanh")).rsplit(".", 1)[-1]
        if activation not in ACTIVATIONS:
            raise UserError(f'{self.name}: a dense layer with "{activation}" is not known here')
        if config.get("module_input_name", "sentence_embedding") != "sentence_embedding":
            raise UserError(f"{self.name}: a dense layer over single tokens is not known here")
        return Dense(
            int(config["in_features"]),
            int(config["out_features"]),
            bool(config.get("bias", True)),
            ACTIVATIONS[activation](),
            bool(config.get("use_residual", False)),
        )

    def _loaded(self, layer: nn.Module, path: Path) -> nn.Module:
        if not (path / "model.safetensors").exists():
            raise UserError(f"{self.name}: {path.name} has no weights in safetensors, and other formats are not read")
        try:
            layer.load_state_dict(load_file(path / "model.safetensors"))
        except (SafetensorError, RuntimeError) as error:
            raise UserError(f"{self.name}: {path.name} is damaged ({hub.first_line(error)})") from None
        return layer


class Dense(nn.Module):
    """Linear → activation, with the input added where it is a residual one; weights are named as in the files."""

    def __init__(self, inputs: int, outputs: int, bias: bool, activation: nn.Module, residual: bool) -> None:
        super().__init__()
        self.linear, self.activation, self.adds = nn.Linear(inputs, outputs, bias=bias), activation, residual
        if residual and inputs != outputs:
            self.residual = nn.Linear(inputs, outputs, bias=False)

    def forward(self, vectors: Tensor) -> Tensor:
        made: Tensor = self.activation(self.linear(vectors))
        if not self.adds:
            return made
        return made + (self.residual(vectors) if hasattr(self, "residual") else vectors)


class LayerNorm(nn.Module):
    def __init__(self, dimensions: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(dimensions)

    def forward(self, vectors: Tensor) -> Tensor:
        normed: Tensor = self.norm(vectors)
        return normed


class Normalize(nn.Module):
    """In the middle of others it matters, though all of our vectors are unit vectors in the end."""

    def forward(self, vectors: Tensor) -> Tensor:
        return normalize(vectors, dim=1)
