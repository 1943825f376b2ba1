"""Captions of one picture in several languages, each beside the next one: a ring through all of them.

Ranking captions against captions of the same picture is the caption–caption objective of Kádár et al. 2018, "Lessons
learned in multilingual grounded language learning", https://arxiv.org/abs/1809.07615. With M captions there are
M (M − 1) / 2 pairs; a ring has M of them and ties all together.
"""

from collections.abc import Callable

import torch
from torch import Tensor


def caption_ring(captions: Tensor, texts: Tensor, real: Tensor, objective: Callable[..., Tensor]) -> Tensor:
    """Line m of captions against line m + 1, the last against the first; 0 where there is one line alone.

    Args:
        captions: [lines, n, d] unit vectors; column j is of one picture, or of one meaning.
        texts: [lines, n] a number for what a caption says, by which others that say the same are told.
        real: [lines, n] which are there.
        objective: InfoNCE, or another loss of (similarities, false negatives, which are there).
    """
    if len(captions) < 2:
        return captions.new_zeros(())
    lines = len(captions) if len(captions) > 2 else 1  # of two lines the way back is the way there
    one, other = captions[:lines], captions.roll(-1, dims=0)[:lines]
    next_texts, both = texts.roll(-1, dims=0)[:lines], (real & real.roll(-1, dims=0))[:lines]
    same = texts[:lines, :, None] == next_texts[:, None, :]
    return objective(torch.matmul(one, other.transpose(1, 2)), same, both)
