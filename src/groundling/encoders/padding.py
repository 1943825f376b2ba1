"""What several encoders do with captions of different lengths: [n, longest, …] and [n] lengths.

All of it traces to ONNX for any number of captions, and shapes never depend on how much is real, which a recorded step
on a GPU needs.

>>> states = torch.arange(6.0).view(2, 3, 1)
>>> last(states, torch.tensor([3, 1])).flatten().tolist()
[2.0, 3.0]
"""

import torch
from torch import Tensor


def real(lengths: Tensor, longest: int) -> Tensor:
    """[…] lengths → […, longest] which entries are no padding."""
    return torch.arange(longest, device=lengths.device) < lengths[..., None]


def entry(states: Tensor, place: Tensor) -> Tensor:
    """[n, longest, d] and [n] places → [n, d] what stands there."""
    return states.gather(1, place[:, None, None].expand(-1, 1, states.shape[2])).squeeze(1)


def last(states: Tensor, lengths: Tensor) -> Tensor:
    """[n, longest, d] → [n, d] what stands at the last real entry."""
    return entry(states, lengths - 1)


def turned(states: Tensor, lengths: Tensor) -> Tensor:
    """[n, longest, d] the same with the real entries of each caption turned round; turned twice they are as before."""
    places = (lengths[:, None] - 1 - torch.arange(states.shape[1], device=states.device)).clamp(min=0)
    return states[torch.arange(len(states), device=states.device)[:, None], places]


def average(words: Tensor, lengths: Tensor) -> Tensor:
    """[…, longest, d] and […] lengths → […, d] the mean of the real words, in float32."""
    return (words.float() * real(lengths, words.shape[-2])[..., None]).sum(dim=-2) / lengths[..., None]
