"""A GRU that does not read padding: up the stairs of a batch.

Captions are ordered by length, the longest first. The GRU reads the first words of all of them, goes on from there with
the next words of only the longer ones, and so on:

    words  →  1 … 9      10 … 12     13 … 15
    longest   ########   ########    ########
              ########   ########    -
              ########   -           -
    shortest  ########   -           -

As many words are read one after another as before, but by fewer and fewer captions. PyTorch's packed sequences do the
same word by word; what they compute depends on the lengths, and a step that a GPU records must not. So a batch says
where its stairs are, rounded, such that few of them are different, and the captions that belong to them are found on
the device.
"""

from itertools import pairwise

import torch
from torch import Tensor, nn

Stairs = tuple[tuple[int, int], ...]  # up to which word how many captions are read; none: all of them, to the end


def climb(recurrent: nn.Module, words: Tensor, lengths: Tensor, stairs: Stairs) -> Tensor:
    """[captions, longest, d] and [captions] lengths → [captions, state] the GRU's state at the last real word.

    The first stair must be of all captions, the last one reach to `longest`, and every caption be read to its end.
    """
    order = lengths.argsort(descending=True, stable=True)
    lengths = lengths[order]
    edges = list(pairwise([0, *(end for end, _ in stairs)]))
    parts = words.index_select(0, order).split([end - begin for begin, end in edges], dim=1)
    reached = None
    for (begin, end), (_, count), part in zip(edges, stairs, parts, strict=True):
        states, _ = recurrent(part[:count], None if reached is None else reached[None, :count])
        place = (lengths[:count] - 1 - begin).clamp(0, end - begin - 1)
        new = states[torch.arange(count, device=words.device), place]
        if reached is not None:  # what ended on a stair before, or was not read on this one, has its state already
            read = torch.where((lengths[:count] > begin)[:, None], new, reached[:count])
            new = torch.cat([read, reached[count:]])
        reached = new
    if reached is None:
        raise ValueError("no stairs to climb")
    return reached.index_select(0, order.argsort())
