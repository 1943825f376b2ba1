"""Pictures that look the same, as one: copies, other sizes of one picture, one taken right after another."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from groundling.model.vectors import Vectors
from groundling.search.entries import Rows
from groundling.search.search_filter import SearchFilter
from groundling.search.store import Store

NEAR = 0.97  # cosine from which two pictures count as the same; different photographs are rarely above 0.9
MOST = 10_000  # pictures that are compared with each other
FIRST = 3  # pictures looked at for each one that is wanted, to begin with


@dataclass(frozen=True)
class Group:
    """One row that stands for all: the best of them, its score, and the rows that look the same, the best first."""

    row: int
    score: float
    others: Sequence[int]


def search_groups(
    store: Store, count: int, vector: Vectors, k: int, choice: SearchFilter | None = None, exact: bool = False
) -> list[Group]:
    """The k best groups; `count` is how many vectors there are. More and more are looked at until there are k."""
    wanted = k * FIRST
    while True:
        asked = min(wanted, count, max(k, MOST))
        scores, rows = store.search(vector[None], asked, choice, exact)
        groups = grouped(store, rows[0][rows[0] >= 0], scores[0])
        if len(groups) > k or asked == min(count, max(k, MOST)) or (rows[0] < 0).any():
            return groups[:k]  # one more than k: all that belong to the last have been seen next to it
        wanted *= 4


def grouped(store: Store, rows: Rows, scores: Vectors) -> list[Group]:
    """Rows, the best first, each beneath the first that it looks the same as."""
    if not len(rows):
        return []
    vectors = store.vectors(rows)
    heads: list[int] = []
    others: dict[int, list[int]] = {}
    for place in range(len(rows)):
        near = vectors[heads] @ vectors[place] if heads else np.empty(0)
        if len(near) and near.max() >= NEAR:
            others[heads[int(near.argmax())]].append(int(rows[place]))
        else:
            heads.append(place)
            others[place] = []
    return [Group(int(rows[head]), float(scores[head]), others[head]) for head in heads]
