"""How far languages are from each other in six ways, and whether accuracy goes with it.

The numbers are those of Table 1.1 of Xu 2024 (master's thesis, Leiden University) as it prints them, from English to
five languages; its source is URIEL (Littell et al. 2017) through lang2vec. They are rounded there, and Japanese and
Chinese have the same six. What that table does not hold is not known here: no number stands for it.
"""

import csv
import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from groundling.recipes import PUBLISHED

KINDS = ("featural", "syntactic", "genetic", "geographic", "phonological", "inventory")
ALL_ORDERS = 8  # up to so many languages every order is tried; more have a sample of orders
SAMPLES = 20_000

Floats = npt.NDArray[np.float64]


def linguistic_distances(language: str, base: str = "en") -> dict[str, float | None]:
    """Kind → distance between two languages, from 0 (a language and itself) to 1; None where it is not known."""
    one, two = language.split("-")[0].lower(), base.split("-")[0].lower()
    if one == two:
        return dict.fromkeys(KINDS, 0.0)
    table = _table()
    return {kind: table.get((one, two), table.get((two, one), {})).get(kind) for kind in KINDS}


@cache
def _table() -> dict[tuple[str, str], dict[str, float]]:
    text = (PUBLISHED / "language-distances.tsv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t")
    return {(row["language"], row["base"]): {kind: float(row[kind]) for kind in KINDS if row[kind]} for row in rows}


@dataclass(frozen=True)
class Correlation:
    """Spearman's ρ between two columns of numbers.

    Attributes:
        value: −1 to 1; None where a column has only one value, or there are fewer than three rows.
        chance: how often an order drawn at random gives a ρ at least as far from 0; None with it.
        count: the number of rows.
    """

    value: float | None
    chance: float | None
    count: int


def spearman(first: Sequence[float], second: Sequence[float]) -> Correlation:
    """The correlation of ranks (ties share the mean of their ranks), and how easily chance has one as large."""
    count = len(first)
    if count != len(second):
        raise ValueError(f"{count} and {len(second)} numbers do not go together")
    one, two = _centred(ranks_with_ties(first)), _centred(ranks_with_ties(second))
    size = float(np.sqrt((one @ one) * (two @ two)))
    if count < 3 or size == 0:
        return Correlation(None, None, count)
    value = float(one @ two) / size
    if count <= ALL_ORDERS:
        orders = np.array(list(itertools.permutations(range(count))))
    else:
        draw = np.random.default_rng(0)
        orders = np.array([np.arange(count), *(draw.permutation(count) for _ in range(SAMPLES))])
    found = np.abs(two[orders] @ one) / size
    return Correlation(value, float((found >= abs(value) - 1e-9).mean()), count)


def ranks_with_ties(values: Sequence[float]) -> Floats:
    """1 for the smallest; equal values share the mean of their ranks."""
    numbers = np.asarray(values, dtype=np.float64)
    below = (numbers[None, :] < numbers[:, None]).sum(axis=1)
    equal = (numbers[None, :] == numbers[:, None]).sum(axis=1)
    found: Floats = below + (equal + 1) / 2
    return found


def by_distance(accuracy: Mapping[str, float], kind: str, base: str = "en") -> dict[str, tuple[float, float]]:
    """Language → (distance, accuracy), for languages other than the base whose distance from it is known."""
    found = {}
    for code, value in accuracy.items():
        distance = linguistic_distances(code, base)[kind]
        if distance is not None and code.split("-")[0] != base.split("-")[0]:
            found[code] = (distance, value)
    return found


def _centred(values: Floats) -> Floats:
    return values - values.mean() if len(values) else values
