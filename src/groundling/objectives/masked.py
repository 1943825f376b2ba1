"""Masked cross-language modelling, MCLM.

Burns et al. 2020, "Learning to scale multilingual representations for vision-language tasks" (SMALR),
https://arxiv.org/abs/2004.04312, section 3.2 and supplement 7.4.

Two sentences of one picture in two languages lose some words, and one linear layer, the same for every pair of
languages, looks at both and says what each of them is missing:

    (S'ᵢ, S'ⱼ) = W [Sᵐᵢ; Sᵐⱼ] + b,     L = ‖ℓ₂(Sᵐᵢ + S'ᵢ) − ℓ₂(Sᵢ)‖ + ‖ℓ₂(Sᵐⱼ + S'ⱼ) − ℓ₂(Sⱼ)‖

A sentence is seen in two ways, each with a layer of its own: as the mean of its words, where masked ones are left out,
and as the vector of the sentence branch, where they are replaced by a learned [MASK].

>>> noise = torch.tensor([[0.9, 0.1, 0.5, 0.0]])  # the last place is padding
>>> masked_words(torch.tensor([3]), 4, share=0.4, noise=noise)
tensor([[False,  True, False, False]])
"""

import torch
from torch import Tensor


def masked_words(lengths: Tensor, longest: int, share: float = 0.2, noise: Tensor | None = None) -> Tensor:
    """[…, longest] which words are masked: `share` of each sentence's, drawn evenly.

    At least one of two or more; never all, so that a sentence of one word stays whole.

    Args:
        lengths: […] real words of each sentence.
        noise: […, longest] even random numbers; drawn when left out. The words with the smallest ones are masked.
    """
    if noise is None:
        noise = torch.rand((*lengths.shape, longest), device=lengths.device)
    real = torch.arange(longest, device=lengths.device) < lengths[..., None]
    place = torch.where(real, noise, 2.0).argsort(dim=-1).argsort(dim=-1)  # of each word in the order of the draw
    count = torch.minimum((share * lengths).round().clamp(min=1), lengths - 1)
    return place < count[..., None]


def completion(masked: Tensor, whole: Tensor, real: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """The mean loss over all pairs of languages and, of each, all pairs of sentences that are both there.

    Args:
        masked: [languages, sentences, d] Sᵐ; sentence k of every language is of one picture.
        whole: [languages, sentences, d] S.
        real: [languages, sentences] which are there.
        weight, bias: [2d, 2d] and [2d] of the layer that sees a pair, the earlier language first.

    A pair is never put together: S'ᵢ is the sum of what the layer makes of either sentence, so that lengths and inner
    products of all pairs come from inner products of single sentences. Memory grows with languages, not their pairs.
    """
    languages, d = len(masked), masked.shape[-1]
    if languages < 2:
        return masked.new_zeros(())
    target = torch.nn.functional.normalize(whole, dim=-1)
    from_first, from_second = masked @ weight[:, :d].T, masked @ weight[:, d:].T  # [languages, sentences, 2d]
    # As the first of its pair a sentence has the first half of what the layer says, as the second the other half.
    first = _apart(masked + from_first[..., :d] + bias[:d], from_second[..., :d], target)
    second = _apart(masked + from_second[..., d:] + bias[d:], from_first[..., d:], target)
    pair = torch.ones(languages, languages, dtype=torch.bool, device=real.device).triu(1)  # [first, second]
    there = pair[..., None] & real[:, None] & real[None]
    costs = first + second.transpose(0, 1)
    return torch.where(there, costs, 0).sum() / there.sum().clamp(min=1)


def _apart(own: Tensor, others: Tensor, target: Tensor) -> Tensor:
    """[languages, other languages, sentences] ‖ℓ₂(own + others) − target‖ for unit targets."""
    square = own.square().sum(-1)[:, None] + 2 * _inner(own, others) + others.square().sum(-1)[None]
    along = (own * target).sum(-1)[:, None] + _inner(target, others)
    cosine = along / square.clamp(min=1e-8).sqrt()
    return (2 - 2 * cosine).clamp(min=1e-8).sqrt()  # equal vectors have no gradient rather than an infinite one


def _inner(one: Tensor, other: Tensor) -> Tensor:
    """[a, sentences, d], [b, sentences, d] → [a, b, sentences]"""
    return (one.transpose(0, 1) @ other.permute(1, 2, 0)).permute(1, 2, 0)
