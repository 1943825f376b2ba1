"""Pictures with some captions in every language at once (MULE, Kim et al. 2020; SMALR, Burns et al. 2020).

A pass goes through all pictures once, in an order of its own. Each time a picture comes, every language shows some of
its captions (`sentences`), drawn anew; over the passes all captions have their turn. Where a picture has fewer captions
in a language, or none, the places stay empty: no picture is left out for a language that it lacks, and no caption is
shown twice in a step.
"""

import numpy as np

from groundling.batches.data import TrainingData
from groundling.batches.packing import packing_of
from groundling.batches.position import Position
from groundling.batches.sampler import Batch
from groundling.batches.stream import Rows, Stream

EMPTY = -1


class EveryLanguageSampler(Position):
    """Batches of pictures, then for each language (in the order of `data.codes`) `sentences` lines of captions.

    An empty place is −1. The batches of the first `align_epochs` passes are of the kind "align", all others of the kind
    "every". Batch k is a pure function of the seed and k. With `packing`, those of the kind "every" are packed, and are
    as long as their packing; an empty place counts as one word there.
    """

    def __init__(
        self,
        data: TrainingData,
        batch_size: int,
        seed: int,
        sentences: int = 2,
        align_epochs: float = 0,
        pool: int = 64,
        packing: bool = False,
    ) -> None:
        self.data, self.seed, self.sentences, self.packing = data, seed, sentences, packing
        self.pictures = np.unique(data.owners)
        groups = len(data.codes) * len(self.pictures)
        # Captions by language, then by picture: group = language · pictures + place of the picture.
        group = data.languages * len(self.pictures) + np.searchsorted(self.pictures, data.owners)
        self.order = np.argsort(group, kind="stable")
        self.counts = np.bincount(group, minlength=groups)
        self.stream = Stream(len(self.pictures), batch_size, self._lengths, [seed, 0], pool)
        self.align_steps = round(align_epochs * self.stream.per_epoch)
        self.drawn = [0]
        self._chosen: tuple[int, Rows] = (-1, np.empty((0, 0, 0), dtype=np.int64))

    def batch(self, step: int) -> Batch:
        """The next batch; `state` is the place between two of them."""
        number = self.drawn[0] // self.stream.per_epoch
        if self._chosen[0] != number:
            self._chosen = (number, self._draw(number))
        kind = "align" if self.drawn[0] < self.align_steps else "every"
        places = self.stream.batch(self.drawn[0])
        self.drawn[0] += 1
        captions = self._chosen[1][:, :, places]
        rows = np.concatenate([self.pictures[None, places], captions.reshape(-1, len(places))])
        sizes = self._sizes(captions)
        if not self.packing or kind == "align":
            return Batch(kind, rows, int(sizes.max()))
        packing = packing_of(sizes, self.data.ids.shape[1])
        return Batch(kind, rows, packing[-1][0], packing)

    def _draw(self, number: int) -> Rows:
        """[languages, sentences, pictures] the captions of the pass of this number."""
        random = np.random.default_rng([self.seed, 1, number]).random(len(self.order))
        group = np.repeat(np.arange(len(self.counts)), self.counts)
        shuffled = self.order[np.lexsort((random, group))]  # within each group
        starts = np.cumsum(self.counts) - self.counts
        chosen = np.full((len(self.counts), self.sentences), EMPTY, dtype=np.int64)
        for place in range(self.sentences):
            there = self.counts > place
            chosen[there, place] = shuffled[starts[there] + place]
        shape = len(self.data.codes), len(self.pictures), self.sentences
        return np.ascontiguousarray(chosen.reshape(shape).transpose(0, 2, 1))

    def _sizes(self, captions: Rows) -> Rows:
        return np.where(captions == EMPTY, 1, self.data.lengths[captions])

    def _lengths(self, places: Rows) -> Rows:
        """The longest caption that a picture shows in this pass."""
        longest: Rows = self._sizes(self._chosen[1][:, :, places]).max(axis=(0, 1))
        return longest

    def epoch(self) -> float:
        """How often the pictures have been gone through."""
        return self.drawn[0] / self.stream.per_epoch
