"""What a student learns from: sentences as it reads them, and the vectors that its teacher has for what they mean.

Neither is on the device, for there may be tens of millions of them: each step brings its own.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from groundling.batches.data import TrainingData
from groundling.batches.position import Position
from groundling.batches.ragged import Ragged
from groundling.batches.sampler import Batch
from groundling.batches.stream import Rows, Stream
from groundling.corpus.pairs import SentencePairs
from groundling.errors import UserError

ROUND_UP = 8  # entries

#: Numbers of known sentences → the teacher's vectors; the second tells which will be needed next.
Teach = Callable[[Rows, Callable[[], Rows] | None], npt.NDArray[np.float32]]


@dataclass(frozen=True)
class Staged:
    """What one batch needs, on the device. Batches of one shape share it, so that a recorded step finds it again."""

    ids: Tensor
    lengths: Tensor
    targets: Tensor


@dataclass(frozen=True)
class DistillationData(TrainingData):
    """Attributes:
    pairs: the sentences.
    tokens: of the new ones, as the student reads them.
    known_tokens: of the known ones, where the student reads these, too.
    teach: the teacher's vectors.
    """

    pairs: SentencePairs = field(kw_only=True)
    tokens: Ragged = field(kw_only=True)
    teach: Teach = field(kw_only=True)
    known_tokens: Ragged | None = field(default=None, kw_only=True)
    staged: dict[tuple[int, int], Staged] = field(default_factory=dict, kw_only=True, repr=False)

    @staticmethod
    def of(
        pairs: SentencePairs, tokens: Ragged, teach: Teach, device: torch.device, known_tokens: Ragged | None = None
    ) -> "DistillationData":
        nothing = torch.zeros(0, dtype=torch.int64, device=device)
        return DistillationData(
            ids=torch.zeros(0, 1, dtype=torch.int32, device=device),
            device_lengths=nothing,
            device_owners=nothing,
            device_texts=nothing,
            features=torch.zeros(0, 1, device=device),
            lengths=np.diff(tokens.ends),
            owners=np.empty(0, dtype=np.int64),
            languages=pairs.languages.numbers.astype(np.int64),
            codes=pairs.languages.codes,
            pairs=pairs,
            tokens=tokens,
            teach=teach,
            known_tokens=known_tokens,
        )

    def bring(self, batch: Batch, soon: Callable[[], Rows] | None = None) -> None:
        """Put on the device what a batch of the kind "lesson" needs: new sentences, then known ones if these are
        read."""
        ids, lengths = self.tokens.padded(batch.rows[0], batch.longest), self.tokens.lengths(batch.rows[0])
        if self.known_tokens is not None:
            known = self.known_tokens.padded(batch.rows[1], batch.longest)
            ids = np.concatenate([ids, known])
            lengths = np.concatenate([lengths, self.known_tokens.lengths(batch.rows[1])])
        host = [torch.from_numpy(ids), torch.from_numpy(lengths), torch.from_numpy(self.teach(batch.rows[1], soon))]
        key = (batch.rows.shape[1], batch.longest)
        if key not in self.staged:
            self.staged[key] = Staged(*(part.to(self.features.device) for part in host))
            return
        place = self.staged[key]
        for there, part in zip((place.ids, place.lengths, place.targets), host, strict=True):
            there.copy_(part, non_blocking=True)

    def here(self, rows: Tensor, longest: int) -> Staged:
        """What was brought for the batch of these rows."""
        return self.staged[rows.shape[1], longest]

    def longest(self, rows: Rows) -> int:
        """Entries of the longest sentence that is read of a batch; on a GPU a little more, so that few lengths differ
        and a step is recorded few times."""
        longest = int(self.tokens.lengths(rows[0]).max())
        if self.known_tokens is not None:
            longest = max(longest, int(self.known_tokens.lengths(rows[1]).max()))
        if self.features.device.type == "cpu":
            return longest
        return min(-(-longest // ROUND_UP) * ROUND_UP, max(longest, self.most))

    @cached_property
    def most(self) -> int:
        """Entries of the longest sentence of all: an encoder may have no place for more."""
        return int(self.lengths.max(initial=0))


class DistillationSampler(Position):
    """Batches of the kind "lesson": new sentences, then for each a known one that means the same.

    A pass goes through all new sentences once; where one has several known ones, another is drawn each time. Batch k is
    a pure function of seed and k.
    """

    def __init__(self, data: DistillationData, batch_size: int, seed: int, pool: int = 64) -> None:
        if not len(data.pairs):
            raise UserError(f"{data.pairs.name}: no sentence has one beside it in a language that the teacher knows")
        self.data, self.seed = data, seed
        self.stream = Stream(len(data.pairs), batch_size, data.tokens.lengths, [seed, 0], pool)
        self.drawn = [0]

    def batch(self, step: int) -> Batch:
        rows = self._rows(self.drawn[0])
        self.drawn[0] += 1
        return Batch("lesson", rows, self.data.longest(rows))

    def soon(self) -> Rows:
        """The known sentences of the batches that are drawn together with the last one, and come next."""
        last = self.drawn[0] - 1
        within = last % self.stream.per_epoch
        end = min((within // self.stream.pool + 1) * self.stream.pool, self.stream.per_epoch)
        return np.concatenate([self._rows(number)[1] for number in range(last, last + end - within)])

    def _rows(self, number: int) -> Rows:
        new = self.stream.batch(number)
        draw = np.random.default_rng([self.seed, 1, number]).random(len(new))
        return np.stack([new, self.data.pairs.partner(new, draw)])

    def epoch(self) -> float:
        return self.drawn[0] / self.stream.per_epoch
