"""How much of the truth an approximate search finds: measured when an index is built, not promised.

Pictures of the index are the queries, each without itself, and texts where some are given. The effort is raised until
one half of each finds enough; the recall that is reported is that of the other halves, which had no say in it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from groundling.model.vectors import Vectors
from groundling.search.entries import Rows
from groundling.search.manifest import SearchFacts

QUERIES = 1000
NEAREST = 10
ENOUGH = 0.95

Effort = TypeVar("Effort")
Search = Callable[[Vectors, int, Effort], Rows]  # queries, how many to find, effort


@dataclass(frozen=True)
class Aim:
    """The share of the ten nearest that a search must find, for pictures of the index and for these texts."""

    recall: float = ENOUGH
    texts: Vectors | None = None


@dataclass(frozen=True)
class Questions:
    """Queries and their true nearest; `rows` are the rows of the index that they are themselves, −1 for texts."""

    vectors: Vectors
    rows: Rows
    truth: Rows

    def half(self, first: int) -> "Questions":
        """Every second one, from the first or from the second on; of a single one, that."""
        part = slice(first, None, 2) if len(self.rows) > 1 else slice(None)
        return Questions(self.vectors[part], self.rows[part], self.truth[part])

    def share(self, search: "Search[Effort]", effort: Effort) -> float:
        """What a search finds of the truth."""
        return recall(search(self.vectors, NEAREST + 1, effort), self.truth, self.rows)


def sample(count: int) -> Rows:
    """Rows to ask with, the same for the same count."""
    return np.random.default_rng(0).choice(count, min(QUERIES, count), replace=False).astype(np.int64)


def questions(
    count: int, vectors: Callable[[Rows], Vectors], nearest: Callable[[Vectors, int], Rows], texts: Vectors | None
) -> list[Questions]:
    """Rows of an index of so many, and texts, with what an exact search (`nearest`) finds for them."""
    rows = sample(count)
    asked = [(vectors(rows), rows)]
    if texts is not None and len(texts):
        asked.append((texts, np.full(len(texts), -1, dtype=np.int64)))
    truth = nearest(np.concatenate([queries for queries, _ in asked]), min(NEAREST + 1, count))
    parts = np.split(truth, [len(rows)])
    return [Questions(queries, own, part) for (queries, own), part in zip(asked, parts[: len(asked)], strict=True)]


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


def least(search: "Search[Effort]", groups: Sequence[Questions], efforts: Iterable[Effort], target: float) -> Effort:
    """The first of some efforts with which one half of each group finds enough; the last where none is enough."""
    halves = [group.half(0) for group in groups]
    for effort in efforts:
        if all(half.share(search, effort) >= target for half in halves):
            break
    return effort


def doubled(most: int) -> list[int]:
    """1, 2, 4 and so on, and `most`.

    >>> doubled(6)
    [1, 2, 4, 6]
    """
    return [*(2**power for power in range((most - 1).bit_length())), most]


def measured(
    search: "Search[Effort]", groups: Sequence[Questions], effort: Effort, target: float, facts: SearchFacts
) -> SearchFacts:
    """The facts of a search, with what it finds for the halves that the effort was not chosen by."""
    shares = [round(group.half(1).share(search, effort), 4) for group in groups]
    more = {} if len(groups) < 2 else {"text_recall_at_10": shares[1], "texts": len(groups[1].rows) // 2}
    pictures = {"recall_at_10": shares[0], "queries": len(groups[0].rows) // 2}
    return facts.model_copy(update={"target": target, **pictures, **more})


def tuned(
    search: "Search[int]",
    count: int,
    vectors: Callable[[Rows], Vectors],
    nearest: Callable[[Vectors, int], Rows],
    most: int,
    aim: Aim,
    kind: str,
) -> SearchFacts:
    """Of the efforts 1, 2, 4 and so on up to `most` the least that finds enough, and how much it finds."""
    groups = questions(count, vectors, nearest, aim.texts)
    effort = least(search, groups, doubled(most), aim.recall)
    return measured(search, groups, effort, aim.recall, SearchFacts(kind=kind, effort=effort))
