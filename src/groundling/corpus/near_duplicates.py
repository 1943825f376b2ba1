"""Pictures of dev and test that look the same as one of train, by their features.

An exact search: of all pairs, or, where these are too many, of all that can be near (see `nearest_features`). Neither
side need fit in memory, so the features may be a memory-mapped file.
"""

import hashlib
from dataclasses import asdict, dataclass

import numpy as np
import numpy.typing as npt

from groundling.corpus.corpus import Integers, Strings
from groundling.corpus.nearest_features import BLOCK, AllPairs, Cells, Features

SAME = 0.999  # cosine; re-encoded or resized copies of one photo are above it, different photos below
HELD_OUT = ("dev", "test")
ALL_PAIRS = 2**32  # the most that are compared one by one: minutes, where ten million pictures have 10¹³
FEW_CELLS = 0.99  # below this cosine so many cells are left that comparing all may be as fast
_DOUBT = 1e-4  # far more than float32 can be wrong about a cosine


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
        nearest: the nearest pair, be it near enough or not; None where nothing was compared, and where none is near
            enough among so many that not all were compared.
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
    least = threshold - _DOUBT
    in_cells = len(held_out) * len(train) > ALL_PAIRS and threshold >= FEW_CELLS
    others = Cells(features, rows[train], least) if in_cells else AllPairs(features, rows[train])
    cosine, place = others.nearest(rows[held_out], np.float32)
    near = np.flatnonzero(cosine >= least)
    cosine[near], place[near] = others.nearest(rows[held_out[near]], np.float64)
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
            if np.isfinite(cosine[at])
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
    for start in range(0, len(among), BLOCK):
        for place, row in enumerate(features[among[start : start + BLOCK]], start):
            first.setdefault(_digest(row), place)
    equal = {}
    for start in range(0, len(asked), BLOCK):
        for at, row in enumerate(features[asked[start : start + BLOCK]], start):
            if (digest := _digest(row)) in first:
                equal[at] = first[digest]
    return equal


def _digest(row: Features) -> bytes:
    return hashlib.blake2b(row.tobytes(), digest_size=16).digest()


def _has_direction(features: Features, rows: Integers) -> npt.NDArray[np.bool_]:
    """Rows that are all zero, or hold what is not a number, are like no other."""
    good = np.zeros(len(rows), dtype=bool)
    for start in range(0, len(rows), BLOCK):
        block = features[rows[start : start + BLOCK]]
        good[start : start + BLOCK] = np.isfinite(block).all(axis=1) & (block != 0).any(axis=1)
    return good
