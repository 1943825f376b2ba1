"""A GRU that reads hardly any padding: captions are packed by length.

Captions are ordered by length, the longest first. The GRU reads the first words of all of them, goes on from there with
the next words of only the longer ones, and so on:

    words  →  1 … 9      10 … 12     13 … 15
    longest   ########   ########    ########
              ########   ########    -
              ########   -           -
    shortest  ########   -           -

As many words are read one after another as before, but by fewer and fewer captions. PyTorch's packed sequences do the
same word by word; what they compute depends on the lengths, and a step that a GPU records must not. So a batch says
where its packing ends, rounded, such that few packings are different, and the captions that belong to each part are
found on the device.
"""

from itertools import pairwise

import torch
from torch import Tensor, nn

from groundling.batches.packing import Packing
from groundling.encoders.padding import entry


def read_packed(recurrent: nn.Module, words: Tensor, lengths: Tensor, packing: Packing) -> Tensor:
    """[captions, longest, d] and [captions] lengths → [captions, state] the GRU's state at the last real word.

    The first part must be of all captions, the last one reach to `longest`, and every caption be read to its end.
    """
    order = lengths.argsort(descending=True, stable=True)
    lengths = lengths[order]
    edges = list(pairwise([0, *(end for end, _ in packing)]))
    parts = words.index_select(0, order).split([end - begin for begin, end in edges], dim=1)
    reached = None
    for (begin, end), (_, count), part in zip(edges, packing, parts, strict=True):
        states, _ = recurrent(part[:count], None if reached is None else reached[None, :count])
        place = (lengths[:count] - 1 - begin).clamp(0, end - begin - 1)
        new = entry(states, place)
        if reached is not None:  # what ended in a part before, or was not read in this one, has its state already
            read = torch.where((lengths[:count] > begin)[:, None], new, reached[:count])
            new = torch.cat([read, reached[count:]])
        reached = new
    if reached is None:
        raise ValueError("a packing needs at least one part")
    return reached.index_select(0, order.argsort())
