"""Equal rows, found without comparing all pairs of them."""

import torch
from torch import Tensor

AT_ONCE = 2**16  # rows


def kinds(vectors: Tensor) -> Tensor:
    """A number for each row [n], the same only for equal rows. Rows that are equal have different ones at worst."""
    bits = vectors.view({2: torch.int16, 4: torch.int32, 8: torch.int64}[vectors.element_size()])
    generator = torch.Generator().manual_seed(0)
    weights = torch.randint(-(2**62), 2**62, (vectors.shape[1],), generator=generator).to(vectors.device) | 1
    hashes = torch.cat([(part.long() * weights).sum(dim=1) for part in bits.split(AT_ONCE)])
    hashes, order = hashes.sort()
    follows = (hashes[1:] == hashes[:-1]).nonzero().squeeze(1) + 1  # rows that may equal the row before them
    new = torch.ones_like(hashes)
    for places in follows.split(AT_ONCE):
        new[places] = (vectors[order[places]] != vectors[order[places - 1]]).any(dim=1).long()
    return torch.empty_like(order, dtype=torch.int32).scatter_(0, order, new.cumsum(0).int())


def share_of_equal_pairs(kinds: Tensor) -> float:
    """How many of all pairs of different rows are of one kind."""
    counts = torch.bincount(kinds).double()
    return float((counts * (counts - 1)).sum()) / len(kinds) ** 2
