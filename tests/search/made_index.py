"""Indexes of random vectors, and what brute force finds in them."""

from pathlib import Path

import numpy as np

from groundling.model import Vectors
from groundling.search import Index
from groundling.search import store as stores
from groundling.search.build import write_index
from groundling.search.entries import Entries, Entry
from groundling.search.manifest import ModelFacts, StoreFacts
from groundling.search.recall import Aim
from groundling.search.search_filter import SearchFilter


def random_vectors(count: int, dimensions: int, seed: int = 0) -> Vectors:
    draw = np.random.default_rng(seed)
    centres = draw.standard_normal((20, dimensions))
    vectors = centres[draw.integers(0, 20, count)] + 0.7 * draw.standard_normal((count, dimensions))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def brute_force(vectors: Vectors, query: Vectors, allowed: list[int], k: int) -> list[int]:
    scored = sorted((-float(np.dot(vectors[row], query)), row) for row in allowed)
    return [row for _, row in scored[:k]]


def saved(tmp_path: Path, vectors: Vectors, kind: str, store: str = "faiss", aim: Aim = Aim()) -> Index:
    """An index of these vectors, whose rows are the pictures of three folders and ten years."""
    entries = Entries.of(
        [
            Entry(f"{'abc'[row % 3]}/{row}.png", f"{row:064}", taken=f"{2010 + row % 10}-06-15T12:00:00")
            for row in range(len(vectors))
        ]
    )
    place = StoreFacts(name=store)
    written = stores.write(tmp_path, place, entries, vectors.shape[1], lambda rows: vectors[rows], kind, aim)
    model = ModelFacts(kind="run", name="m", backbone="b", fingerprint="f", dimensions=vectors.shape[1], languages=[])
    write_index(tmp_path, "pictures", entries, model, place, written)
    return Index.open(tmp_path)


def rows_of(found: list) -> list[int]:
    return [int(Path(one.path).stem) for one in found]


def assert_chosen_as_by_brute_force(index: Index, vectors: Vectors, queries: Vectors) -> None:
    """Of one folder and two and a half years, among 700 pictures of three folders and ten years."""
    choice = SearchFilter.of("b", "2012", "2014-06")
    assert choice is not None
    allowed = [row for row in range(700) if row % 3 == 1 and 2012 <= 2010 + row % 10 <= 2014]
    for query, found in zip(queries, index.nearest(queries, 10, choice), strict=True):
        assert rows_of(found) == brute_force(vectors, query, allowed, 10)
    assert len(index.nearest(queries[:1], 500, choice)[0]) == len(allowed)
