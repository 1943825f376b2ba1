"""Which batch comes at which step: a language's picture–caption batch, or a batch of caption pairs."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from torch import Tensor

from groundling.batches.data import TrainingData
from groundling.batches.packing import Packing
from groundling.batches.pairs import CaptionPairs
from groundling.batches.position import Position
from groundling.batches.stream import Rows, Stream
from groundling.errors import UserError


@dataclass(frozen=True)
class Batch:
    """Rows of captions and pictures that belong together, column by column.

    Attributes:
        kind: what the lines of `rows` are; the system that drew the batch knows. The two that most systems share:
            "picture": captions, then the picture of each; "caption": captions, then a caption of the same picture.
        rows: [lines, n] numbers of captions or pictures; all lines together make up one step of training.
        longest: entries of the longest caption in it; what is beyond is padding and never looked at.
        packing: how much of the padding before that need not be read (see `encoders.text.packing`); none: all is read.
    """

    kind: str
    rows: Rows
    longest: int
    packing: Packing = ()

    @property
    def captions(self) -> Rows:
        return self.rows[0]

    @property
    def partners(self) -> Rows:
        return self.rows[1]


@dataclass(frozen=True)
class DeviceBatch:
    """The same on the device, and the number of steps taken before this one, by which losses change while training.

    On a GPU the step is recorded once and replayed: what changes from step to step must be read from these tensors.
    """

    kind: str
    rows: Tensor
    longest: int
    step: Tensor
    packing: Packing = ()


class Sampler(Protocol):
    """Batches in the order of steps, from a position that can be written down."""

    state: list[int]

    def batch(self, step: int) -> Batch: ...

    def epoch(self) -> float: ...


class LanguageSampler(Position):
    """With some probability a batch of caption pairs across languages, otherwise a batch of one language, drawn evenly,
    against its pictures: Kádár et al. 2018 (https://arxiv.org/abs/1809.07615), Figure 2.

    With `groups` of several languages each, a batch mixes the languages of the group it draws. The two captions of a
    pair change sides at random, or, without `swap_pairs`, stand as in the paper's C_m × C_n: the language that comes
    first on the left. With two languages all wrong pairs of a batch are then of two languages as well.
    """

    def __init__(
        self,
        data: TrainingData,
        batch_size: int,
        seed: int,
        groups: Sequence[Sequence[str]],
        pair_probability: float = 0.0,
        pool: int = 64,
        pairs_after: int = 0,
        swap_pairs: bool = True,
    ) -> None:
        self.swap_pairs = swap_pairs
        self.data, self.seed, self.pair_probability, self.pairs_after = data, seed, pair_probability, pairs_after
        self.rows = [
            np.flatnonzero(np.isin(data.languages, [data.codes.index(code) for code in group])) for group in groups
        ]
        self.streams = []
        for number, rows in enumerate(self.rows):
            self.streams.append(Stream(len(rows), batch_size, partial(_lengths, data, rows), [seed, number], pool))
        self.pairs = CaptionPairs(data.owners, data.languages) if pair_probability > 0 else None
        if self.pairs is not None:
            if not len(self.pairs):
                raise UserError("no picture has captions in two languages to pair: set system.caption_pairs=0")
            longer = partial(_pair_lengths, data, self.pairs)
            self.streams.append(Stream(len(self.pairs), batch_size, longer, [seed, len(groups)], pool))
        self.drawn = [0] * len(self.streams)

    def batch(self, step: int) -> Batch:
        """The batch of this step. Steps must be asked for in order; `state` is the place between two steps."""
        choice = np.random.default_rng([self.seed, 2**32 - 1, step])
        wanted = choice.random() < self.pair_probability and step >= self.pairs_after
        pairs = self.pairs if wanted else None
        stream = int(choice.integers(len(self.rows))) if pairs is None else len(self.rows)
        places = self.streams[stream].batch(self.drawn[stream])
        self.drawn[stream] += 1
        if pairs is None:
            captions = self.rows[stream][places]
            rows = np.stack([captions, self.data.owners[captions]])
            return Batch("picture", rows, int(self.data.lengths[captions].max()))
        first, second = pairs.rows(places)
        rows = np.stack([first, second])
        if self.swap_pairs:
            swap = choice.random(len(first)) < 0.5
            rows = np.where(swap, rows[::-1], rows)
        return Batch("caption", rows, int(self.data.lengths[rows].max()))

    def epoch(self) -> float:
        """How often the captions have been gone through, on average over the languages."""
        streams = range(len(self.rows))
        return float(np.mean([self.drawn[n] / self.streams[n].per_epoch for n in streams]))


def _lengths(data: TrainingData, rows: Rows, places: Rows) -> Rows:
    return data.lengths[rows[places]]


def _pair_lengths(data: TrainingData, pairs: CaptionPairs, numbers: Rows) -> Rows:
    first, second = pairs.rows(numbers)
    return np.maximum(data.lengths[first], data.lengths[second])
