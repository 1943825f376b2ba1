"""Is one run better than another, or is it chance? Paired tests over queries, and intervals over seeds.

Captions of one picture stand or fall together, so pictures are what is drawn anew, with all their captions.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from groundling.corpus.columns import Integers, Mask

Floats = npt.NDArray[np.float64]

AT_ONCE = 2**22  # random numbers held in memory at a time

# Half of a 95% interval in standard errors: Student's t for 1, 2, … 30 degrees of freedom.
STUDENT = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
    *(2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042),
)


class Interval(NamedTuple):
    """A difference of two means and its 95% interval."""

    difference: float
    low: float
    high: float


def hits(ranks: Integers, depth: int) -> Mask:
    """Which queries have their answer among the first `depth`; the mean of it is R@depth."""
    return (ranks > 0) & (ranks <= depth)


def paired_bootstrap(
    a_hits: npt.ArrayLike,
    b_hits: npt.ArrayLike,
    groups: npt.ArrayLike | None = None,
    samples: int = 10_000,
    seed: int = 0,
) -> Interval:
    """The mean of `a_hits` less the mean of `b_hits`, and the 95% interval of that over pictures drawn anew.

    Args:
        a_hits, b_hits: one value per query for each of two runs, in the same order: hits, ranks, anything with a mean.
        groups: for each query, a number for what it shares with others (its picture); each by itself where None.
    """
    gains, sizes = _by_group(a_hits, b_hits, groups)

    def one_chunk(draw: np.random.Generator, rows: int) -> Floats:
        chosen = draw.integers(len(gains), size=(rows, len(gains)), dtype=np.int32)
        return gains[chosen].sum(axis=1) / sizes[chosen].sum(axis=1)

    drawn = np.concatenate(list(_chunks(one_chunk, samples, len(gains), seed)))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(float(gains.sum() / sizes.sum()), float(low), float(high))


def paired_permutation(
    a_hits: npt.ArrayLike,
    b_hits: npt.ArrayLike,
    groups: npt.ArrayLike | None = None,
    samples: int = 10_000,
    seed: int = 0,
) -> float:
    """The two-sided p-value of the difference of means, were it a toss which run gave which answer to a picture.

    Arguments as for `paired_bootstrap`. Never 0: what was observed is one of the ways the coins may fall.
    """
    gains, _ = _by_group(a_hits, b_hits, groups)
    gains = gains[gains != 0]  # swapping equal answers changes nothing
    observed = abs(gains.sum()) - 1e-9 * np.abs(gains).sum()  # sums in another order may differ in the last bits

    def one_chunk(draw: np.random.Generator, rows: int) -> Floats:
        swapped = draw.integers(2, size=(rows, len(gains)), dtype=np.int8).astype(np.float64)
        return np.abs(gains.sum() - 2 * (swapped @ gains))

    extreme = sum(int((found >= observed).sum()) for found in _chunks(one_chunk, samples, len(gains), seed))
    return (1 + extreme) / (1 + samples)


def mean_interval(values: Sequence[float]) -> tuple[float, float | None, float | None]:
    """The mean over seeds, their standard deviation, and half the width of the 95% t-interval of the mean.

    One value has a mean and nothing else: None for the other two.
    """
    count = len(values)
    mean = math.fsum(values) / count
    if count == 1:
        return mean, None, None
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (count - 1))
    return mean, deviation, _student(count - 1) * deviation / math.sqrt(count)


def difference_interval(better: Sequence[float], than: Sequence[float]) -> tuple[float, float | None]:
    """The difference of two means over seeds and half the width of its 95% interval (Welch's, for unequal spread).

    The degrees of freedom are rounded down, which widens the interval. A single seed on either side has no interval.
    """
    difference = math.fsum(better) / len(better) - math.fsum(than) / len(than)
    if min(len(better), len(than)) == 1:
        return difference, None
    errors = []
    for values in (better, than):
        _, deviation, _ = mean_interval(values)
        errors.append((deviation or 0.0) ** 2 / len(values))
    total = sum(errors)
    if total == 0:
        return difference, 0.0
    freedom = total**2 / sum(error**2 / (len(values) - 1) for error, values in zip(errors, (better, than), strict=True))
    return difference, _student(max(1, math.floor(freedom + 1e-9))) * math.sqrt(total)


def _student(freedom: int) -> float:
    """Half of a 95% interval in standard errors."""
    # Beyond the table, the expansion of Student's t around the normal distribution's 1.96.
    return STUDENT[freedom - 1] if freedom <= len(STUDENT) else 1.96 + 2.372 / freedom + 2.82 / freedom**2


def _by_group(a: npt.ArrayLike, b: npt.ArrayLike, groups: npt.ArrayLike | None) -> tuple[Floats, Floats]:
    """For each group, the sum of the differences of its queries, and how many they are."""
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape or not len(first):
        raise ValueError(f"two runs are compared on the same queries, but they have {first.shape} and {second.shape}")
    if groups is None:
        return first - second, np.ones(len(first))
    numbers = np.asarray(groups)
    if numbers.shape != first.shape:
        raise ValueError(f"there are {len(first)} queries but groups for {numbers.shape}")
    _, place = np.unique(numbers, return_inverse=True)
    gains = np.bincount(place, weights=first - second).astype(np.float64)
    return gains, np.bincount(place).astype(np.float64)


def _chunks(
    one_chunk: Callable[[np.random.Generator, int], Floats], samples: int, width: int, seed: int
) -> Iterator[Floats]:
    """`samples` results in portions whose random numbers fit in memory."""
    draw = np.random.default_rng(seed)
    rows = max(1, AT_ONCE // max(width, 1))
    for start in range(0, samples, rows):
        yield one_chunk(draw, min(rows, samples - start))
