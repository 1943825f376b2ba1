"""Pictures of dev and test that look the same as one of train, by their features.

An exact search, block by block: neither side need fit in memory, so the features may be a memory-mapped file.
"""

import hashlib
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from groundling.corpus.corpus import Integers, Strings
from groundling.progress import bar

SAME = 0.999  # cosine; re-encoded or resized copies of one photo are above it, different photos below
HELD_OUT = ("dev", "test")
_BLOCK = 2048
_DOUBT = 1e-4  # far more than float32 can be wrong about a cosine

Features = npt.NDArray[np.floating[Any]]
Cosines = npt.NDArray[np.float64]


@dataclass(frozen=True)
class NearPair:
    """A picture of dev or test, the nearest one of train, and the cosine of their features."""

    picture: str
    train: str
    cosine: float


@dataclass(frozen=True)
class NearPictures:
    """What was found in one split.

    Attributes:
        count: pictures that look the same as one of train.
        identical: those that have the very same features as one of train.
        pairs: all of the first, the nearest before others.
        nearest: the nearest pair, be it near enough or not; None where nothing was compared.
    """

    count: int
    identical: int
    pairs: list[NearPair]
    nearest: NearPair | None


@dataclass(frozen=True)
class FeatureLeaks:
    """
    Attributes:
        threshold: the cosine from which two pictures count as the same.
        checked: of each split, how many pictures were compared.
        without_features, without_direction: the names of those that were not, for want of features or of usable ones.
        splits: what was found in dev and in test.
    """

    threshold: float
    checked: dict[str, int]
    without_features: list[str]
    without_direction: list[str]
    splits: dict[str, NearPictures]

    def to_json(self) -> dict[str, object]:
        data = asdict(self)
        return {**{key: value for key, value in data.items() if key != "splits"}, **data["splits"]}


def find(
    pictures: Strings, splits: Strings, features: Features, rows: Integers, threshold: float = SAME
) -> FeatureLeaks:
    """For dev and test: pictures whose nearest training picture has at least this cosine, or the very same features.

    Args:
        pictures: their names.
        splits: the split of each.
        features: vectors, more than there are pictures perhaps.
        rows: for each picture its row of features, −1 where it has none.
        threshold: the cosine from which two pictures count as the same.
    """
    usable = rows >= 0
    usable[usable] = _has_direction(features, rows[usable])
    train, held_out = (np.flatnonzero(usable & side) for side in (splits == "train", splits != "train"))
    equal = _equal(features, rows[held_out], rows[train])
    cosine, place = _nearest(features, rows[held_out], rows[train], np.float32)
    near = np.flatnonzero(cosine >= threshold - _DOUBT)
    cosine[near], place[near] = _nearest(features, rows[held_out[near]], rows[train], np.float64)
    for at, other in equal.items():
        cosine[at], place[at] = 1.0, other
    found = {}
    for split in HELD_OUT:
        order = np.flatnonzero(splits[held_out] == split) if len(train) else np.array([], dtype=np.int64)
        order = order[np.argsort(-cosine[order], kind="stable")]
        count = int((cosine[order] >= threshold).sum())
        pairs = [
            NearPair(str(pictures[held_out[at]]), str(pictures[train[place[at]]]), float(cosine[at]))
            for at in order[: max(count, 1)]
        ]
        identical = sum(int(at) in equal for at in order)
        found[split] = NearPictures(count, identical, pairs[:count], pairs[0] if pairs else None)
    return FeatureLeaks(
        threshold,
        checked={split: int((splits[usable] == split).sum()) for split in ("train", *HELD_OUT)},
        without_features=[str(name) for name in pictures[rows < 0]],
        without_direction=[str(name) for name in pictures[(rows >= 0) & ~usable]],
        splits=found,
    )


def _equal(features: Features, asked: Integers, among: Integers) -> dict[int, int]:
    """Place in `asked` → the first place in `among` that has the same bytes."""
    first: dict[bytes, int] = {}
    for start in range(0, len(among), _BLOCK):
        for place, row in enumerate(features[among[start : start + _BLOCK]], start):
            first.setdefault(_digest(row), place)
    equal = {}
    for start in range(0, len(asked), _BLOCK):
        for at, row in enumerate(features[asked[start : start + _BLOCK]], start):
            if (digest := _digest(row)) in first:
                equal[at] = first[digest]
    return equal


def _digest(row: Features) -> bytes:
    return hashlib.blake2b(row.tobytes(), digest_size=16).digest()


def _nearest(features: Features, asked: Integers, among: Integers, kind: npt.DTypeLike) -> tuple[Cosines, Integers]:
    """For each row of `asked` its highest cosine with a row of `among`, and the place of that one (the first)."""
    best, nearest = np.full(len(asked), -np.inf), np.zeros(len(asked), dtype=np.int64)
    starts = [(one, other) for one in range(0, len(asked), _BLOCK) for other in range(0, len(among), _BLOCK)]
    with bar("Comparing picture features", len(starts)) as progress:
        for start, begin in starts:
            if begin == 0:
                queries = _unit(features[asked[start : start + _BLOCK]], kind)
            cosines = queries @ _unit(features[among[begin : begin + _BLOCK]], kind).T
            top = cosines.argmax(axis=1)
            value = cosines[np.arange(len(queries)), top]
            better = start + np.flatnonzero(value > best[start : start + _BLOCK])
            best[better], nearest[better] = value[better - start], begin + top[better - start]
            progress.advance()
    return best, nearest


def _has_direction(features: Features, rows: Integers) -> npt.NDArray[np.bool_]:
    """Rows that are all zero, or hold what is not a number, are like no other."""
    good = np.zeros(len(rows), dtype=bool)
    for start in range(0, len(rows), _BLOCK):
        block = features[rows[start : start + _BLOCK]]
        good[start : start + _BLOCK] = np.isfinite(block).all(axis=1) & (block != 0).any(axis=1)
    return good


def _unit(block: Features, kind: npt.DTypeLike) -> Features:
    wide = np.asarray(block, dtype=np.float64)
    wide = wide / np.abs(wide).max(axis=1, keepdims=True)  # squares of very small or large numbers stay in range
    return (wide / np.linalg.norm(wide, axis=1, keepdims=True)).astype(kind)
