"""Words of two sentences that mean the same, and a student that gives them the vectors its teacher gives.

Which words belong together is told by their similarities, as in awesome-align (Dou and Neubig 2021,
https://arxiv.org/abs/2101.08231): a word of either sentence spreads itself over the words of the other by a softmax,
and two words are a pair where both give each other more than a threshold. The student then learns to say of its word
what the teacher says of its own: CLTEAVE (Xu 2024, section 3.2), after CLiCoTEA (Karoui et al. 2023,
https://arxiv.org/abs/2306.16774).

Everything has the shape of the batch: pairs are a matrix of words by words for each sentence, never a list.

>>> real = torch.ones(1, 2, dtype=torch.bool)
>>> word_pairs(torch.tensor([[[9.0, 0.0], [0.0, 9.0]]]), real, real)
tensor([[[ True, False],
         [False,  True]]])
"""

import torch
from torch import Tensor

LEAST = 1e-8  # to divide by, where there is nothing
NEVER = -1e9  # the similarity of what is padding


def word_pairs(
    similarities: Tensor, student: Tensor, teacher: Tensor, threshold: float = 1e-3, back: Tensor | None = None
) -> Tensor:
    """[n, s, t] similarities of words → [n, s, t] which are pairs.

    Args:
        student, teacher: [n, s] and [n, t], which words count: no padding, no symbols for start and end.
        back: similarities for the way from the teacher's words to the student's, where these are others.
    """
    back = similarities if back is None else back
    both = student[:, :, None] & teacher[:, None, :]
    forth = similarities.masked_fill(~both, NEVER).softmax(dim=2)
    back = back.masked_fill(~both, NEVER).softmax(dim=1)
    return both & (forth > threshold) & (back > threshold)


def token_distance(student: Tensor, teacher: Tensor, pairs: Tensor) -> Tensor:
    """The mean of ‖s − t‖² over all pairs of words in the batch; 0 where there are none.

    Args:
        student, teacher: [n, s, d] and [n, t, d] vectors of words. No gradient reaches the teacher.
        pairs: [n, s, t], which belong together, or how much.

    All differences at once would be n·s·t·d numbers; multiplied out they are n·s·t. The mean of the teacher's words is
    taken off before, so that little is lost by it.
    """
    weights, teacher = pairs.to(teacher.dtype), teacher.detach()
    middle = _mean(teacher, weights)
    s, t = student - middle, teacher - middle
    own = (s.square().sum(dim=-1) * weights.sum(dim=2)).sum()
    other = (t.square().sum(dim=-1) * weights.sum(dim=1)).sum()
    together = (torch.matmul(weights, t) * s).sum()
    return (own + other - 2 * together).clamp(min=0) / weights.sum().clamp(min=LEAST)


def token_spread(teacher: Tensor, pairs: Tensor) -> Tensor:
    """The mean squared distance of the teacher's paired words from their mean: the loss of saying one thing always."""
    weights, teacher = pairs.to(teacher.dtype), teacher.detach()
    squares = (teacher - _mean(teacher, weights)).square().sum(dim=-1)
    return ((squares * weights.sum(dim=1)).sum() / weights.sum().clamp(min=LEAST)).clamp(min=LEAST)


def unexplained_tokens(student: Tensor, teacher: Tensor, pairs: Tensor) -> Tensor:
    """The distance as a share of the spread: 0 is the same, 1 no better than their mean (see `distillation`)."""
    return token_distance(student, teacher, pairs) / token_spread(teacher, pairs)


def token_error(student: Tensor, teacher: Tensor, pairs: Tensor) -> Tensor:
    """The mean squared error over pairs of words and dimensions: the loss as published."""
    return token_distance(student, teacher, pairs) / teacher.shape[-1]


def _mean(teacher: Tensor, weights: Tensor) -> Tensor:
    """[d] of the teacher's words, each as often as it is in a pair."""
    return (teacher * weights.sum(dim=1)[:, :, None]).sum(dim=(0, 1)) / weights.sum().clamp(min=LEAST)
