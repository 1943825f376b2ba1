"""Words from their characters, and sentences from such words (LIWE: Wehrmann et al. 2019; seed 004)."""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu
from torch.nn.utils.parametrizations import weight_norm

from groundling.encoders.text.masked_norm import MaskedBatchNorm

AT_ONCE = 4096  # words spelled out together outside training


class LayeredWords(nn.Module):
    """Characters side by side, zeros after the last one → (f1, f2, …, word) fully connected layers.

    Each layer, the one to the word vector included, is a weight-normalised linear map, batch normalisation and a leaky
    ReLU of slope 0.1. The linear maps have no bias: normalisation would take it away again.
    `renormalise` is for batches of one language each (see `masked_norm`).
    """

    def __init__(
        self,
        alphabet: int,
        character_dimensions: int,
        layers: Sequence[int],
        word_dimensions: int,
        longest: int,
        renormalise: bool = False,
    ) -> None:
        super().__init__()
        self.characters = nn.Embedding(alphabet, character_dimensions, padding_idx=0)
        sizes = [character_dimensions * longest, *layers, word_dimensions]
        self.maps = nn.ModuleList(weight_norm(nn.Linear(a, b, bias=False)) for a, b in pairwise(sizes))
        self.norms = nn.ModuleList(MaskedBatchNorm(size, renormalise=renormalise) for size in sizes[1:])

    def forward(self, spellings: Tensor, real: Tensor) -> Tensor:
        """[…, longest] rows of the character table and […] which words are real → […, word dimensions]"""
        words = self.characters(spellings).flatten(-2)
        for linear, norm in zip(self.maps, self.norms, strict=True):
            words = leaky_relu(norm(linear(words), real), 0.1)
        return words


class RecurrentWords(nn.Module):
    """A GRU over the characters; its state at the last one (charGRU)."""

    def __init__(self, alphabet: int, character_dimensions: int, word_dimensions: int) -> None:
        super().__init__()
        self.characters = nn.Embedding(alphabet, character_dimensions, padding_idx=0)
        self.recurrent = nn.GRU(character_dimensions, word_dimensions, batch_first=True)

    def forward(self, spellings: Tensor, real: Tensor) -> Tensor:
        """As in `LayeredWords`; there are no statistics here that padding words could spoil."""
        words = spellings.flatten(end_dim=-2)
        last = ((words != 0).sum(-1) - 1).clamp(min=0)
        states, _ = self.recurrent(self.characters(words))
        return states[torch.arange(len(words), device=words.device), last].unflatten(0, real.shape)


class CharacterEncoder(nn.Module):
    """Spellings → word vectors → sentence (bidirectional in LIWE)."""

    def __init__(self, words: LayeredWords | RecurrentWords, sentence: nn.Module) -> None:
        super().__init__()
        self.words, self.sentence = words, sentence

    def forward(self, spellings: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest, characters] and [captions] lengths → [captions, dimensions]"""
        real = torch.arange(spellings.shape[1], device=spellings.device) < lengths[:, None]
        return self.sentence(self.words(spellings, real), lengths)

    def spell(self, spellings: Tensor) -> Tensor:
        """[words, characters] → [words, word dimensions], outside training, where a word does not depend on others."""
        parts = [self.words(part, part[:, 0] != 0).float() for part in spellings.split(AT_ONCE)]
        return torch.cat(parts)
