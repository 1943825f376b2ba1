"""The text encoders of M-CLIP: XLM-RoBERTa or BERT → mean of all tokens → linear, into the space of a CLIP.

Carlsson et al. 2022, "Cross-lingual and multilingual CLIP", https://aclanthology.org/2022.lrec-1.739/

Its config.json names the encoder that it was made of, and nothing more; the sizes are read from the weights, so that
nothing else has to be fetched. The weights are published as PyTorch's own files, which are read as tensors only.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from groundling import hub
from groundling.encoders.text.base import PooledParts
from groundling.errors import UserError
from groundling.files import read_json
from groundling.model.pooled_transformer import PooledTransformer
from groundling.model.sides import Inputs, TextRules, TextSide
from groundling.model.snapshot import WHAT, fingerprint, read_tokeniser, tensors

MODEL_TYPE = "M-CLIP"
HEAD = 64  # the width of an attention head, in all sizes of both
# What the encoders are called, and what their weights do not tell of their settings.
FAMILIES: dict[str, tuple[str, dict[str, Any]]] = {
    "xlm-roberta": ("XLMRoberta", {"layer_norm_eps": 1e-5, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2}),
    "labse": ("Bert", {"layer_norm_eps": 1e-12}),
    "bert": ("Bert", {"layer_norm_eps": 1e-12}),
}


class MultilingualClip(TextSide):
    """Attributes: encoder, with its mean; linear, the last layer."""

    def __init__(self, folder: Path, name: str, device: torch.device) -> None:
        self.folder, self.name, self.device = folder, name, device
        library = hub.transformers(WHAT)
        weights = tensors(folder, name)
        base = str(read_json(folder / "config.json").get("modelBase", ""))
        family = next((family for family in FAMILIES if family in base.lower()), None)
        if family is None:
            raise UserError(f'{name}: an M-CLIP made of "{base}" is not known here ({", ".join(FAMILIES)} are)')
        kind, settings = FAMILIES[family]
        inner = {key.removeprefix("transformer."): value for key, value in weights.items() if key.startswith("trans")}
        try:
            config = getattr(library, f"{kind}Config")(**settings, **_sizes(inner))
            network = getattr(library, f"{kind}Model")(config, add_pooling_layer=False)
            wanted = set(network.state_dict())
            network.load_state_dict({key: value.float() for key, value in inner.items() if key in wanted})
            matrix = weights["LinearTransformation.weight"]
            self.linear = nn.Linear(matrix.shape[1], matrix.shape[0])
            self.linear.load_state_dict({key: weights[f"LinearTransformation.{key}"] for key in ("weight", "bias")})
        except (KeyError, RuntimeError) as error:
            raise UserError(f"{name}: its weights are not those of an M-CLIP ({hub.first_line(error)})") from None
        pieces = read_tokeniser(library, folder, name)
        offset = 2 if kind == "XLMRoberta" else 0  # its first position is behind that of padding
        longest = min(int(config.max_position_embeddings) - offset, int(pieces.model_max_length))
        self.encoder = PooledTransformer(name, folder, network.to(device).eval(), pieces, ["mean"], longest)
        self.linear.to(device).eval()

    @property
    def network(self) -> nn.Module:
        return nn.ModuleList([self.encoder.network, self.linear])

    @property
    def dimensions(self) -> int:
        return self.linear.out_features

    @cached_property
    def fingerprint(self) -> str:
        return fingerprint(self.folder)

    def tokens(self, texts: Sequence[str]) -> Inputs:
        return self.encoder.tokens(texts)

    def text_rules(self) -> TextRules:
        return self.encoder.text_rules()

    def pooled_parts(self) -> PooledParts:
        return PooledParts(self.encoder.network, self.encoder.pieces, self.encoder.longest, "mean", [self.linear])

    def vectors(self, inputs: Inputs) -> Tensor:
        vectors: Tensor = self.linear(self.encoder.vectors(inputs))
        return vectors


def _sizes(weights: Mapping[str, Tensor]) -> dict[str, int]:
    """The settings that the shapes of the weights tell."""
    vocabulary, hidden = weights["embeddings.word_embeddings.weight"].shape
    layers = {int(found[1]) for key in weights if (found := re.match(r"encoder\.layer\.(\d+)\.", key))}
    return {
        "vocab_size": vocabulary,
        "hidden_size": hidden,
        "num_hidden_layers": len(layers),
        "num_attention_heads": max(1, hidden // HEAD),
        "intermediate_size": weights["encoder.layer.0.intermediate.dense.weight"].shape[0],
        "max_position_embeddings": weights["embeddings.position_embeddings.weight"].shape[0],
        "type_vocab_size": weights["embeddings.token_type_embeddings.weight"].shape[0],
    }
