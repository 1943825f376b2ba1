"""Encoders as somebody else would write them, outside of the package: one file, and one line for each.

The text encoder has a tokeniser of its own, which cuts captions into letters; all that groundling asks of an encoder
beyond training (which words it knows, spans of words, a graph for ONNX) follows from these two classes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.encoders.padding import average
from groundling.encoders.picture import PICTURE_ENCODERS, PictureEncoder
from groundling.encoders.settings import EncoderSettings
from groundling.encoders.text import TEXT_ENCODERS, TextEncoder
from groundling.settings import TextSettings
from groundling.text.tokens import Tokeniser, Tokens, pad


@dataclass(frozen=True)
class PairTokeniser(Tokeniser):
    """A caption as the pairs of letters that its words begin with."""

    kind: ClassVar[str] = "own-pairs"
    pairs: tuple[str, ...]
    settings: TextSettings

    @property
    def size(self) -> int:
        return 2 + len(self.pairs)  # padding, and what was never seen

    @classmethod
    def build(cls, texts: Sequence[str], languages: Sequence[str], settings: TextSettings) -> Self:
        return cls(tuple(sorted({word[:2] for text in texts for word in text.split()})), settings)

    def encode(self, texts: Sequence[str], languages: Sequence[str]) -> Tokens:
        rows = {pair: row for row, pair in enumerate(self.pairs, start=2)}
        return pad([[rows.get(word[:2], 1) for word in text.lower().split()] or [1] for text in texts])

    def listed_words(self) -> Mapping[str, Sequence[str]]:
        return {"": self.pairs}

    def row_names(self) -> Mapping[str, int]:
        return {pair: row for row, pair in enumerate(self.pairs, start=2)}

    def to_json(self) -> dict[str, Any]:
        return {"kind": self.kind, "pairs": list(self.pairs), "settings": self.settings.model_dump()}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        return cls(tuple(value["pairs"]), TextSettings(**value["settings"]))


class MeanSettings(EncoderSettings):
    word_dimensions: int = 300
    layers: int = 1


@TEXT_ENCODERS.register("own_mean")
class MeanEncoder(TextEncoder):
    """The mean of the vectors of pairs of letters, through some layers."""

    tokeniser_class: ClassVar = PairTokeniser
    Settings: ClassVar = MeanSettings
    table: ClassVar = "pairs.weight"

    def __init__(self, tokeniser: Tokeniser, dimensions: int, settings: MeanSettings) -> None:
        super().__init__(tokeniser)
        self.pairs = nn.Embedding(tokeniser.size, settings.word_dimensions)
        sizes = [settings.word_dimensions] * settings.layers
        hidden = [part for size in sizes for part in (nn.Linear(size, size), nn.Tanh())]
        self.layers = nn.Sequential(*hidden, nn.Linear(settings.word_dimensions, dimensions))

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        return normalize(self.layers(average(self.pairs(ids), lengths)), dim=-1)


class DeepSettings(EncoderSettings):
    hidden: int = 16


@PICTURE_ENCODERS.register("own_deep")
class DeepPictureEncoder(PictureEncoder):
    """Two layers on the features."""

    Settings: ClassVar = DeepSettings

    def __init__(self, features: int, dimensions: int, settings: DeepSettings) -> None:
        super().__init__(features)
        self.layers = nn.Sequential(
            nn.Linear(features, settings.hidden), nn.Tanh(), nn.Linear(settings.hidden, dimensions)
        )

    def forward(self, features: Tensor) -> Tensor:
        return normalize(self.layers(features).float(), dim=-1)
