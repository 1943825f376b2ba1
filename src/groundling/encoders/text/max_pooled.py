"""A sentence as the largest of each entry of the states over its words, read from both ends (InferSent's encoder:
Conneau et al. 2017, with GRUs).

No word has to be carried through the sentence to its end, so that it is learned sooner what each word changes.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize


class MaxSentence(nn.Module):
    """Word vectors → forward and backward GRU, half of the dimensions each → largest over the words → unit vector.

    The backward GRU reads the words of each sentence turned round within its length, and padding is no candidate, so
    that padding cannot change a sentence.
    """

    def __init__(self, word_dimensions: int, dimensions: int) -> None:
        super().__init__()
        self.onward = nn.GRU(word_dimensions, dimensions - dimensions // 2, batch_first=True)
        self.back = nn.GRU(word_dimensions, dimensions // 2, batch_first=True)

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest, word dimensions] and [captions] lengths → [captions, dimensions]"""
        steps = torch.arange(words.shape[1], device=words.device)
        places = (lengths[:, None] - 1 - steps).clamp(min=0)
        turned = words[torch.arange(len(words), device=words.device)[:, None], places]
        states = torch.cat([self.onward(words)[0], self.back(turned)[0]], dim=-1).float()
        padding = (steps >= lengths[:, None])[:, :, None]
        return normalize(states.masked_fill(padding, -2.0).amax(dim=1), dim=-1)  # states lie between −1 and 1

    def states(self, words: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest, dimensions], one for each word (see `tokens`)"""
        captions = torch.arange(len(words), device=words.device)[:, None]
        places = (lengths[:, None] - 1 - torch.arange(words.shape[1], device=words.device)).clamp(min=0)
        back = self.back(words[captions, places])[0][captions, places]  # turned round, and back again
        return torch.cat([self.onward(words)[0], back], dim=-1).float()

    def pool(self, states: Tensor, lengths: Tensor) -> Tensor:
        padding = (torch.arange(states.shape[1], device=states.device) >= lengths[:, None])[:, :, None]
        return states.masked_fill(padding, float("-inf")).amax(dim=1)

    def finish(self, pooled: Tensor) -> Tensor:
        return normalize(pooled, dim=-1)


class MaxPooledEncoder(nn.Module):
    """Word table → sentence."""

    def __init__(self, vocabulary: int, word_dimensions: int, dimensions: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, word_dimensions)
        self.sentence = MaxSentence(word_dimensions, dimensions)
        nn.init.normal_(self.words.weight, std=0.5)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest] rows of the table and [captions] lengths → [captions, dimensions]"""
        return self.sentence(self.words(ids), lengths)
