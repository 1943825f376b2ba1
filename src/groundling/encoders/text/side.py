"""The text side of a pretrained model. Needs the extra `hub`.

CLIP (Radford et al. 2021, https://arxiv.org/abs/2103.00020), SigLIP (Zhai et al. 2023, https://arxiv.org/abs/2303.15343),
a multilingual sentence encoder and what else `model.sides` knows.

>>> encoder = model.encoders.text  # of a run that was taught by a pretrained model     # doctest: +SKIP
>>> encoder.encode(["a dog"], "en").shape                                               # doctest: +SKIP
torch.Size([1, 512])

It reads as its makers had it read and pools as they did. What is trained of it says `adapter`; LoRA: Hu et al. 2021,
"LoRA: Low-rank adaptation of large language models", https://arxiv.org/abs/2106.09685 (extra `tune`).
"""

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
        names = self._names()
        return {names[0]: entries, **({MASK: there.long()} if MASK in names else {})}

    def _names(self) -> list[str]:
        """Of what the side is given."""
        if not hasattr(self, "_given"):
            self._given = list(self._side[0].tokens(["a"]))
        return self._given

    @property
    def dimensions(self) -> int:
        return int(self._side[0].dimensions)

    def keep_files(self, run: Path) -> None:
        hub.keep(self.tokeniser.folder, run / hub.KEPT / self.tokeniser.inside, hub.ALL)


def without_pictures(network: Any) -> None:
    """Leave out what looks at pictures, where a network has both sides."""
    for module in network.modules():
        for part in ("vision_model", "visual_projection", "visual"):
            if getattr(module, part, None) is not None:
                setattr(module, part, None)
                return without_pictures(network)
