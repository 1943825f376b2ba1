"""A sentence as a bidirectional GRU over the contextual vectors of a pretrained encoder (BERT: Devlin et al. 2019)."""

from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from groundling.encoders.text.bidirectional import BidirectionalSentence, Pooling
from groundling.errors import UserError


class PretrainedEncoder(nn.Module):
    """Encoder → last hidden states → bidirectional sentence.

    A frozen encoder stays in evaluation mode, gets no gradient, and is no part of the weights that are saved: the run
    knows it by name and fingerprint (see `tokenisers.hub`).
    """

    def __init__(self, folder: Path, dimensions: int, pooling: Pooling, trainable: bool) -> None:
        super().__init__()
        encoder = load_encoder(folder)
        hidden: int = encoder.config.hidden_size
        self.encoder: nn.Module = encoder.requires_grad_(trainable)
        self.trainable = trainable
        self.sentence = BidirectionalSentence(hidden, dimensions, pooling)
        if not trainable:
            self.register_state_dict_post_hook(_leave_out)
            self.register_load_state_dict_post_hook(_do_not_miss)

    def train(self, mode: bool = True) -> "PretrainedEncoder":
        super().train(mode)
        self.encoder.train(mode and self.trainable)
        return self

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest] word pieces and [captions] lengths → [captions, dimensions]"""
        return self.sentence(self.vectors(ids, lengths), lengths)

    def vectors(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest, hidden], what the sentence is made of"""
        real = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
        # Spelled out as [captions, 1, longest, longest]: from [captions, longest] transformers looks whether anything
        # is padding, which a recorded step on a GPU cannot do.
        mask = real[:, None, None, :].expand(-1, 1, ids.shape[1], -1)
        with torch.set_grad_enabled(self.trainable and torch.is_grad_enabled()):
            states: Tensor = self.encoder(input_ids=ids.long(), attention_mask=mask).last_hidden_state
        return states


def load_encoder(folder: Path) -> Any:
    try:
        from transformers import AutoModel
    except ImportError:
        raise UserError("a pretrained encoder needs transformers: pip install 'groundling[hub]'") from None
    try:
        return AutoModel.from_pretrained(
            folder,
            use_safetensors=True,
            trust_remote_code=False,
            local_files_only=True,
            attn_implementation="sdpa",
            dtype=torch.float32,
        )
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise UserError(f"{folder}: not an encoder that can be used ({str(error).strip().splitlines()[0]})") from None


def _leave_out(encoder: nn.Module, weights: dict[str, Any], prefix: str, about: object) -> None:
    for name in [name for name in weights if name.startswith(f"{prefix}encoder.")]:
        del weights[name]


def _do_not_miss(encoder: nn.Module, keys: Any) -> None:
    keys.missing_keys[:] = [name for name in keys.missing_keys if ".encoder." not in f".{name}"]
