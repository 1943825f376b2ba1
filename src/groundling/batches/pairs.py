"""All pairs of captions of one picture in two different languages, counted but never listed.

For a picture with n_l captions in language l there are Σ_{l<m} n_l·n_m pairs: 257 for a picture of F8K-7, millions for
a corpus. A pair is a number; `rows` says which two captions it stands for.
"""

import numpy as np

from groundling.batches.stream import Rows


class CaptionPairs:
    """The cross-language caption pairs of a corpus.

    Args:
        owners: the picture of each caption.
        languages: a number for the language of each caption.
    """

    def __init__(self, owners: Rows, languages: Rows) -> None:
        # Captions sorted by picture, then language: those of one picture and language stand together in a group.
        self.order = np.lexsort((languages, owners))
        groups, starts, sizes = _runs(owners[self.order] * (int(languages.max(initial=0)) + 1) + languages[self.order])
        pictures = owners[self.order][starts] if len(groups) else np.empty(0, dtype=np.int64)
        _, _, number = _runs(pictures)
        # One block per pair of groups of the same picture: its first group, second group and size n_l·n_m.
        left, right = [], []
        for distance in range(1, int(number.max(initial=1))):
            both = np.arange(len(groups) - distance)
            both = both[pictures[both] == pictures[both + distance]]
            left.append(both)
            right.append(both + distance)
        self.left = np.concatenate(left) if left else np.empty(0, dtype=np.int64)
        self.right = np.concatenate(right) if right else np.empty(0, dtype=np.int64)
        self.starts, self.sizes = starts, sizes
        self.ends = np.cumsum(sizes[self.left] * sizes[self.right]) if len(self.left) else np.empty(0, dtype=np.int64)

    def __len__(self) -> int:
        return int(self.ends[-1]) if len(self.ends) else 0

    def rows(self, numbers: Rows) -> tuple[Rows, Rows]:
        """The two captions of each pair."""
        block = np.searchsorted(self.ends, numbers, side="right")
        left, right = self.left[block], self.right[block]
        within = numbers - (self.ends[block] - self.sizes[left] * self.sizes[right])
        first, second = np.divmod(within, self.sizes[right])
        return self.order[self.starts[left] + first], self.order[self.starts[right] + second]


def _runs(values: Rows) -> tuple[Rows, Rows, Rows]:
    """Values, starts and lengths of runs of equal neighbours."""
    if not len(values):
        return values, values, values
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    return values[starts], starts, np.diff(np.append(starts, len(values)))
