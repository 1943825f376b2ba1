"""Which words of two captions belong together, for every pair of captions that a batch can have, on the device."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from groundling import progress
from groundling.batches.data import TrainingData
from groundling.batches.stream import Rows
from groundling.batches.translations import Translations

Find = Callable[[Rows, Rows], npt.NDArray[np.bool_]]
AT_ONCE = 2048


class Links:
    """A few numbers for each pair of captions, which become a matrix when a batch is drawn.

    Args:
        pairs: the captions that are paired.
        find: [n] captions in new languages and [n] known ones → [n, entries, entries] which belong together, as many
            entries as the longest have. Captions that say the same are asked for once.
    """

    def __init__(self, data: TrainingData, pairs: Translations, find: Find) -> None:
        device, count = data.ids.device, len(data.lengths)
        captions = pairs.captions
        first = pairs.starts[data.owners[captions]]
        partners = pairs.starts[data.owners[captions] + 1] - first
        base, place = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        base[captions] = partners.cumsum() - partners - first
        place[pairs.known] = np.arange(len(pairs.known))
        left = np.repeat(captions, partners)
        right = pairs.known[np.arange(len(left)) - np.repeat(base[captions], partners)]
        texts = data.device_texts.cpu().numpy() * len(data.codes) + data.languages
        _, rows, which = np.unique(
            texts[left] * (int(texts.max()) + 1) + texts[right], return_index=True, return_inverse=True
        )
        self.width = data.ids.shape[1]
        self.codes = torch.from_numpy(_found(left[rows], right[rows], find, self.width)).to(device)
        self.which = torch.from_numpy(which.reshape(-1)).to(device)
        self.base, self.place = torch.from_numpy(base).to(device), torch.from_numpy(place).to(device)

    @property
    def mean(self) -> float:
        """Links of two captions, on average over different pairs of captions."""
        return float((self.codes >= 0).sum()) / len(self.codes)

    def matrix(self, captions: Tensor, partners: Tensor, longest: int) -> Tensor:
        """[n] captions and [n] a known one for each → [n, longest, longest] ones where two words belong together"""
        codes = self.codes[self.which[self.base[captions] + self.place[partners]]]
        one, two = codes // self.width, codes % self.width
        inside = (codes >= 0) & (one < longest) & (two < longest)
        places = torch.where(inside, one * longest + two, longest * longest)  # all others go into one more cell
        cells = torch.zeros(len(captions), longest * longest + 1, device=codes.device)
        return cells.scatter(1, places, 1.0)[:, :-1].unflatten(1, (longest, longest))


def _found(left: Rows, right: Rows, find: Find, width: int) -> Rows:
    """[pairs, most links] entry of the first × width + entry of the second; −1 where there are no more."""
    owners, codes = [], []
    with progress.bar("Aligning words", len(left)) as bar:
        for start in range(0, len(left), AT_ONCE):
            part = slice(start, start + AT_ONCE)
            pair, one, two = find(left[part], right[part]).nonzero()  # in the order of pairs
            owners.append(pair + start)
            codes.append(one * width + two)
            bar.advance(len(left[part]))
    owner, code = np.concatenate(owners), np.concatenate(codes)
    counts = np.bincount(owner, minlength=len(left))
    found = np.full((len(left), max(1, int(counts.max(initial=0)))), -1, dtype=np.int64)
    found[owner, np.arange(len(owner)) - (counts.cumsum() - counts)[owner]] = code
    return found
