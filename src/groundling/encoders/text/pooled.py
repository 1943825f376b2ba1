"""A sentence as one state of a pretrained encoder, or the mean of all. Needs the extra `hub`.

BERT: Devlin et al. 2019, https://arxiv.org/abs/1810.04805; CLIP: Radford et al. 2021, https://arxiv.org/abs/2103.00020

>>> encoder = PooledEncoder.build([], [], TextSettings(), 512, PooledSettings())      # doctest: +SKIP
>>> encoder.encode(["a dog"], "en").shape                                             # doctest: +SKIP
torch.Size([1, 512])
"""

from typing import Any, ClassVar, Literal, cast

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.encoders.padding import average, last
from groundling.encoders.settings import EncoderSettings
from groundling.encoders.text.base import TEXT_ENCODERS, PooledParts, TextEncoder
from groundling.encoders.text.pretrained import HubEncoder, HubSettings, load_encoder, pairs_mask
from groundling.encoders.tokenisers.hub import HubTokeniser
from groundling.errors import UserError
from groundling.text import Tokeniser

StatePooling = Literal["last", "first", "mean"]


class PooledSettings(HubSettings, EncoderSettings):
    pooling: StatePooling = Field(
        "last",
        description="the state that stands for the sentence; last: final [SEP], or CLIP's end of text; first: [CLS]",
    )
    trainable: bool = Field(True, description="train the encoder too; false: only the layer behind it")


@TEXT_ENCODERS.register("pretrained")
class PooledEncoder(HubEncoder):
    """Encoder → state of one token, or the mean of all → linear, no bias → unit vector.

    `pooling` "last" takes the last real token: the final [SEP] of BERT, the end of text of CLIP. The text side of a
    model of two sides (CLIP) comes with its own projection, which is taken over. Padding cannot change a sentence, so
    that it is read alike in training, in validation and alone.
    """

    Settings: ClassVar = PooledSettings
    project: nn.Module  # whatever maps states to sentences

    def __init__(self, tokeniser: HubTokeniser, dimensions: int, settings: PooledSettings) -> None:
        super().__init__(tokeniser)
        whole: Any = load_encoder(tokeniser.folder)
        side: Any = getattr(whole, "text_model", whole)
        self.encoder: nn.Module = side.requires_grad_(settings.trainable)
        self.pooling: StatePooling = settings.pooling
        self.causal = side.config.model_type == "clip_text_model"  # no token looks at what comes after it
        # SigLIP takes the last of 64, MetaCLIP 2 looks back only, others take the first: none of it is done here.
        if side is not whole and not self.causal:
            raise UserError(
                f"{tokeniser.encoder}: a pair of type {whole.config.model_type}, whose text side takes its sentences "
                "in a way of its own; begin with it by `system: {name: tuned, start: …}`, or teach it by --student own"
            )
        self.project = nn.Linear(side.config.hidden_size, dimensions, bias=False)
        own = getattr(whole, "text_projection", None)
        if isinstance(own, nn.Linear):
            if own.out_features != dimensions:
                raise UserError(
                    f"{tokeniser.encoder}: this encoder has sentences of {own.out_features} dimensions, not "
                    f"{dimensions}; set system.dimensions={own.out_features}"
                )
            with torch.no_grad():
                self.project.weight.copy_(own.weight)

    @classmethod
    def as_student(cls, tokeniser: Tokeniser, teacher: TextEncoder, settings: Any) -> "PooledEncoder":
        """As published (CLSEAVE): encoder → layer normalisation → state of the final [SEP] → linear without bias."""
        made = cls(cast(HubTokeniser, tokeniser), teacher.dimensions, settings)
        linear = cast(nn.Linear, made.project)
        made.project = nn.Sequential(nn.LayerNorm(linear.in_features, eps=1e-12), linear)
        return made

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        return self.finish(self.pool(self.states(ids, lengths), lengths))

    @property
    def has_states(self) -> bool:
        return True

    def states(self, entries: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest, hidden], one for each token"""
        mask = None if self.causal else pairs_mask(entries, lengths)
        states: Tensor = self.encoder(input_ids=entries.long(), attention_mask=mask).last_hidden_state
        return states

    def pool(self, states: Tensor, lengths: Tensor) -> Tensor:
        if self.pooling == "mean":
            return average(states, lengths)
        return last(states, lengths) if self.pooling == "last" else states[:, 0]

    def unscaled(self, entries: Tensor, lengths: Tensor) -> Tensor:
        vectors: Tensor = self.project(self.pool(self.states(entries, lengths), lengths))
        return vectors

    def finish(self, pooled: Tensor) -> Tensor:
        return normalize(self.project(pooled).float(), dim=-1)

    def pooled_transformer(self) -> PooledParts | None:
        if self.causal:  # the text side of a pair is no encoder that sentence-transformers loads by itself
            return None
        pooling = {"last": "lasttoken", "first": "cls", "mean": "mean"}[self.pooling]
        layers = list(self.project) if isinstance(self.project, nn.Sequential) else [self.project]
        return PooledParts(self.encoder, self.tokeniser.pieces, self.tokeniser.longest, pooling, layers)

    def drop_finish(self) -> None:
        self.project = nn.Identity()

    def states_graph(self) -> nn.Module:
        return StatesGraph(self)


class StatesGraph(nn.Module):
    """The states of an encoder where these trace to ONNX as they are."""

    def __init__(self, encoder: PooledEncoder) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        return self.encoder.states(ids, lengths)
