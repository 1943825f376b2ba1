"""FAISS on disk finds what brute force finds, as much of it as it says, and survives being killed at any moment."""

import os
import subprocess
import sys
from pathlib import Path

import colours
import numpy as np
import pytest
from colours import Toy, paint_many
from made_index import brute_force, random_vectors, rows_of, saved

import groundling
from groundling.errors import UserError
from groundling.search import Index, disk_build, disk_store, index_pictures
from groundling.search.disk_store import DiskStore
from groundling.search.entries import Entries, Entry
from groundling.search.recall import Aim
from groundling.search.search_filter import SearchFilter
from power_cut import kill_9

faiss = pytest.importorskip("faiss")

toy = colours.toy  # a model that knows colours


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few thousand vectors are many, in several blocks."""
    monkeypatch.setattr(disk_build, "LEAST", 2000)
    monkeypatch.setattr(disk_build, "BLOCK", 1000)
    monkeypatch.setattr(disk_build, "AT_ONCE", 300)
    monkeypatch.setattr(disk_store, "AT_ONCE", 700)


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    return random_vectors(3300, 16)


def half(vectors: np.ndarray) -> np.ndarray:
    return vectors.astype(np.float16).astype(np.float32)


@pytest.mark.parametrize("count", [1, 50, 3300])
def test_exact_answers_are_those_of_brute_force(small: None, tmp_path: Path, vectors: np.ndarray, count: int) -> None:
    some, queries = vectors[:count], random_vectors(4, 16, seed=1)
    index = saved(tmp_path, some, "auto", "faiss-disk")
    assert isinstance(index.store, DiskStore)
    assert index.manifest.search.kind == ("ivf-pq" if count > 2000 else "exact")
    for query, found in zip(queries, index.nearest(queries, 10, exact=True), strict=True):
        assert rows_of(found) == brute_force(half(some), query, list(range(count)), 10)
        assert found[0].score == pytest.approx(float(some[rows_of(found)[0]] @ query), abs=1e-3)
    rows = np.array([count - 1, 0])
    np.testing.assert_array_equal(index.store.vectors(rows), half(some[rows]))
    assert index.store.for_many() is index.store
    assert index.store.held().tolist() == list(range(count))


def test_the_recall_that_is_reported_is_the_recall_that_is_had_and_more_effort_finds_more(
    small: None, tmp_path: Path, vectors: np.ndarray
) -> None:
    reached = []
    for target in (0.5, 0.99):
        folder = tmp_path / str(target)
        folder.mkdir()
        index = saved(folder, vectors, "auto", "faiss-disk", Aim(target, random_vectors(40, 16, seed=3)))
        facts = index.manifest.search
        assert (facts.kind, facts.target, facts.queries, facts.texts) == ("ivf-pq", target, 500, 20)
        shares = []
        for row, found in zip(range(0, 3300, 30), index.nearest(vectors[::30], 11), strict=True):
            true = [other for other in brute_force(half(vectors), vectors[row], list(range(3300)), 11) if other != row]
            shares.append(len(set(true[:10]) & (set(rows_of(found)) - {row})) / 10)
        assert np.mean(shares) == pytest.approx(facts.recall_at_10, abs=0.06)
        reached.append(facts)
    poor, good = reached
    assert 0.45 < poor.recall_at_10 < good.recall_at_10
    assert good.recall_at_10 > 0.97
    assert good.text_recall_at_10 > 0.95
    assert (poor.effort, poor.candidates) < (good.effort, good.candidates)


def test_candidates_are_compared_by_their_vectors_not_by_their_codes(
    small: None, tmp_path: Path, vectors: np.ndarray
) -> None:
    index = saved(tmp_path, vectors, "auto", "faiss-disk")
    scores, rows = index.store.search(vectors[:50], 5, None, False)
    np.testing.assert_allclose(scores, np.einsum("qd,qkd->qk", vectors[:50], half(vectors)[rows]), atol=1e-5)
    assert rows[:, 0].tolist() == list(range(50))
    by_codes, _ = index.store.searched.lists.search(vectors[:50], 5)
    assert np.abs(by_codes - scores).max() > 0.01  # the codes alone would say something else


@pytest.mark.parametrize("few", [0, 10_000])
def test_a_folder_and_a_time_are_searched_as_in_the_other_stores(
    small: None, tmp_path: Path, vectors: np.ndarray, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_store, "FEW", few)  # through the lists, or one by one
    index = saved(tmp_path, vectors, "auto", "faiss-disk", Aim(0.99))
    choice = SearchFilter.of("b", "2012", "2014-06")
    assert choice is not None
    allowed = [row for row in range(3300) if row % 3 == 1 and 2012 <= 2010 + row % 10 <= 2014]
    queries = random_vectors(30, 16, seed=1)
    shares = []
    for query, found in zip(queries, index.nearest(queries, 10, choice), strict=True):
        assert set(rows_of(found)) <= set(allowed)
        shares.append(len(set(rows_of(found)) & set(brute_force(half(vectors), query, allowed, 10))) / 10)
    assert np.mean(shares) > (0.9 if few == 0 else 0.999)
    assert len(index.nearest(queries[:1], 3300, choice)[0]) == len(allowed)
    assert len(index.nearest(queries[:1], 3300)[0]) == 3300  # who wants all gets all
    assert index.nearest(queries[:1], 5, SearchFilter("nowhere")) == [[]]


def test_an_index_on_disk_is_built_updated_moved_and_read_only(small: None, toy: Toy, tmp_path: Path) -> None:
    names = paint_many(tmp_path / "photos", 12)
    index_pictures(tmp_path / "photos", tmp_path / "index", "toy", store="faiss-disk")
    paint_many(tmp_path / "photos" / "new", 3, seed=5)
    built = index_pictures(None, tmp_path / "index", update=True)
    assert (built.count, built.added, built.kept) == (15, 3, 12)
    assert toy.encoded == 15
    again = index_pictures(None, tmp_path / "index", update=True)
    assert (again.count, again.encoded) == (15, 0)
    moved = (tmp_path / "index").rename(tmp_path / "elsewhere")
    assert {one.path for one in Index.open(moved).search("red", k=50)} >= set(names)
    assert sorted(path.suffix for path in moved.iterdir() if path.name.startswith("vectors-")) == [".npy"]
    with pytest.raises(UserError, match="keeps its vectors in faiss-disk"):
        index_pictures(None, moved, store="milvus:x.db", update=True)
    with pytest.raises(UserError, match="--kind hnsw is for --store faiss"):
        index_pictures(tmp_path / "photos", tmp_path / "other", "toy", store="faiss-disk", kind="hnsw")


def test_a_moved_index_finds_its_lists_and_damage_is_named(small: None, tmp_path: Path, vectors: np.ndarray) -> None:
    (tmp_path / "here").mkdir()
    saved(tmp_path / "here", vectors, "auto", "faiss-disk")
    there = (tmp_path / "here").rename(tmp_path / "there")
    for path in there.iterdir():
        path.chmod(0o444)
    index = Index.open(there)
    assert rows_of(index.nearest(vectors[:1], 1)[0]) == [0]
    plain = faiss.read_index(str(there / index.manifest.lists.name))  # a file as FAISS writes it, for others, too
    assert (plain.ntotal, plain.invlists.compute_ntotal()) == (3300, 3300)
    np.testing.assert_array_equal(
        plain.search(vectors[:9], 20, params=faiss.IVFPQSearchParameters(nprobe=7))[1],
        index.store.searched.lists.search(vectors[:9], 20, params=faiss.IVFPQSearchParameters(nprobe=7))[1],
    )
    for stored in (index.manifest.lists, index.manifest.vectors):
        path = there / stored.name
        whole = path.read_bytes()
        path.unlink()  # what is mapped stays as it was
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(UserError, match=f"{stored.name}: damaged"):
            Index.open(there)
        path.unlink()
        with pytest.raises(UserError, match=f"{stored.name}: no such file"):
            Index.open(there)
        path.write_bytes(whole)


CHILD = """
import sys
from pathlib import Path
import numpy as np
from groundling.search import disk_build
from test_disk_store import table
from made_index import random_vectors
disk_build.LEAST, disk_build.BLOCK, disk_build.AT_ONCE = 2000, 500, 100
vectors = random_vectors(3300, 16)
folder = Path(sys.argv[1])

def fetch(rows):
    if len(rows) == 100 and rows[0] >= int(sys.argv[2]):
        (folder / "reached").touch()
        while True:
            pass
    return vectors[rows]

disk_build.write(folder, table(3300), 16, fetch, "auto", disk_build.recall.Aim())
"""


def table(count: int) -> Entries:
    return Entries.of([Entry(f"{row}.png", f"{row:064}") for row in range(count)])


def test_a_killed_build_goes_on_behind_the_last_whole_block(
    tmp_path: Path, vectors: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"LEAST": 2000, "BLOCK": 500, "AT_ONCE": 100}.items():
        monkeypatch.setattr(disk_build, name, value)
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    killed.mkdir()
    whole.mkdir()
    tests = Path(__file__).parent
    paths = [Path(groundling.__file__).parent.parent, tests, tests.parent]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths))}
    process = subprocess.Popen([sys.executable, "-c", CHILD, str(killed), "1700"], env=environment)
    kill_9(process, (killed / "reached").exists)
    assert len(list((killed / disk_build.WORK).glob("block-*"))) == 3

    asked: list[int] = []

    def fetch(rows: np.ndarray) -> np.ndarray:
        if len(rows) == 100:
            asked.append(int(rows[0]))
        return vectors[rows]

    written = disk_build.write(killed, table(3300), 16, fetch, "auto", Aim())
    assert asked == list(range(1500, 3300, 100))
    fresh = disk_build.write(whole, table(3300), 16, lambda rows: vectors[rows], "auto", Aim())
    assert written.search == fresh.search
    assert written.vectors.sha256 == fresh.vectors.sha256
    one, other = (
        disk_store.DiskSearch(folder / made.vectors.name, folder / made.lists.name)
        for folder, made in ((killed, written), (whole, fresh))
    )
    for found, expected in zip(one.search(vectors[:20], 9, 8, 64), other.search(vectors[:20], 9, 8, 64), strict=True):
        np.testing.assert_array_equal(found, expected)

    # Other vectors of the same names are another build: nothing of the old one is taken.
    asked.clear()
    disk_build.write(killed, table(3300), 16, lambda rows: fetch(rows)[:, ::-1], "auto", Aim())
    assert asked == list(range(0, 3300, 100))
