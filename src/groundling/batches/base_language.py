"""Published multi-language training of LIWE and CLMR: pictures teach one language, and it teaches the others.

Each step holds a batch of captions in the base language against their pictures, and a batch of caption pairs, base
language and another, of the same pictures.
"""

from functools import partial

import numpy as np

from groundling.batches.data import TrainingData
from groundling.batches.pairs import CaptionPairs
from groundling.batches.position import Position
from groundling.batches.sampler import Batch
from groundling.batches.stream import Rows, Stream
from groundling.errors import UserError, did_you_mean


class BaseLanguageSampler(Position):
    """Batches of the kind "base": captions, pictures, then for each other language of the step captions in the base
    language and captions in the other one that describe the same pictures.

    The other language of a step is drawn evenly; with `every_other` each step has a batch of pairs for every one of
    them, as in the released code. One language alone is its own base: its batches are of the kind "picture".
    """

    def __init__(
        self, data: TrainingData, batch_size: int, seed: int, base: str, pool: int = 64, every_other: bool = False
    ) -> None:
        self.data, self.seed, self.every_other = data, seed, every_other
        self.base = data.codes[0] if len(data.codes) == 1 else base
        if self.base not in data.codes:
            raise UserError(f'system.base: no training captions in "{base}"{did_you_mean(base, data.codes)}')
        number = data.codes.index(self.base)
        self.captions = np.flatnonzero(data.languages == number)
        self.pairs = [
            BasePairs(data, number, other, self.base, code) for other, code in enumerate(data.codes) if other != number
        ]
        # All parts of a step are equally large, so the smallest of the data sets bounds a batch.
        size = min(batch_size, len(self.captions), *map(len, self.pairs))
        own = data.lengths[self.captions]
        self.streams = [Stream(len(own), size, own.__getitem__, [seed, 0], pool)]
        for place, pairs in enumerate(self.pairs, start=1):
            self.streams.append(Stream(len(pairs), size, partial(_lengths, data, pairs), [seed, place], pool))
        self.drawn = [0] * len(self.streams)

    def batch(self, step: int) -> Batch:
        """The batch of this step. Steps must be asked for in order; `state` is the place between two steps."""
        captions = self.captions[self._next(0)]
        lines = [captions, self.data.owners[captions]]
        others = list(range(len(self.pairs)))
        if self.pairs and not self.every_other:
            others = [int(np.random.default_rng([self.seed, 2**32 - 1, step]).integers(len(self.pairs)))]
        for other in others:
            lines += self.pairs[other].rows(self._next(other + 1))
        longest = max(int(self.data.lengths[line].max()) for place, line in enumerate(lines) if place != 1)
        return Batch("base" if self.pairs else "picture", np.stack(lines), longest)

    def _next(self, stream: int) -> Rows:
        places = self.streams[stream].batch(self.drawn[stream])
        self.drawn[stream] += 1
        return places

    def epoch(self) -> float:
        """How often the captions of the base language have been gone through."""
        return self.drawn[0] / self.streams[0].per_epoch


class BasePairs:
    """All pairs of a caption in the base language and one in another language that describe the same picture."""

    def __init__(self, data: TrainingData, base: int, other: int, base_code: str, other_code: str) -> None:
        self.captions = np.flatnonzero(np.isin(data.languages, [base, other]))
        self.pairs = CaptionPairs(data.owners[self.captions], data.languages[self.captions])
        self.base_first = base < other  # CaptionPairs puts the language with the smaller number first
        if not len(self.pairs):
            raise UserError(
                f"no training picture has captions in both {base_code} and {other_code}: "
                "choose another system.base, or system.sampling=lessons with system.caption_pairs=0"
            )

    def __len__(self) -> int:
        return len(self.pairs)

    def rows(self, numbers: Rows) -> tuple[Rows, Rows]:
        """The caption in the base language and the other one of each pair."""
        first, second = (self.captions[rows] for rows in self.pairs.rows(numbers))
        return (first, second) if self.base_first else (second, first)


def _lengths(data: TrainingData, pairs: BasePairs, numbers: Rows) -> Rows:
    base, other = pairs.rows(numbers)
    return np.maximum(data.lengths[base], data.lengths[other])
