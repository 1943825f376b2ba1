"""A sentence as the mean of two GRUs that read it from both ends (the sentence part of LIWE, CLMR and BERT+GRU)."""

import math
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

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


class BidirectionalSentence(nn.Module):
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

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest, word dimensions] and [captions] lengths → [captions, dimensions]"""
        captions, last = torch.arange(len(words), device=words.device), lengths - 1
        onward = self.onward(words)[0][captions, last]
        if self.pooling == "last":
            back = self.back(words[captions, last])
        else:
            places = (last[:, None] - torch.arange(words.shape[1], device=words.device)).clamp(min=0)
            back = self.back(words[captions[:, None], places])[0][captions, last]
        return normalize((onward.float() + back.float()) / 2, dim=-1)

    def states(self, words: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest, d], one for each word (see `tokens`): the mean of both directions, or with "ends", where
        they are taken at different words, both side by side."""
        onward = self.onward(words)[0].float()
        if self.pooling == "last":
            return (onward + self.back(words).float()) / 2
        captions = torch.arange(len(words), device=words.device)[:, None]
        places = (lengths[:, None] - 1 - torch.arange(words.shape[1], device=words.device)).clamp(min=0)
        back = self.back(words[captions, places])[0].float()[captions, places]  # turned round, and back again
        return torch.cat([onward, back], dim=-1)

    def pool(self, states: Tensor, lengths: Tensor) -> Tensor:
        last = states[torch.arange(len(states), device=states.device), lengths - 1]
        if self.pooling == "last":
            return last
        half = states.shape[-1] // 2
        return (last[:, :half] + states[:, 0, half:]) / 2

    def finish(self, pooled: Tensor) -> Tensor:
        return normalize(pooled, dim=-1)


class BidirectionalEncoder(nn.Module):
    """Word table → bidirectional sentence (CLMR)."""

    def __init__(self, vocabulary: int, word_dimensions: int, dimensions: int, pooling: Pooling = "last") -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, word_dimensions)
        self.sentence = BidirectionalSentence(word_dimensions, dimensions, pooling)
        nn.init.uniform_(self.words.weight, -0.1, 0.1)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest] rows of the table and [captions] lengths → [captions, dimensions]"""
        return self.sentence(self.words(ids), lengths)
