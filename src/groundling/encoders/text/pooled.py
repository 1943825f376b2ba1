"""A sentence as one state of a pretrained encoder (BERT: Devlin et al. 2019; CLIP: Radford et al. 2021)."""

from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.encoders.text.pretrained import load_encoder
from groundling.errors import UserError

StatePooling = Literal["last", "first", "mean"]


class PooledEncoder(nn.Module):
    """Encoder → state of one token, or the mean of all → linear, no bias → unit vector.

    `pooling` "last" takes the last real token: the final [SEP] of BERT, the end of text of CLIP. The text side of a
    model of two sides (CLIP) comes with its own projection, which is taken over. Padding cannot change a sentence, so
    that it is read alike in training, in validation and alone.
    """

    def __init__(self, folder: Path, dimensions: int, pooling: StatePooling = "last") -> None:
        super().__init__()
        whole: Any = load_encoder(folder)
        side: Any = getattr(whole, "text_model", whole)
        self.encoder: nn.Module = side
        self.pooling: StatePooling = pooling
        self.causal = side.config.model_type == "clip_text_model"  # no token looks at what comes after it
        self.project = nn.Linear(side.config.hidden_size, dimensions, bias=False)
        own = getattr(whole, "text_projection", None)
        if isinstance(own, nn.Linear):
            if own.out_features != dimensions:
                raise UserError(
                    f"{folder}: this encoder has sentences of {own.out_features} dimensions, not {dimensions}; "
                    f"set system.dimensions={own.out_features}"
                )
            with torch.no_grad():
                self.project.weight.copy_(own.weight)

    def embed(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest] word pieces and [captions] lengths → [captions, dimensions], not of unit length"""
        vectors: Tensor = self.project(self.pool(self.states(ids, lengths), lengths))
        return vectors.float()

    def states(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest, hidden], one for each token"""
        real = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
        # Spelled out for all pairs of tokens, or left out: see `encoders.text.pretrained`.
        mask = None if self.causal else real[:, None, None, :].expand(-1, 1, ids.shape[1], -1)
        states: Tensor = self.encoder(input_ids=ids.long(), attention_mask=mask).last_hidden_state
        return states

    def pool(self, states: Tensor, lengths: Tensor) -> Tensor:
        """[captions, hidden]: the state, or the mean of them, that stands for the sentence"""
        if self.pooling == "mean":
            real = torch.arange(states.shape[1], device=states.device) < lengths[:, None]
            return (states * real[:, :, None]).sum(dim=1) / lengths[:, None]
        place = lengths - 1 if self.pooling == "last" else torch.zeros_like(lengths)
        return states[torch.arange(len(states), device=states.device), place]

    def finish(self, pooled: Tensor) -> Tensor:
        """What is pooled → unit vectors"""
        return normalize(self.project(pooled).float(), dim=-1)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """The same, of unit length"""
        return normalize(self.embed(ids, lengths), dim=-1)
