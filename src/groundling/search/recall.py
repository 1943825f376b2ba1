"""How much of the truth an approximate search finds: measured when an index is built, not promised.

Pictures of the index are the queries, each without itself. The effort is raised until one half of them finds enough;
the recall that is reported is that of the other half, which had no say in it.
"""

from collections.abc import Callable

import numpy as np

from groundling.model.vectors import Vectors
from groundling.search.entries import Rows

QUERIES = 1000
NEAREST = 10
ENOUGH = 0.95

Search = Callable[[Vectors, int, int], Rows]  # queries, how many to find, effort


def sample(count: int) -> Rows:
    """Rows to ask with, the same for the same count."""
    return np.random.default_rng(0).choice(count, min(QUERIES, count), replace=False).astype(np.int64)


def recall(found: Rows, truth: Rows, asked: Rows) -> float:
    """The mean share of the true nearest rows that is among those found, the row that was asked with left out."""
    shares = []
    for one_found, one_truth, row in zip(found, truth, asked, strict=True):
        true, got = (
            [other for other in rows.tolist() if other not in (row, -1)][:NEAREST] for rows in (one_truth, one_found)
        )
        if true:
            shares.append(len(set(true).intersection(got)) / len(true))
    return float(np.mean(shares)) if shares else 1.0


def tune(search: Search, queries: Vectors, asked: Rows, truth: Rows, most: int) -> tuple[int, float]:
    """The smallest effort, doubled from 1 up to `most`, that finds enough; and its recall on the other half."""
    half = slice(0, None, 2)
    other = slice(1, None, 2) if len(asked) > 1 else half
    effort = 1
    while effort < most and recall(search(queries[half], NEAREST + 1, effort), truth[half], asked[half]) < ENOUGH:
        effort = min(2 * effort, most)
    return effort, recall(search(queries[other], NEAREST + 1, effort), truth[other], asked[other])
