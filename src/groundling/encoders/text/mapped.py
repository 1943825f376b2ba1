"""Frozen word vectors, a map into the words of another language, and that language's sentence encoder.

Liu, Lebret and Aberer, "Visually grounded cross-lingual transfer learning" (seed 000): f(M·t)/‖f(M·t)‖, where t
are the vectors of the words, M the map and f a recurrent encoder.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

AT_ONCE = 1024  # words put together from pieces at a time; a word can have hundreds


class RecurrentSentence(nn.Module):
    """Word vectors → forward GRU → state at the last real word → unit vector. Padding cannot change it."""

    def __init__(self, word_dimensions: int, dimensions: int) -> None:
        super().__init__()
        self.recurrent = nn.GRU(word_dimensions, dimensions, batch_first=True)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest, word dimensions] and [captions] lengths → [captions, dimensions]"""
        return self.finish(self.pool(self.states(words, lengths), lengths))

    def states(self, words: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest, dimensions], one for each word (see `tokens`)"""
        states: Tensor = self.recurrent(words)[0]
        return states

    def pool(self, states: Tensor, lengths: Tensor) -> Tensor:
        return states[torch.arange(len(states), device=states.device), lengths - 1]

    def finish(self, pooled: Tensor) -> Tensor:
        return normalize(pooled.float(), dim=-1)


class MappedEncoder(nn.Module):
    """Rows of a table that is not trained → unit word vectors → map → sentence.

    Args:
        table: [rows, word dimensions] float16; row 0, the padding, is zero.
        dimensions: of the shared space, and of the recurrent state.
        mapped: whether there is a map; the language that the encoder was first trained on needs none.

    The map starts as a random rotation: as the ones that Procrustes finds, it leaves lengths and angles as they are.
    """

    def __init__(self, table: Tensor, dimensions: int, mapped: bool) -> None:
        super().__init__()
        size = table.shape[1]
        self.words = nn.Embedding.from_pretrained(table, freeze=True)
        self.map = nn.Linear(size, size, bias=False) if mapped else None
        if self.map is not None:
            nn.init.orthogonal_(self.map.weight)
        self.sentence = RecurrentSentence(size, dimensions)

    def forward(self, spellings: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest, pieces] rows of the table and [captions] lengths → [captions, dimensions]"""
        return self.sentence(self.mapped(self.vectors(spellings)), lengths)

    def vectors(self, spellings: Tensor) -> Tensor:
        """[…, pieces] → […, word dimensions]: the direction of the sum of the pieces, which is that of their mean."""
        return normalize(self.words(spellings).float().sum(dim=-2), dim=-1)

    def mapped(self, vectors: Tensor) -> Tensor:
        """M·t; padding, which is zero, stays zero."""
        return vectors if self.map is None else self.map(vectors)

    def spell(self, spellings: Tensor) -> Tensor:
        """[words, pieces] → [words, word dimensions] as the sentence reads them, outside training."""
        return torch.cat([self.mapped(self.vectors(part)).float() for part in spellings.split(AT_ONCE)])
