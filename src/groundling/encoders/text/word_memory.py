"""Vectors of words that were spelled out before, so that a word costs a look-up from the second time on."""

import threading
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor


class WordMemory:
    """Remembers up to `capacity` words; when they are full it forgets them all and starts over.

    Args:
        spell: [words, characters] → [words, dimensions], each word by itself.
    """

    def __init__(self, spell: Callable[[Tensor], Tensor], capacity: int = 50_000) -> None:
        self.spell, self.capacity = spell, capacity
        self.rows: dict[bytes, int] = {}
        self.table = torch.empty(0)
        self.lock = threading.Lock()  # a server asks from several threads

    def __call__(self, spellings: Tensor) -> Tensor:
        """[words, characters] on the host → [words, dimensions] where `spell` puts them."""
        if len(spellings) > self.capacity:
            return self.spell(spellings)
        raw, width = spellings.numpy().tobytes(), spellings.shape[1] * spellings.element_size()
        keys = [raw[start : start + width] for start in range(0, len(raw), width)]
        with self.lock:
            # Words may be spelled alike: cut after the same beginning, or of characters that share the unknown one.
            new = {key: place for place, key in enumerate(keys) if key not in self.rows}
            if len(self.rows) + len(new) > self.capacity:
                self.rows = {}
                new = {key: place for place, key in enumerate(keys)}
            if new:
                self._learn(list(new), self.spell(spellings[list(new.values())]))
            rows = np.fromiter((self.rows[key] for key in keys), dtype=np.int64, count=len(keys))
            return self.table[torch.from_numpy(rows).to(self.table.device)]

    def _learn(self, keys: list[bytes], vectors: Tensor) -> None:
        if not len(self.table):
            self.table = vectors.new_empty(self.capacity, vectors.shape[1])
        self.table[len(self.rows) : len(self.rows) + len(keys)] = vectors
        self.rows.update(zip(keys, range(len(self.rows), len(self.rows) + len(keys)), strict=True))
