"""From p-values to the probability that chance alone is behind one of them: the two-groups model.

Efron 2008, "Microarrays, empirical Bayes and the two-groups model", https://doi.org/10.1214/07-STS236

    P(chance | p) = π₀ / f(p)

π₀ is the share of those with nothing behind them, whose p-values are spread evenly from 0 to 1: what is above ½ is
nearly all theirs (Storey 2002, https://doi.org/10.1111/1467-9868.00346). f is the density of all p-values, the slope of
the least concave line above their distribution, since it can only fall (Grenander 1956).

>>> right, wrong = [0.01] * 30, [(k + 0.5) / 10 for k in range(10)]
>>> probability_of_chance(np.array([*right, *wrong]))[[0, -1]].round(3).tolist()
[0.004, 1.0]
"""

from itertools import pairwise

import numpy as np
import numpy.typing as npt

TAIL = 0.5  # p-values above it are those of chance alone

Floats = npt.NDArray[np.float64]


def share_of_chance(p_values: Floats) -> float:
    """π₀, from above 0 to 1."""
    return float(min(1.0, (1 + (p_values > TAIL).sum()) / ((1 - TAIL) * len(p_values))))


def probability_of_chance(p_values: Floats) -> Floats:
    """For each p-value; it never falls as they rise."""
    values, counts = np.unique(p_values, return_counts=True)
    heights = (counts.cumsum() - 0.5) / len(p_values)  # half a value less: the smallest is small by chance as well
    points = [(0.0, 0.0)]
    for point in zip([*values[values < 1].tolist(), 1.0], [*heights[values < 1].tolist(), 1.0], strict=True):
        while len(points) > 1 and _slope(points[-2], points[-1]) <= _slope(points[-1], point):
            points.pop()
        points.append(point)
    corners = np.array([x for x, _ in points[1:]])
    slopes = np.array([_slope(one, other) for one, other in pairwise(points)])
    density = slopes[np.searchsorted(corners, p_values, side="left")]
    return np.minimum(1.0, share_of_chance(p_values) / np.maximum(density, 1e-12))


def _slope(one: tuple[float, float], other: tuple[float, float]) -> float:
    return (other[1] - one[1]) / (other[0] - one[0])
