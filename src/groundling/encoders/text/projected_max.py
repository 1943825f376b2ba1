"""Words → bidirectional GRU → the largest of each state over the words → linear → unit vector.

The pooling is InferSent's (Conneau et al. 2017, https://arxiv.org/abs/1705.02364). Trained on few captions the encoder
must not lean on single words: vectors of words and what is pooled have dropout, and now and then a word is unknown.

>>> from groundling.settings import TextSettings
>>> text, settings = TextSettings(minimum_count=1), ProjectedMaxSettings(word_dimensions=4, hidden=5)
>>> encoder = ProjectedMaxEncoder.build(["a dog", "ein Hund"], ["en", "de"], text, 8, settings)
>>> encoder.encode(["a Hund"], "en").shape
torch.Size([1, 8])
"""

from typing import ClassVar

import torch
from pydantic import Field, PositiveInt
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.encoders.settings import EncoderSettings
from groundling.encoders.text.base import TEXT_ENCODERS
from groundling.encoders.text.max_pooled import LargestGraph, MaxSentence
from groundling.encoders.text.word_table import TableEncoder
from groundling.text import Tokeniser
from groundling.text.vocabulary import UNKNOWN


class ProjectedMaxSentence(MaxSentence):
    """Word vectors → GRU of `hidden` dimensions from either end → largest → dropout → linear → unit vector."""

    def __init__(self, word_dimensions: int, hidden: int, dimensions: int, dropout: float) -> None:
        super().__init__(word_dimensions, 2 * hidden)
        self.dropout = nn.Dropout(dropout)
        self.project = nn.Linear(2 * hidden, dimensions)

    def unscaled(self, pooled: Tensor) -> Tensor:
        vectors: Tensor = self.project(self.dropout(pooled))
        return vectors

    def finish(self, pooled: Tensor) -> Tensor:
        return normalize(self.unscaled(pooled).float(), dim=-1)

    def freeze_finish(self) -> None:
        self.project.requires_grad_(False)

    def export_graph(self) -> nn.Module:
        return LargestGraph(self, self.project)


class ProjectedMaxSettings(EncoderSettings):
    word_dimensions: PositiveInt = Field(128, description="of a word vector")
    hidden: PositiveInt = Field(448, description="dimensions of each direction's recurrent state")
    dropout: float = Field(0.3, ge=0, lt=1, description="of word vectors and of what is pooled")
    word_dropout: float = Field(0.1, ge=0, lt=1, description="how often a word is read as the unknown one in training")


@TEXT_ENCODERS.register("projected_max")
class ProjectedMaxEncoder(TableEncoder):
    """Word table → dropout → sentence."""

    Settings: ClassVar = ProjectedMaxSettings

    def __init__(self, tokeniser: Tokeniser, dimensions: int, settings: ProjectedMaxSettings) -> None:
        super().__init__(tokeniser)
        self.words = nn.Embedding(tokeniser.size, settings.word_dimensions)
        nn.init.normal_(self.words.weight, std=0.1)  # small: a rare word is moved a few times only, and must arrive
        self.dropout, self.word_dropout = nn.Dropout(settings.dropout), settings.word_dropout
        self.sentence = ProjectedMaxSentence(settings.word_dimensions, settings.hidden, dimensions, settings.dropout)

    def word_vectors(self, entries: Tensor, lengths: Tensor) -> Tensor:
        if self.training and self.word_dropout:
            entries = masked_words(entries, self.word_dropout)
        vectors: Tensor = self.dropout(self.words(entries))
        return vectors


def masked_words(ids: Tensor, share: float) -> Tensor:
    """The same with a share of the known words, drawn anew each time, in place of which the unknown word stands."""
    drawn = torch.rand(ids.shape, device=ids.device) < share
    return ids.masked_fill(drawn & (ids > UNKNOWN), UNKNOWN)
