"""Sentences of new languages, each beside one that means the same in a language that is known."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from groundling.batches.data import TrainingData
from groundling.batches.position import Position
from groundling.batches.sampler import Batch
from groundling.batches.stream import Rows, Stream
from groundling.errors import UserError


class TranslationSampler(Position):
    """Batches of the kind "translation": captions in new languages, then a known caption of the same owner for each.

    A pass goes through the captions of all new languages once; where the owner has several known captions, another one
    is drawn each time. Captions without a known one beside them are left out. Batch k is a pure function of seed and k.
    """

    def __init__(self, data: TrainingData, new: Sequence[str], batch_size: int, seed: int, pool: int = 64) -> None:
        self.data, self.seed = data, seed
        self.pairs = Translations(data.owners, data.languages, [data.codes.index(code) for code in new])
        if not len(self.pairs.captions):
            raise UserError(f"no sentence in {', '.join(new)} has one beside it in a language that the teacher knows")
        self.stream = Stream(
            len(self.pairs.captions), batch_size, partial(_lengths, data, self.pairs.captions), [seed, 0], pool
        )
        self.drawn = [0]

    def batch(self, step: int) -> Batch:
        number = self.drawn[0]
        places = self.stream.batch(number)
        self.drawn[0] += 1
        partners = self.pairs.partners(places, np.random.default_rng([self.seed, 1, number]).random(len(places)))
        rows = np.stack([self.pairs.captions[places], partners])
        return Batch("translation", rows, int(self.data.lengths[rows].max()))

    def epoch(self) -> float:
        return self.drawn[0] / self.stream.per_epoch


class Translations:
    """Which captions are in the new languages, and the known captions that each can be paired with.

    Args:
        owners: what captions that mean the same share.
        languages: a number for the language of each caption.
        new: the numbers of the new languages; all others are known.
    """

    def __init__(self, owners: Rows, languages: Rows, new: Sequence[int]) -> None:
        is_new = np.isin(languages, new)
        known = np.flatnonzero(~is_new)
        self.known = known[np.argsort(owners[known], kind="stable")]
        size = int(owners.max(initial=-1)) + 2
        self.starts = np.searchsorted(owners[self.known], np.arange(size))  # where the known ones of an owner begin
        counts = np.diff(self.starts)
        captions = np.flatnonzero(is_new)
        self.captions: Rows = captions[counts[owners[captions]] > 0]
        self._first = self.starts[owners[self.captions]]
        self._counts = counts[owners[self.captions]]

    def partners(self, places: Rows, draw: npt.NDArray[np.float64] | None = None) -> Rows:
        """A known caption for each of `captions[places]`: the first, or one drawn by numbers from 0 to below 1."""
        turn = 0 if draw is None else (draw * self._counts[places]).astype(np.int64)
        rows: Rows = self.known[self._first[places] + turn]
        return rows


def _lengths(data: TrainingData, rows: Rows, places: Rows) -> Rows:
    return data.lengths[rows[places]]
