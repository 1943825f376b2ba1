"""A latent vocabulary that words of all languages are assigned to, while it is learned.

SMALR: Burns et al. 2020, section 3.1, https://arxiv.org/abs/2004.04312

Each word becomes exactly one latent token, the one that scores best for its (frozen) word vector: hard attention. While
learning, with a probability of `exploration` it is one of the `best` tokens instead, drawn evenly.

The paper leaves open how scores learn, since the choice of a token has no gradient. Here: *straight through*. A word is
the chosen token's vector; on the way back, its scores are treated as if the word were the mean of its `best` tokens,
weighted by the softmax of their scores. So tokens learn from words that chose them, and scores learn which of the
tokens within reach would have served better.

Scores are those of a linear layer over the word vector, the same for all languages. Word vectors of different languages
know nothing of each other, so each language first has a square map of its own, which begins as the identity: vectors
that are aligned already lose nothing.

Vectors trained on a few thousand captions lie along a few directions, mostly that of how frequent a word is. Scored as
they are, nearly all frequent words of a language become one token within an epoch, on F8K-7, and captions can no longer
be told apart. So each language's vectors are whitened first.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.nn.functional import embedding, normalize

AT_ONCE = 2**26  # scores that are held at a time


class LatentVocabulary(nn.Module):
    """Words → latent tokens.

    Args:
        vectors: [rows, d] word vectors, frozen. Rows of a language are whitened, then brought to length one.
        bounds: where the rows of each language begin, and where the last ones end.
        tokens: latent ones to choose from.
        dimensions: of a latent token.
    """

    vectors: Tensor

    def __init__(
        self,
        vectors: Tensor,
        bounds: Sequence[int],
        tokens: int,
        dimensions: int,
        exploration: float = 0.2,
        best: int = 20,
    ) -> None:
        super().__init__()
        self.bounds, self.exploration, self.best = list(bounds), exploration, min(best, tokens)
        d = vectors.shape[1]
        self.register_buffer("vectors", whitened(vectors, self.bounds))
        self.maps = nn.Parameter(torch.eye(d).repeat(len(bounds) - 1, 1, 1))
        self.weight = nn.Parameter(torch.randn(tokens, d))
        self.bias = nn.Parameter(torch.zeros(tokens))
        self.latent = nn.Parameter(0.1 * torch.randn(tokens, dimensions))

    def forward(self, rows: Tensor) -> Tensor:
        """[words] rows, in ascending order → [words, dimensions] the vectors of their tokens.

        A word is explored, or not, once in a call, so that all captions of a step read it alike.
        """
        mapped = self.mapped(rows)
        near = self.nearest(mapped)  # [words, best]
        scores = (embedding(near, self.weight) @ mapped[:, :, None])[..., 0] + self.bias[near]
        explored = torch.rand(len(rows), device=rows.device) < self.exploration
        drawn = torch.randint(self.best, (len(rows),), device=rows.device)
        chosen = near.gather(1, torch.where(explored, drawn, 0)[:, None])[:, 0]
        straight: Tensor = _StraightThrough.apply(scores.softmax(dim=1), self.latent.detach(), near)  # type: ignore[no-untyped-call]
        return embedding(chosen, self.latent) + straight

    @torch.no_grad()
    def assignments(self) -> Tensor:
        """[rows] the best token of every word; that of rows before the first language means nothing."""
        rows = torch.arange(self.bounds[0], self.bounds[-1], device=self.vectors.device)
        best = self.nearest(self.mapped(rows), 1)[:, 0]
        return torch.cat([best.new_zeros(self.bounds[0]), best])

    def mapped(self, rows: Tensor) -> Tensor:
        """[words, d] word vectors through the map of their language."""
        edges = torch.searchsorted(rows, torch.tensor(self.bounds, dtype=rows.dtype, device=rows.device)).tolist()
        vectors = self.vectors[rows]
        parts = [vectors[begin:end] @ own.T for own, (begin, end) in zip(self.maps, pairwise(edges), strict=True)]
        return torch.cat(parts)

    @torch.no_grad()
    def nearest(self, mapped: Tensor, count: int | None = None) -> Tensor:
        """[words, count] the tokens that score best, the very best first."""
        wanted = self.best if count is None else count
        portions = mapped.split(max(1, AT_ONCE // len(self.weight)))
        return torch.cat([torch.addmm(self.bias, part, self.weight.T).topk(wanted).indices for part in portions])


class _StraightThrough(Function):
    """Zeros whose gradient is that of a mean of rows of `table`: the rows `near` [words, best], with these weights."""

    @staticmethod
    def forward(context: Any, weights: Tensor, table: Tensor, near: Tensor) -> Tensor:
        context.save_for_backward(table, near)
        return table.new_zeros(len(near), table.shape[1])

    @staticmethod
    def backward(context: Any, upstream: Tensor) -> tuple[Tensor, None, None]:
        table, near = context.saved_tensors
        return (embedding(near, table) @ upstream[:, :, None])[..., 0], None, None


def whitened(vectors: Tensor, bounds: Sequence[int]) -> Tensor:
    """The rows of each language with mean zero and the same variance in all directions they have, of length one.

    Directions with less than a thousandth of the largest spread are noise, and stay small.
    """
    result = vectors.float().clone()
    for begin, end in pairwise(bounds):
        if end > begin:
            rows = result[begin:end] - result[begin:end].mean(dim=0)
            _, spread, directions = torch.linalg.svd(rows, full_matrices=False)
            spread = spread.clamp(min=1e-3 * float(spread.max()) + 1e-12)
            result[begin:end] = (rows @ directions.T / spread) @ directions
    return normalize(result, dim=1)
