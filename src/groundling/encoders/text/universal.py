"""Words of many languages in one universal embedding, and sentences made of them (MULE, Kim et al. 2020; seed 001).

Every language has its own rows of the word table and its own linear map; what comes out is the universal embedding, in
which words of all languages shall lie side by side.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.encoders.text.hybrid import HybridWords
from groundling.encoders.text.packing import Stairs, climb


class UniversalWords(HybridWords):
    """Word table → a linear map for each language (no activation) → universal embedding; see `hybrid`."""

    def __init__(self, bounds: Sequence[int], word_dimensions: int, universal: int, start: Tensor | None) -> None:
        super().__init__(bounds, word_dimensions, universal, start=start)


def average(words: Tensor, lengths: Tensor) -> Tensor:
    """[…, longest, d] and […] lengths → […, d] the mean of the real words, in float32."""
    real = torch.arange(words.shape[-2], device=words.device) < lengths[..., None]
    return (words.float() * real[..., None]).sum(dim=-2) / lengths[..., None]


def last_state(recurrent: nn.Module, project: nn.Module, words: Tensor, lengths: Tensor, stairs: Stairs = ()) -> Tensor:
    """[captions, longest, universal] → GRU → its state at the last real word → linear → unit vectors.

    A forward state never sees what comes after it, so that padding cannot change a caption. With stairs, most of it is
    not read either.
    """
    if stairs:
        last = climb(recurrent, words, lengths, stairs)
    else:
        states, _ = recurrent(words)
        last = states[torch.arange(len(words), device=words.device), lengths - 1]
    return normalize(project(last).float(), dim=-1)


class UniversalEncoder(nn.Module):
    """Universal words → one GRU and one linear layer for all languages → unit vectors (MULE)."""

    def __init__(self, words: HybridWords, universal: int, state: int, dimensions: int) -> None:
        super().__init__()
        self.words = words
        self.recurrent = nn.GRU(universal, state, batch_first=True)
        self.project = nn.Linear(state, dimensions)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest] rows of the table and [captions] lengths, of any languages → [captions, dimensions]"""
        return last_state(self.recurrent, self.project, self.words(ids), lengths)

    def read(self, ids: Tensor, lengths: Tensor, stairs: Stairs = ()) -> tuple[Tensor, Tensor]:
        """[languages, captions, longest] → the mean of the universal embeddings of its words, and the vector of each
        caption, [languages, captions, …]."""
        words = self.words(ids)
        return average(words, lengths), self.sentences(words, lengths, stairs)

    def sentences(self, words: Tensor, lengths: Tensor, stairs: Stairs = ()) -> Tensor:
        """[…, longest, universal] and […] lengths → […, dimensions], for captions in any number of dimensions."""
        flat = words.flatten(end_dim=-3)
        vectors = last_state(self.recurrent, self.project, flat, lengths.flatten(), stairs)
        return vectors.unflatten(0, lengths.shape)


class ParallelEncoder(nn.Module):
    """The same with a GRU and a linear layer for each language (PAR. EmbN, after Gella et al. 2017)."""

    def __init__(self, words: HybridWords, universal: int, state: int, dimensions: int) -> None:
        super().__init__()
        self.words = words
        self.recurrent = nn.ModuleList(nn.GRU(universal, state, batch_first=True) for _ in words.mapped)
        self.project = nn.ModuleList(nn.Linear(state, dimensions) for _ in words.mapped)
        self.dimensions = dimensions

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """As of `UniversalEncoder`. A caption's language is that of its first word."""
        words, languages = self.words(ids), self.words.languages(ids[:, 0])
        vectors = torch.empty(len(ids), self.dimensions, device=ids.device)
        for number, (recurrent, project) in enumerate(zip(self.recurrent, self.project, strict=True)):
            rows = (languages == number).nonzero().flatten()
            vectors[rows] = last_state(recurrent, project, words[rows], lengths[rows])
        return vectors

    def read(self, ids: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        """As of `UniversalEncoder`: the languages come in the order of their rows."""
        words = self.words(ids)
        branches = zip(self.recurrent, self.project, words, lengths, strict=True)
        return average(words, lengths), torch.stack([last_state(*branch) for branch in branches])
