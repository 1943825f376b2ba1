"""A sentence as the largest of each entry of the states over its words, read from both ends.

InferSent's encoder, with GRUs: Conneau et al. 2017, https://arxiv.org/abs/1705.02364. No word has to be carried through
the sentence to its end, so that it is learned sooner what each word changes.

>>> from groundling.settings import TextSettings
>>> text, settings = TextSettings(minimum_count=1), MaxPooledSettings(word_dimensions=4)
>>> encoder = MaxPooledEncoder.build(["a dog", "ein Hund"], ["en", "de"], text, 8, settings)
>>> encoder.encode(["a Hund"], "en").shape
torch.Size([1, 8])
"""

from typing import ClassVar

import torch
from pydantic import Field, PositiveInt
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.encoders.onnx_parts import EveryState
from groundling.encoders.padding import real, turned
from groundling.encoders.settings import EncoderSettings
from groundling.encoders.text.base import TEXT_ENCODERS
from groundling.encoders.text.readers import SentenceReader
from groundling.encoders.text.word_table import TableEncoder
from groundling.text import Tokeniser


class MaxSentence(SentenceReader):
    """Word vectors → forward and backward GRU, half of the dimensions each → largest over the words → unit vector.

    The backward GRU reads the words of each sentence turned round within its length, and padding is no candidate, so
    that padding cannot change a sentence.
    """

    def __init__(self, word_dimensions: int, dimensions: int) -> None:
        super().__init__()
        self.onward = nn.GRU(word_dimensions, dimensions - dimensions // 2, batch_first=True)
        self.back = nn.GRU(word_dimensions, dimensions // 2, batch_first=True)

    @property
    def word_dimensions(self) -> int:
        return self.onward.input_size

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """Which states are at the same word does not matter to the largest of them: they are not turned back."""
        states = torch.cat([self.onward(words)[0], self.back(turned(words, lengths))[0]], dim=-1).float()
        return self.finish(self.pool(states, lengths))

    def states(self, words: Tensor, lengths: Tensor) -> Tensor:
        back = turned(self.back(turned(words, lengths))[0], lengths)
        return torch.cat([self.onward(words)[0], back], dim=-1).float()

    def pool(self, states: Tensor, lengths: Tensor) -> Tensor:
        padding = ~real(lengths, states.shape[1])[:, :, None]
        return states.masked_fill(padding, float("-inf")).amax(dim=1)

    def unscaled(self, pooled: Tensor) -> Tensor:
        return pooled

    def export_graph(self) -> nn.Module:
        return LargestGraph(self)


class LargestGraph(nn.Module):
    """`MaxSentence` as it traces to ONNX, and a linear layer where one follows."""

    def __init__(self, sentence: MaxSentence, project: nn.Module | None = None) -> None:
        super().__init__()
        self.project = nn.Identity() if project is None else project
        self.onward, self.back = EveryState(sentence.onward), EveryState(sentence.back, backward=True)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        states = torch.cat([self.onward(words, lengths), self.back(words, lengths)], dim=-1)
        padding = ~real(lengths, words.shape[1])[:, :, None]
        largest = states.masked_fill(padding, -2.0).amax(dim=1)  # states lie between −1 and 1
        return normalize(self.project(largest), dim=-1)


class MaxPooledSettings(EncoderSettings):
    word_dimensions: PositiveInt = Field(300, description="of a word vector")


@TEXT_ENCODERS.register("max_pooled")
class MaxPooledEncoder(TableEncoder):
    """Word table → sentence."""

    Settings: ClassVar = MaxPooledSettings

    def __init__(self, tokeniser: Tokeniser, dimensions: int, settings: MaxPooledSettings) -> None:
        super().__init__(tokeniser)
        self.words = nn.Embedding(tokeniser.size, settings.word_dimensions)
        self.sentence = MaxSentence(settings.word_dimensions, dimensions)
        nn.init.normal_(self.words.weight, std=0.5)
