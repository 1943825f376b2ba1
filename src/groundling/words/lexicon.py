"""Which words translate which, counted in sentences that mean the same: IBM model 1 with a liking for the diagonal.

Brown et al. 1993, and Dyer, Chahuneau and Smith 2013 (fast_align). No multilingual encoder is needed, and words are
whatever a tokeniser calls so: words, characters or word pieces, by their numbers.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from groundling.corpus.columns import Mask

Ids = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float32]

LEAST = 1e-6  # the probability of words that never met


@dataclass(frozen=True)
class Lexicon:
    """Pairs of words that were met in one pair of sentences, in order, with their probabilities.

    Attributes:
        keys: first × size + second.
        forth: log p(first | second): by these, words of the first sentence choose among those of the second.
        back: log p(second | first).
        diagonal: how much words at the same place of their sentences are preferred.
    """

    size: int
    keys: Ids
    forth: Numbers
    back: Numbers
    diagonal: float

    def similarities(self, first: Ids, second: Ids, real: tuple[Mask, Mask]) -> tuple[Numbers, Numbers]:
        """[n, a] and [n, b] words, and which of them are real → [n, a, b] log-probabilities, forth and back."""
        wanted = first[:, :, None] * self.size + second[:, None, :]
        places = np.searchsorted(self.keys, wanted).clip(max=len(self.keys) - 1)
        met = self.keys[places] == wanted
        prior = self.diagonal * _off_diagonal(*real)
        return (
            np.where(met, self.forth[places], np.log(LEAST)).astype(np.float32) - prior,
            np.where(met, self.back[places], np.log(LEAST)).astype(np.float32) - prior,
        )


def learn(first: Ids, second: Ids, real: tuple[Mask, Mask], rounds: int = 10, diagonal: float = 1.0) -> Lexicon:
    """From [n, a] and [n, b] words of sentences that mean the same, by expectation and maximisation."""
    size = int(second.max(initial=0)) + 1
    both = real[0][:, :, None] & real[1][:, None, :]
    met = (first[:, :, None] * size + second[:, None, :])[both]
    keys, places = np.unique(met, return_inverse=True)
    prior = np.exp(-diagonal * _off_diagonal(*real))
    index = np.zeros(both.shape, dtype=np.int64)
    index[both] = places
    forth = back = np.ones(len(keys))
    for _ in range(rounds):
        forth = _maximise(_expect(forth, index, both, prior, axis=2, size=len(keys)), keys % size)
        back = _maximise(_expect(back, index, both, prior, axis=1, size=len(keys)), keys // size)
    logs = [np.log(part.clip(min=LEAST)).astype(np.float32) for part in (forth, back)]
    return Lexicon(size, keys, logs[0], logs[1], diagonal)


def _expect(
    chances: npt.NDArray[np.float64], index: Ids, both: Mask, prior: Numbers, axis: int, size: int
) -> npt.NDArray[np.float64]:
    """How often two words are expected to translate each other, where each word chooses among those along `axis`."""
    weights = np.where(both, chances[index] * prior, 0.0)
    total = weights.sum(axis=axis, keepdims=True)
    weights = np.divide(weights, total, out=weights, where=total > 0)
    return np.asarray(np.bincount(index[both], weights[both], minlength=size), dtype=np.float64)


def _maximise(counts: npt.NDArray[np.float64], given: Ids) -> npt.NDArray[np.float64]:
    """Counts as probabilities, given one of the two words."""
    given = np.unique(given, return_inverse=True)[1]
    return counts / np.bincount(given, counts).clip(min=1e-30)[given]


def _off_diagonal(first: Mask, second: Mask) -> Numbers:
    """[n, a, b] how far two words are from the same place, where a sentence reaches from 0 to 1."""
    one, two = (
        ((part.cumsum(axis=1) - 0.5) / part.sum(axis=1, keepdims=True).clip(min=1)).astype(np.float32)
        for part in (first, second)
    )
    return np.abs(one[:, :, None] - two[:, None, :])
