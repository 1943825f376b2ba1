"""The text side of a pretrained model. Needs the extra `hub`.

CLIP (Radford et al. 2021, https://arxiv.org/abs/2103.00020), SigLIP (Zhai et al. 2023, https://arxiv.org/abs/2303.15343),
a multilingual sentence encoder and what else `model.sides` knows.

>>> encoder = model.encoders.text  # of a run that was taught by a pretrained model     # doctest: +SKIP
>>> encoder.encode(["a dog"], "en").shape                                               # doctest: +SKIP
torch.Size([1, 512])

It reads as its makers had it read and pools as they did. What is trained of it says `adapter`; LoRA: Hu et al. 2021,
"LoRA: Low-rank adaptation of large language models", https://arxiv.org/abs/2106.09685 (extra `tune`).
"""

from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import torch
from pydantic import Field, PositiveInt
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling import hub
from groundling.encoders import lora
from groundling.encoders.padding import real
from groundling.encoders.settings import EncoderSettings
from groundling.encoders.text.base import TEXT_ENCODERS, TextEncoder
from groundling.encoders.text.pretrained import leave_out
from groundling.encoders.tokenisers.side import MASK, SideTokeniser, open_side

Adapter = Literal["frozen", "linear", "lora", "full"]


class SideSettings(EncoderSettings):
    adapter: Adapter = Field(
        "frozen",
        description="frozen: as it is; linear: a square layer behind it; lora: low-rank changes of all its layers "
        "(extra `tune`); full: all of it is trained",
    )
    rank: PositiveInt = Field(16, description="of lora")


@TEXT_ENCODERS.register("side")
class SideEncoder(TextEncoder):
    """Text side → perhaps a linear layer that begins as the identity → unit vector.

    A side that stays as it is is no part of the weights that are saved: the run has a copy of all of its files.
    """

    tokeniser_class: ClassVar = SideTokeniser
    Settings: ClassVar = SideSettings
    tokeniser: SideTokeniser

    def __init__(self, tokeniser: SideTokeniser, dimensions: int, settings: SideSettings) -> None:
        super().__init__(tokeniser)
        self.trained, self.settings = settings.adapter in ("lora", "full"), settings
        # One that changes must not be the one that others, its teacher among them, read with.
        self._side = (open_side(tokeniser.folder, tokeniser.alone) if self.trained else tokeniser.side,)
        self.network: nn.Module = self._side[0].network
        if self.trained:
            without_pictures(self.network)
        else:
            leave_out(self, "network")
        self.network.requires_grad_(self.trained)
        self.project: nn.Module = nn.Identity()
        if settings.adapter == "linear":
            layer = nn.Linear(dimensions, dimensions, bias=False)
            nn.init.eye_(layer.weight)
            self.project = layer

    def begin_tuning(self) -> None:
        """Put in what only training needs; what is saved of it is the sum (see `lora.merged`)."""
        if self.settings.adapter == "lora":
            lora.inject(self.network, self.settings.rank)

    def train(self, mode: bool = True) -> "SideEncoder":
        """What is not trained stays in evaluation mode."""
        super().train(mode)
        self.network.train(mode and self.trained)
        return self

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        with torch.set_grad_enabled(self.trained and torch.is_grad_enabled()):
            vectors: Tensor = self._side[0].vectors(self.inputs(ids, lengths))
        return normalize(self.project(vectors.float()), dim=-1)

    def inputs(self, ids: Tensor, lengths: Tensor) -> dict[str, Tensor]:
        """What the side's own tokeniser would have given."""
        there = real(lengths, ids.shape[1])
        entries = ids.long().masked_fill(~there, self.tokeniser.padding)
        return {self._side[0].takes: entries, **({MASK: there.long()} if self._masked else {})}

    @cached_property
    def _masked(self) -> bool:
        """Whether the side is told what is padding."""
        return MASK in self._side[0].tokens(["a"])

    def export_graph(self) -> nn.Module:
        return SideGraph(self._side[0], self.project)

    @property
    def dimensions(self) -> int:
        return int(self._side[0].dimensions)

    def keep_files(self, run: Path) -> None:
        hub.keep(self.tokeniser.folder, run / hub.KEPT / self.tokeniser.inside, hub.ALL)


class SideGraph(nn.Module):
    """[captions, longest] tokens and [captions] lengths → unit vectors, padded and masked as the side's makers did.

    Args:
        side: a `model.sides.TextSide`.
        project: what is behind it.
    """

    def __init__(self, side: Any, project: nn.Module) -> None:
        super().__init__()
        self.network: nn.Module = side.network.float().requires_grad_(False)
        self.said, self.takes, self.vectors, self.project = side.text_rules(), side.takes, side.vectors, project

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        said = self.said
        if said.padded:  # whatever the width is, `longest` columns are left
            more = torch.zeros((ids.shape[0], said.longest), dtype=ids.dtype, device=ids.device)
            ids = torch.cat([ids, more], dim=1)[:, : said.longest]
        there = torch.arange(ids.shape[1], device=ids.device)[None, :] < lengths[:, None]
        inputs = {self.takes: torch.where(there, ids, said.pad).long()}
        if said.masked:
            inputs[MASK] = there.long()
        return normalize(self.project(self.vectors(inputs).float()), dim=-1)


def without_pictures(network: Any) -> None:
    """Leave out what looks at pictures, where a network has both sides."""
    for module in network.modules():
        for part in ("vision_model", "visual_projection", "visual"):
            if getattr(module, part, None) is not None:
                setattr(module, part, None)
                return without_pictures(network)
