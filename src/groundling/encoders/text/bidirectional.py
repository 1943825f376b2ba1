"""A sentence as the mean of two GRUs that read it from both ends: the sentence part of LIWE, CLMR and BERT+GRU.

Wehrmann, Souza, Lopes and Barros 2019, "Language-agnostic visual-semantic embeddings", ICCV.

>>> from groundling.settings import TextSettings
>>> text, settings = TextSettings(minimum_count=1), BidirectionalSettings(word_dimensions=4, pooling="ends")
>>> encoder = BidirectionalEncoder.build(["a dog", "ein Hund"], ["en", "de"], text, 8, settings)
>>> encoder.encode(["a Hund"], "en").shape
torch.Size([1, 8])
"""

import math
from typing import ClassVar, Literal

import torch
from pydantic import Field, PositiveInt
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.encoders.onnx_parts import LastState
from groundling.encoders.padding import last, turned
from groundling.encoders.settings import EncoderSettings
from groundling.encoders.text.base import TEXT_ENCODERS
from groundling.encoders.text.readers import SentenceReader
from groundling.encoders.text.word_table import TableEncoder
from groundling.text import Tokeniser

Pooling = Literal["last", "ends"]


class FirstState(nn.Module):
    """The state of a GRU after one entry. It starts from zero, so that it has no recurrent matrix."""

    def __init__(self, inputs: int, dimensions: int) -> None:
        super().__init__()
        self.gates = nn.Linear(inputs, 3 * dimensions)
        self.state_bias = nn.Parameter(torch.empty(dimensions))
        for parameter in self.parameters():
            nn.init.uniform_(parameter, -1 / math.sqrt(dimensions), 1 / math.sqrt(dimensions))

    def forward(self, entries: Tensor) -> Tensor:
        """[n, inputs] → [n, dimensions]"""
        reset, update, new = self.gates(entries).float().chunk(3, dim=-1)
        return (1 - update.sigmoid()) * (new + reset.sigmoid() * self.state_bias).tanh()


class BidirectionalSentence(SentenceReader):
    """Word vectors → forward and backward GRU → their mean at the last real word → unit vector.

    With `pooling` "last", as published, both directions are taken at the last real word. The backward GRU has read
    nothing but that word there, so no more than that step of it is computed. With "ends" the backward GRU is taken at
    the first word: each direction has read the whole sentence.

    Padding cannot change a sentence: the forward state at a word never sees what follows, and the backward GRU reads
    the words of each sentence turned round within its length.
    """

    def __init__(self, word_dimensions: int, dimensions: int, pooling: Pooling = "last") -> None:
        super().__init__()
        self.pooling = pooling
        self.onward = nn.GRU(word_dimensions, dimensions, batch_first=True)
        self.back: nn.Module = (
            FirstState(word_dimensions, dimensions)
            if pooling == "last"
            else nn.GRU(word_dimensions, dimensions, batch_first=True)
        )

    @property
    def word_dimensions(self) -> int:
        return self.onward.input_size

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        onward = last(self.onward(words)[0], lengths)
        if self.pooling == "last":
            back = self.back(last(words, lengths))
        else:
            back = last(self.back(turned(words, lengths))[0], lengths)
        return normalize((onward.float() + back.float()) / 2, dim=-1)

    def states(self, words: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest, d]: the mean of both directions, or with "ends", where they are taken at different words,
        both side by side."""
        onward = self.onward(words)[0].float()
        if self.pooling == "last":
            return (onward + self.back(words).float()) / 2
        back = turned(self.back(turned(words, lengths))[0].float(), lengths)
        return torch.cat([onward, back], dim=-1)

    def pool(self, states: Tensor, lengths: Tensor) -> Tensor:
        at_last = last(states, lengths)
        if self.pooling == "last":
            return at_last
        half = states.shape[-1] // 2
        return (at_last[:, :half] + states[:, 0, half:]) / 2

    def export_graph(self) -> nn.Module:
        return BothWaysGraph(self)


class BothWaysGraph(nn.Module):
    """`BidirectionalSentence` as it traces to ONNX."""

    def __init__(self, sentence: BidirectionalSentence) -> None:
        super().__init__()
        self.onward = LastState(sentence.onward)
        self.ends = isinstance(sentence.back, nn.GRU)
        self.back = LastState(sentence.back, backward=True) if isinstance(sentence.back, nn.GRU) else sentence.back

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        back = self.back(words, lengths) if self.ends else self.back(last(words, lengths))
        return normalize((self.onward(words, lengths) + back) / 2, dim=-1)


class BidirectionalSettings(EncoderSettings):
    word_dimensions: PositiveInt = Field(300, description="of a word vector")
    pooling: Pooling = Field(
        "last",
        description="last: both directions at the last word, as published; ends: the backward one at the first word, "
        "where it has read the whole caption",
    )


@TEXT_ENCODERS.register("bidirectional")
class BidirectionalEncoder(TableEncoder):
    """Word table → bidirectional sentence (CLMR)."""

    Settings: ClassVar = BidirectionalSettings

    def __init__(self, tokeniser: Tokeniser, dimensions: int, settings: BidirectionalSettings) -> None:
        super().__init__(tokeniser)
        self.words = nn.Embedding(tokeniser.size, settings.word_dimensions)
        self.sentence = BidirectionalSentence(settings.word_dimensions, dimensions, settings.pooling)
        nn.init.uniform_(self.words.weight, -0.1, 0.1)
