"""A sentence as the last state of a GRU over its words (VSE++, Faghri et al. 2018; seed 002, section 3)."""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize


class RecurrentEncoder(nn.Module):
    """Word table → forward GRU → state at the last real word → unit vector.

    The GRU runs over the padding too, which needs no packing and suits batches of similar length: a forward state never
    sees what comes after it, so padding cannot change a caption's vector.
    """

    def __init__(self, vocabulary: int, word_dimensions: int, dimensions: int) -> None:
        super().__init__()
        self.words = nn.Embedding(vocabulary, word_dimensions)
        self.recurrent = nn.GRU(word_dimensions, dimensions, batch_first=True)
        nn.init.uniform_(self.words.weight, -0.1, 0.1)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest] rows of the table and [captions] lengths → [captions, dimensions]"""
        states, _ = self.recurrent(self.words(ids))
        last = states[torch.arange(len(ids), device=ids.device), lengths - 1]
        return normalize(last.float(), dim=-1)
