"""A caption as the mean of its words and their n-grams, then one layer: order is lost, speed and small data are won.

fastText: Bojanowski et al. 2017, https://arxiv.org/abs/1607.04606

>>> from groundling.settings import TextSettings
>>> text, settings = TextSettings(minimum_count=1), BagSettings(word_dimensions=4, buckets=32)
>>> encoder = BagEncoder.build(["a dog", "ein Hund"], ["en", "de"], text, 8, settings)
>>> encoder.encode(["hot dogs"], "en").shape
torch.Size([1, 8])
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import Field, PositiveInt
from torch import Tensor, nn
from torch.nn.functional import embedding_bag, normalize

from groundling.encoders.padding import average
from groundling.encoders.settings import EncoderSettings
from groundling.encoders.text.base import TEXT_ENCODERS, TextEncoder
from groundling.encoders.tokenisers.ngrams import NgramTokeniser
from groundling.settings import TextSettings
from groundling.text import Tokeniser


class BagSettings(EncoderSettings):
    word_dimensions: PositiveInt = Field(256, description="of a word or an n-gram")
    buckets: PositiveInt = Field(2**16, description="rows for hashed character n-grams")
    dropout: float = Field(0.3, ge=0, lt=1, description="of the caption's mean vector")


@TEXT_ENCODERS.register("bag")
class BagEncoder(TextEncoder):
    """Table → mean over the pieces of a caption → dropout → linear → unit vector."""

    tokeniser_class: ClassVar = NgramTokeniser
    Settings: ClassVar = BagSettings

    def __init__(self, tokeniser: Tokeniser, dimensions: int, settings: BagSettings) -> None:
        super().__init__(tokeniser)
        self.pieces = nn.Embedding(tokeniser.size, settings.word_dimensions, padding_idx=0)
        self.dropout = nn.Dropout(settings.dropout)
        self.project = nn.Linear(settings.word_dimensions, dimensions)
        nn.init.normal_(self.pieces.weight, std=0.1)

    @classmethod
    def learn_tokeniser(
        cls, texts: Sequence[str], languages: Sequence[str], text: TextSettings, settings: Any
    ) -> Tokeniser:
        return NgramTokeniser.build(texts, languages, text, settings.buckets)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Real entries are never row 0, which is padding and does not count."""
        mean = embedding_bag(ids.long(), self.pieces.weight, mode="mean", padding_idx=0)
        return normalize(self.project(self.dropout(mean)).float(), dim=-1)

    def export_graph(self) -> nn.Module:
        return BagGraph(self)


class BagGraph(nn.Module):
    """`BagEncoder` as it traces to ONNX."""

    def __init__(self, encoder: BagEncoder) -> None:
        super().__init__()
        self.pieces, self.project = encoder.pieces, encoder.project

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        return normalize(self.project(average(self.pieces(ids), lengths)), dim=-1)
