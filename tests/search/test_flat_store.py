"""An exact index read from its file: what FAISS finds, without FAISS."""

from pathlib import Path

import colours
import numpy as np
import pytest
from colours import Toy, paint_many

from groundling.checksums import sha256
from groundling.errors import UserError
from groundling.search import index_pictures
from groundling.search.faiss_store import FaissStore
from groundling.search.flat_store import FlatStore, best
from groundling.search.index import Index
from groundling.search.search_filter import SearchFilter

faiss = pytest.importorskip("faiss")
toy = colours.toy


def test_it_finds_what_faiss_finds_at_once_and_from_then_on(toy: Toy, tmp_path: Path) -> None:
    paint_many(tmp_path / "photos", 40)
    index_pictures(tmp_path / "photos", tmp_path / "index", "toy")
    opened = Index.open(tmp_path / "index")
    assert isinstance(opened.store, FlatStore)
    theirs = faiss.read_index(str(tmp_path / "index" / opened.manifest.vectors.name))
    queries = np.random.default_rng(0).standard_normal((3, theirs.d)).astype(np.float32)
    wanted = theirs.search(queries, 7)
    for _ in range(3):  # from the map, then from memory
        scores, rows = opened.store.search(queries, 7, None, False)
        np.testing.assert_allclose(scores, wanted[0], atol=1e-6)
        np.testing.assert_array_equal(rows, wanted[1])
    np.testing.assert_array_equal(opened.store.vectors(np.array([5, 1])), theirs.reconstruct_batch(np.array([5, 1])))
    nothing = opened.store.search(queries, 3, SearchFilter.of("no/such/folder", None, None), False)
    assert (nothing[1] == -1).all()
    many = opened.store.for_many()  # what a server has of it
    assert isinstance(many, FaissStore) and many.for_many() is many
    np.testing.assert_array_equal(many.search(queries, 7, None, False)[1], wanted[1])
    np.testing.assert_array_equal(many.vectors(np.array([5, 1])), opened.store.vectors(np.array([5, 1])))


def test_a_file_that_is_cut_or_of_another_kind_is_refused(toy: Toy, tmp_path: Path) -> None:
    paint_many(tmp_path / "photos", 3)
    index_pictures(tmp_path / "photos", tmp_path / "index", "toy")
    opened = Index.open(tmp_path / "index")
    path = tmp_path / "index" / opened.manifest.vectors.name
    whole = path.read_bytes()
    for wrong in (whole[:20], whole[:-4], b"IxF2" + whole[4:], whole + b"more"):
        path.write_bytes(wrong)
        stored = opened.manifest.vectors.model_copy(update={"sha256": sha256(path)})
        with pytest.raises(UserError, match="FAISS cannot read it"):
            FlatStore(path.parent, opened.manifest.model_copy(update={"vectors": stored}), opened.entries)


def test_equal_scores_are_in_the_order_of_the_table() -> None:
    scores = np.array([[0.5, 0.9, 0.5, -np.inf, 0.5], [0.0, 0.0, 0.0, 0.0, 0.0]], dtype=np.float32)
    assert best(scores, 3)[1].tolist() == [[1, 0, 2], [0, 1, 2]]
    assert best(scores, 5)[1].tolist() == [[1, 0, 2, 4, -1], [0, 1, 2, 3, 4]]
