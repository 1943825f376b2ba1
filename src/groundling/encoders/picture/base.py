"""What every picture encoder does, and where encoders are found by name.

An encoder of one's own is one class and one line, in a file anywhere:

    @PICTURE_ENCODERS.register("deep")
    class DeepEncoder(PictureEncoder):
        def __init__(self, features: int, dimensions: int, settings: EncoderSettings) -> None:
            super().__init__(features)
            self.layers = nn.Sequential(nn.Linear(features, 512), nn.ReLU(), nn.Linear(512, dimensions))

        def forward(self, features: Tensor) -> Tensor:
            return normalize(self.layers(features).float(), dim=-1)

It then trains (`system: {name: vse, picture: {name: deep}}`) and is exported. Another package declares it as an entry
point of the group `groundling.picture_encoders`.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from groundling.encoders.entailment import EntailmentHead
from groundling.encoders.settings import NONE, EncoderSettings, Named, Specials, choose, name_of
from groundling.registry import Registry


class PictureEncoder(nn.Module, ABC):
    """Features of pictures into vectors, beside those of captions.

    Class attributes:
        Settings: its own settings.
        project_reads: whether its layer `project` is what reads the features. Where it is not, a buffer `width` tells
            how many there are, so that saved weights always say it (see `features_in`).
        comparable: whether its vectors lie in the space of captions, so that either finds the other.

    Attributes:
        features: how many a picture has.
    """

    Settings: ClassVar[type[EncoderSettings]] = EncoderSettings
    project_reads: ClassVar[bool] = False
    comparable: ClassVar[bool] = True
    width: Tensor

    def __init__(self, features: int) -> None:
        super().__init__()
        self.features = features
        if not self.project_reads:
            self.register_buffer("width", torch.tensor(features))

    @classmethod
    def of(cls, features: int, dimensions: int, settings: Any) -> Self:
        """A new encoder, with weights at random, for pictures of so many features."""
        make: Any = cls
        made: Self = make(features, dimensions, settings)
        return made

    @classmethod
    def vector_size(cls, dimensions: int, settings: Any) -> int:
        """Dimensions of its vectors, where those of captions have so many."""
        return dimensions

    @classmethod
    def head(cls, dimensions: int, settings: Any, hidden: int, dropout: float) -> nn.Module:
        """The head that tells from a sentence and a picture whether the sentence is true of it."""
        return EntailmentHead(dimensions, hidden, dropout)

    @abstractmethod
    def forward(self, features: Tensor) -> Tensor:
        """[pictures, features] → [pictures, dimensions]"""

    def warm_start(self, other: nn.Module) -> None:
        """All weights of an encoder of the same kind. Raises ValueError where it does not fit."""
        try:
            self.load_state_dict(other.state_dict())
        except RuntimeError as error:
            raise ValueError(str(error)) from None

    def export_graph(self) -> nn.Module:
        """A module that traces to ONNX: most encoders are nothing but linear layers, and do as they are."""
        return self


PICTURE_ENCODERS: Registry[type[PictureEncoder]] = Registry("picture encoder", "groundling.picture_encoders")


def features_in(weights: Mapping[str, Tensor], picture: str = "picture.") -> int:
    """The number of features that saved encoders look at."""
    width = weights.get(f"{picture}width")
    return int(weights[f"{picture}project.weight"].shape[1]) if width is None else int(width)


PictureChoice = tuple[type[PictureEncoder], EncoderSettings]


def chosen(values: Named, where: str, special: Specials = NONE, **defaults: Any) -> PictureChoice:
    """The encoder that a recipe names, and its checked settings; see `encoders.settings.choose`."""
    return choose(PICTURE_ENCODERS, values, where, {**defaults, **special.get(name_of(values), {})})
