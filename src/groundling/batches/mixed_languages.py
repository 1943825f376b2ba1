"""Pictures with captions in several languages at once, every language as often as the others.

A step shows some pictures, and of each a few captions in different languages, drawn evenly among the languages that the
picture has: a language with five captions a picture is seen no more often than one with a single caption. A pass shows
every picture once. Sentences that have no picture (captions of a photo that is not there, or translations of each
other) come beside them in the same way: of each group of sentences that mean the same, a few in different languages.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from groundling.batches.data import TrainingData
from groundling.batches.packing import groups_of
from groundling.batches.position import Position
from groundling.batches.sampler import Batch
from groundling.batches.stream import Rows, Stream
from groundling.errors import UserError

EMPTY = -1
LENGTHS = 4  # a batch is as long as its longest caption, rounded up to this: few lengths, few recorded steps


class MixedLanguageSampler(Position):
    """Batches of the kind "mixed": a line of pictures, `captions` lines of captions, then lines without pictures.

    Owners of captions that have no row of features have no pictures. Their captions stand in `sentences` lines for each
    of `groups` groups of lines: column j of group g holds sentences that mean the same. A place where an owner has no
    further caption is −1. Batch k is a pure function of the seed and k.

    Args:
        captions: of each picture and step.
        sentences: of each meaning without picture and step.
        groups: meanings without picture for each picture of a step; 0 leaves them out.
        parts: the rows of pictures by part of the corpus, where a step has a fixed share of each; all are one part when
            left out.
        shares: how many of a step's pictures come from each part, in proportion; as many as it has when left out.
    """

    def __init__(
        self,
        data: TrainingData,
        batch_size: int,
        seed: int,
        captions: int = 4,
        sentences: int = 3,
        groups: int = 1,
        parts: Sequence[Rows] | None = None,
        shares: Sequence[float] | None = None,
    ) -> None:
        self.data, self.seed = data, seed
        self.draw = LanguageDraw(data.owners, data.languages)
        pictured = self.draw.owners < len(data.features)
        told = self.draw.owners[pictured]
        self.pictures = [told] if parts is None else [np.intersect1d(told, part) for part in parts]
        if not len(told) or not all(map(len, self.pictures)):
            raise UserError("no training picture has a caption")
        sizes = _split(min(batch_size, len(told)), shares or [len(part) for part in self.pictures])
        self.streams = [
            Stream(len(part), size, None, [seed, number])
            for number, (part, size) in enumerate(zip(self.pictures, sizes, strict=True))
        ]
        self.batch_size = sum(stream.batch_size for stream in self.streams)
        self.captions = min(captions, self.draw.most(pictured))
        unseen = ~pictured & (self.draw.totals > 1)  # a sentence that stands alone has nobody to meet
        self.unpictured = self.draw.owners[unseen]
        self.groups = groups if len(self.unpictured) else 0
        self.sentences = min(sentences, self.draw.most(unseen)) if self.groups else 0
        if self.groups:
            self.streams.append(Stream(len(self.unpictured), self.groups * self.batch_size, None, [seed, 2**16]))
        self.drawn = [0]

    def batch(self, step: int) -> Batch:
        """The next batch; `state` is the place between two of them."""
        number = self.drawn[0]
        self.drawn[0] += 1
        random = np.random.default_rng([self.seed, 2**32 - 1, number])
        chosen = [part[stream.batch(number)] for part, stream in zip(self.pictures, self.streams, strict=False)]
        pictures = np.concatenate(chosen)
        lines = [pictures[None], self.draw(pictures, self.captions, random)]
        if self.groups:
            owners = self.unpictured[self.streams[-1].batch(number)]
            found = np.full((self.sentences, self.groups * self.batch_size), EMPTY, dtype=np.int64)
            found[:, : len(owners)] = self.draw(owners, self.sentences, random)
            by_group = found.reshape(self.sentences, self.groups, self.batch_size).transpose(1, 0, 2)
            lines.append(by_group.reshape(-1, self.batch_size))
        rows = np.concatenate(lines)
        most = self.data.ids.shape[1]
        longest = int(self.data.lengths[rows[1:][rows[1:] != EMPTY]].max())
        packing = groups_of(self.data.lengths[rows[1:].clip(min=0)], most)
        return Batch("mixed", rows, min(-(-longest // LENGTHS) * LENGTHS, most), packing)

    def epoch(self) -> float:
        """How often the pictures have been gone through; with several parts, those of the first."""
        return self.drawn[0] / self.streams[0].per_epoch


class LanguageDraw:
    """Captions of an owner in different languages, each as likely as the others.

    Attributes:
        owners: those that have captions, in order.
        totals: how many captions each of them has.
    """

    def __init__(self, owners: Rows, languages: Rows) -> None:
        self.order = np.lexsort((languages, owners))  # captions of one owner and language stand together, in a group
        keys = np.stack([owners[self.order], languages[self.order]])
        new = np.ones(len(owners), dtype=bool)
        new[1:] = (keys[:, 1:] != keys[:, :-1]).any(axis=0)
        self._first = np.flatnonzero(new)  # caption of each group
        self._sizes = np.diff(np.append(self._first, len(owners)))
        self.owners, self._groups, counts = np.unique(keys[0, self._first], return_index=True, return_counts=True)
        self._languages: Rows = counts
        self.totals = np.add.reduceat(self._sizes, self._groups) if len(owners) else np.zeros(0, dtype=np.int64)

    def most(self, owners: npt.NDArray[np.bool_]) -> int:
        """The captions of the owner, among these, that has most."""
        return int(self.totals[owners].max(initial=0))

    def __call__(self, owners: Rows, count: int, random: np.random.Generator) -> Rows:
        """[count, n] captions of n owners. One that has fewer languages begins with the first one again, and shows
        another caption in it; where it has no other, the place is −1."""
        places = np.searchsorted(self.owners, owners)
        languages = self._languages[places][None]  # [1, n]
        widest = int(languages.max(initial=1))
        lots = random.random((widest, len(owners)))
        lots[np.arange(widest)[:, None] >= languages] = 2.0
        turn = np.argsort(lots, axis=0)  # the languages of each owner in random order
        slots = np.arange(count)[:, None]
        rounds, within = slots // languages, slots % languages
        group = self._groups[places] + np.take_along_axis(turn, within, axis=0)
        # Where an owner's first caption in a language is drawn, the one of the next round is the one after it.
        start = np.take_along_axis(random.random((widest, len(owners))), group - self._groups[places], axis=0)
        sizes = self._sizes[group]
        caption = self._first[group] + ((start * sizes).astype(np.int64) + rounds) % sizes
        return np.where(rounds < sizes, self.order[caption], EMPTY)


def _split(total: int, shares: Sequence[float]) -> list[int]:
    """`total` in proportion to the shares, at least one each."""
    ends = np.rint(np.cumsum([0.0, *shares]) / sum(shares) * total).astype(int)
    return [max(1, int(size)) for size in np.diff(ends)]
