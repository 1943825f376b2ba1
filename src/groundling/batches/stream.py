"""An endless stream of shuffled batches of items of similar length.

The items are shuffled anew in every epoch; runs of some dozens of batches are sorted by length and cut, and the batches
of such a pool come in random order. Batch k is a pure function of the seed and k, so the place in the stream is k.
"""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from groundling.batches.permutation import shuffled

Rows = npt.NDArray[np.int64]


class Stream:
    """Batches of item numbers out of 0 … items−1.

    Args:
        items: how many there are.
        batch_size: items per batch; an epoch drops the few that do not fill one (others in every epoch).
        lengths: the length of given items, by which they are put together; None to leave them as shuffled.
        key: names the random order (seed, number of the stream).
        pool: batches that are sorted together. Larger wastes less on padding, smaller mixes better.
    """

    def __init__(
        self, items: int, batch_size: int, lengths: Callable[[Rows], Rows] | None, key: list[int], pool: int = 64
    ) -> None:
        if items < 1:
            raise ValueError("a stream needs at least one item")
        self.items, self.batch_size, self.lengths, self.key, self.pool = (
            items,
            min(batch_size, items),
            lengths,
            key,
            pool,
        )
        self.per_epoch = items // self.batch_size
        self._cached: tuple[int, int, list[Rows]] = (-1, -1, [])

    def batch(self, number: int) -> Rows:
        """Batch `number` of the stream, counted from 0 through all epochs."""
        epoch, within = divmod(number, self.per_epoch)
        pool, place = divmod(within, self.pool)
        if self._cached[:2] != (epoch, pool):
            self._cached = (epoch, pool, self._cut(epoch, pool))
        return self._cached[2][place]

    def _cut(self, epoch: int, pool: int) -> list[Rows]:
        first = pool * self.pool * self.batch_size
        last = min(first + self.pool * self.batch_size, self.per_epoch * self.batch_size)
        rows = shuffled(np.arange(first, last), self.items, [*self.key, epoch])
        order = np.random.default_rng([*self.key, epoch, pool])
        if self.lengths is not None and self.pool > 1:
            rows = rows[np.argsort(self.lengths(rows), kind="stable")]
        batches = rows.reshape(-1, self.batch_size)
        return list(batches[order.permutation(len(batches))])
