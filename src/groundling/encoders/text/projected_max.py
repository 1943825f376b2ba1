"""Words → bidirectional GRU → the largest of each state over the words → linear → unit vector.

The pooling is InferSent's (Conneau et al. 2017, https://arxiv.org/abs/1705.02364). Trained on few captions the encoder
must not lean on single words: vectors of words and what is pooled have dropout, and now and then a word is unknown.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.encoders.text.max_pooled import MaxSentence
from groundling.text.vocabulary import UNKNOWN


class ProjectedMaxSentence(MaxSentence):
    """Word vectors → GRU of `hidden` dimensions from either end → largest → dropout → linear → unit vector."""

    def __init__(self, word_dimensions: int, hidden: int, dimensions: int, dropout: float) -> None:
        super().__init__(word_dimensions, 2 * hidden)
        self.dropout = nn.Dropout(dropout)
        self.project = nn.Linear(2 * hidden, dimensions)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return self.finish(self.pool(self.states(words, lengths), lengths))

    def finish(self, pooled: Tensor) -> Tensor:
        return normalize(self.project(self.dropout(pooled)).float(), dim=-1)


class ProjectedMaxEncoder(nn.Module):
    """Word table → sentence.

    Args:
        dropout: of word vectors and of what is pooled.
        word_dropout: how often a known word is read as the unknown one, in training.
    """

    def __init__(
        self,
        vocabulary: int,
        word_dimensions: int,
        hidden: int,
        dimensions: int,
        dropout: float = 0.3,
        word_dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, word_dimensions)
        self.dropout, self.word_dropout = nn.Dropout(dropout), word_dropout
        self.sentence = ProjectedMaxSentence(word_dimensions, hidden, dimensions, dropout)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest] rows of the table and [captions] lengths → [captions, dimensions]"""
        if self.training and self.word_dropout:
            ids = masked_words(ids, self.word_dropout)
        return self.sentence(self.dropout(self.words(ids)), lengths)


def masked_words(ids: Tensor, share: float) -> Tensor:
    """The same with a share of the known words, drawn anew each time, in place of which the unknown word stands."""
    drawn = torch.rand(ids.shape, device=ids.device) < share
    return ids.masked_fill(drawn & (ids > UNKNOWN), UNKNOWN)
