"""Exact is brute force, approximate is as good as it says, and a Milvus answers like FAISS."""

import json
import os
from pathlib import Path

import colours
import numpy as np
import pytest
from colours import Toy, paint, paint_many
from hypothesis import given, settings
from hypothesis import strategies as st
from made_index import assert_chosen_as_by_brute_force, brute_force, random_vectors, rows_of, saved

from groundling.errors import UserError
from groundling.files import with_checksum
from groundling.search import Index, index_pictures
from groundling.search import store as stores
from groundling.search.entries import Entries, Entry
from groundling.search.faiss_store import make
from groundling.search.milvus_collection import expression
from groundling.search.recall import Aim
from groundling.search.search_filter import SearchFilter

faiss = pytest.importorskip("faiss")

toy = colours.toy  # a model that knows colours


@pytest.mark.parametrize("kind", ["exact", "ivf", "hnsw"])
def test_exact_answers_are_those_of_brute_force_with_and_without_a_choice(tmp_path: Path, kind: str) -> None:
    vectors, queries = random_vectors(700, 16), random_vectors(5, 16, seed=1)
    index = saved(tmp_path, vectors, kind)
    for query, found in zip(queries, index.nearest(queries, 10, exact=True), strict=True):
        assert rows_of(found) == brute_force(vectors, query, list(range(700)), 10)
        assert found[0].score == pytest.approx(float(vectors[rows_of(found)[0]] @ query), abs=1e-5)
    assert_chosen_as_by_brute_force(index, vectors, queries)


@pytest.mark.parametrize("kind", ["ivf", "hnsw"])
def test_the_recall_that_is_reported_is_the_recall_that_is_had(tmp_path: Path, kind: str) -> None:
    vectors = random_vectors(3000, 24)
    index = saved(tmp_path, vectors, kind)
    reported = index.manifest.search
    assert reported.kind == kind
    assert reported.queries == 500
    asked = range(0, 3000, 10)
    shares = []
    for row, found in zip(asked, index.nearest(vectors[::10], 11), strict=True):
        true = [other for other in brute_force(vectors, vectors[row], list(range(3000)), 11) if other != row][:10]
        shares.append(len(set(true) & (set(rows_of(found)) - {row})) / 10)
    assert reported.recall_at_10 >= 0.9
    assert np.mean(shares) == pytest.approx(reported.recall_at_10, abs=0.04)


def test_a_poor_index_is_reported_as_poor() -> None:
    vectors = np.random.default_rng(0).standard_normal((3000, 32)).astype(np.float32)
    index, facts = make(vectors, "ivf", Aim(0.0))  # the least effort is enough
    assert facts.effort == 1
    _, truth = faiss.knn(vectors[:300], vectors, 11, metric=faiss.METRIC_INNER_PRODUCT)
    _, found = index.search(vectors[:300], 11, params=faiss.SearchParametersIVF(nprobe=1))
    shares = [
        len(({*true.tolist()} - {row}) & ({*got.tolist()} - {row})) / len({*true.tolist()} - {row})
        for row, (true, got) in enumerate(zip(truth, found, strict=True))
    ]
    assert facts.recall_at_10 < 0.6
    assert facts.recall_at_10 == pytest.approx(np.mean(shares), abs=0.05)


def test_small_is_exact_and_large_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = random_vectors(400, 8)
    assert saved(tmp_path, vectors, "auto").manifest.search.kind == "exact"
    monkeypatch.setattr(stores, "EXACT_UP_TO", 399)
    assert saved(tmp_path, vectors, "auto").manifest.search.kind == "ivf"


@pytest.mark.parametrize("kind", ["ivf", "hnsw"])
def test_an_approximate_index_is_updated_and_of_any_size(toy: Toy, tmp_path: Path, kind: str) -> None:
    for count in (1, 2, 50):
        names = paint_many(tmp_path / "photos", count)
        built = index_pictures(tmp_path / "photos", tmp_path / "index", "toy", kind=kind, update=True)
        assert built.count == count
        index = Index.open(tmp_path / "index")
        assert {one.path for one in index.search("red", k=50, exact=True)} == set(names)


@pytest.mark.parametrize("kind", ["exact", "ivf"])
def test_an_index_from_before_opens_as_it_did(tmp_path: Path, kind: str) -> None:
    vectors = random_vectors(300, 8)
    now = saved(tmp_path, vectors, kind)
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    for name in ("checksum", "lists"):
        manifest.pop(name)
    manifest["search"] = {name: manifest["search"][name] for name in ("kind", "effort", "recall_at_10", "queries")}
    (tmp_path / "manifest.json").write_text(json.dumps(with_checksum(manifest)))
    before = Index.open(tmp_path)
    assert before.manifest.search.target is None
    assert before.nearest(vectors[:5], 3) == now.nearest(vectors[:5], 3)


def test_a_table_of_millions_is_mapped_and_reads_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [Entry(f"{'ab'[row % 2]}/ä{row}.png", f"{row:064}", taken=f"20{row:02}-01-01") for row in range(25)]
    monkeypatch.setattr("groundling.search.entries.MAPPED_FROM", 10)  # in three pieces
    entries = Entries.of(rows)
    assert entries.file_type == "arrow"
    entries.save(tmp_path / "entries.arrow")
    mapped = Entries.load(tmp_path / "entries.arrow")
    assert mapped.table["name"].num_chunks == 3
    assert mapped.rows() == rows
    assert mapped.value("name", 23) == "b/ä23.png"
    assert mapped.row_named("ä7.png") == 7
    assert mapped.row_named("a/ä24.png") == 24
    choice = SearchFilter("a", "2004", "2020")
    assert np.flatnonzero(mapped.mask(choice)).tolist() == list(range(4, 21, 2))
    np.testing.assert_array_equal(mapped.ids, entries.ids)
    (tmp_path / "entries.arrow").write_bytes((tmp_path / "entries.arrow").read_bytes()[:200])
    with pytest.raises(UserError, match="damaged"):
        Entries.load(tmp_path / "entries.arrow")


FOLDERS = ["a", "a/b", "ab", 'q"uote\\', "a0", "ä", "a%", "a_"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_is_itself_and_what_is_below_it(folder: str) -> None:
    entries = Entries.of([Entry(f"{name}/x.png", "0") for name in FOLDERS])
    kept = [name for name, mask in zip(FOLDERS, entries.mask(SearchFilter(folder)).tolist(), strict=True) if mask]
    assert kept == [name for name in FOLDERS if name == folder or name.startswith(folder + "/")]


@settings(max_examples=50, deadline=None)
@given(st.dates(), st.dates(), st.dates(), st.sampled_from([4, 7, 10]))
def test_dates_are_compared_as_dates(day: object, first: object, last: object, length: int) -> None:
    entries = Entries.of([Entry("x.png", "0", taken=f"{day}T12:34:56")])
    since, until = str(first)[:length], str(last)[:length]
    inside = since <= str(day)[:length] <= until
    assert entries.mask(SearchFilter("", since, until)).tolist() == [inside]


def test_a_choice_that_is_none_and_dates_that_are_none() -> None:
    assert SearchFilter.of() is SearchFilter.of("", "", "") is SearchFilter.of(".") is SearchFilter.of("/") is None
    assert SearchFilter.of("./a/b/") == SearchFilter("a/b")
    for date in ("19", "2019-7", "yesterday", "2019-07-31T10", "2019/07"):
        with pytest.raises(UserError, match="is not a year, month or day"):
            SearchFilter.of(since=date)


@pytest.mark.filterwarnings("ignore")
def test_milvus_answers_like_faiss(toy: Toy, tmp_path: Path) -> None:
    pytest.importorskip("pymilvus")
    pytest.importorskip("milvus_lite")
    photos = tmp_path / "photos"
    paint_many(photos, 30)
    for number, folder in enumerate(FOLDERS[:6]):
        os.utime(paint(photos / folder / "x.png", (9 * number, 255 - 9 * number, 77)), (1.2e9, 1.2e9 + 4e7 * number))
    index_pictures(photos, tmp_path / "faiss", "toy")
    uri = f"milvus:{tmp_path / 'lite.db'}"
    index_pictures(photos, tmp_path / "milvus", "toy", store=uri)

    def compare() -> None:
        ours, theirs = Index.open(tmp_path / "faiss"), Index.open(tmp_path / "milvus")
        choices = [
            None,
            *(SearchFilter(folder) for folder in FOLDERS[:6]),
            SearchFilter("", "2009", "2012-03"),
            SearchFilter("a", "2000"),
        ]
        queries = np.stack([ours.encode(word) for word in ("red", "green", "blue red")])
        for choice in choices:
            pairs = zip(ours.nearest(queries, 40, choice), theirs.nearest(queries, 40, choice), strict=True)
            for expected, found in pairs:
                expected_scores = {one.path: pytest.approx(one.score, abs=1e-5) for one in expected}
                assert {one.path: one.score for one in found} == expected_scores, choice
                assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
        rows = np.array([3, 0, 7])
        np.testing.assert_allclose(theirs.store.vectors(rows), ours.store.vectors(rows), atol=1e-6)
        theirs.store.client.close()  # type: ignore[attr-defined]

    compare()
    paint(photos / "000.png", (3, 200, 3))
    (photos / "a" / "001.png").unlink()
    (photos / "003.png").rename(photos / "moved.png")
    encoded = toy.encoded
    for out in ("faiss", "milvus"):
        built = index_pictures(None, tmp_path / out, update=True)
        assert (built.added, built.changed, built.removed) == (1, 1, 2)
    assert toy.encoded == encoded + 2  # once for each index
    compare()

    opened = Index.open(tmp_path / "milvus")
    client, name = opened.store.client, opened.store.name  # type: ignore[attr-defined]
    client.delete(name, ids=opened.entries.ids[:4].tolist())  # as after a kill, or by somebody else
    client.close()
    with pytest.raises(UserError, match="holds 31 vectors, where the table has 35; mend it"):
        Index.open(tmp_path / "milvus")
    assert index_pictures(None, tmp_path / "milvus", update=True).count == 35
    compare()


def test_words_for_milvus_and_what_it_cannot_do(tmp_path: Path) -> None:
    assert expression(SearchFilter('a"\\', "2019", "2020-01")) == (
        'part == "a\\"\\\\" and '
        'name >= "a\\"\\\\/" and name < "a\\"\\\\0" and taken >= "2019" and taken < "2020-01~" and taken > ""'
    )
    assert expression(SearchFilter("a/b"), layout=1) == 'name >= "a/b/" and name < "a/b0"'
    assert expression(SearchFilter("a/b")) == 'part == "a" and name >= "a/b/" and name < "a/b0"'
    assert expression(SearchFilter(language="de")) == 'part == "de"'
    with pytest.raises(UserError, match="without the languages of captions"):
        expression(SearchFilter(language="de"), layout=1)
    for store, words in {
        "milvus:http://me:secret@host:1": "write no password",
        "milvus:somewhere": 'a local file ends in ".db"',
        "milvus:ftp://host:1": 'a server is "http://HOST:19530"',
        "milvus:http://": 'a server is "http://HOST:19530"',
        "milvus:http://host:port?replicas=2": 'a server is "http://HOST:19530"',
        "milvus:http://host:1?replica=2": '"replica" is none of replicas .*did you mean "replicas"',
        "milvus:http://host:1?replicas=many": 'replicas="many" is not right: copies of the collection',
        "milvus:http://host:1?consistency=none": 'consistency="None" is not right: Strong, Bounded',
    }.items():
        with pytest.raises(UserError, match=words):
            stores.store_facts(store, tmp_path, "f")
