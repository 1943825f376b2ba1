"""An index in a Milvus that is reached by its address: its settings, choices in the store, and when it is gone."""

import time
from pathlib import Path
from typing import Any

import colours
import numpy as np
import pytest
from colours import Toy, paint_many
from milvus_server import milvus_server

from groundling.errors import UserError
from groundling.search import (
    Index,
    index_captions,
    index_pictures,
    milvus_building,
    milvus_collection,
    milvus_store,
    recall,
)
from groundling.search.entries import Entries, Entry
from groundling.search.manifest import StoreFacts
from groundling.search.recall import Aim
from groundling.search.search_filter import SearchFilter
from groundling.search.store import Unavailable

pytest.importorskip("faiss")
MilvusClient = pytest.importorskip("pymilvus").MilvusClient
pytest.importorskip("milvus_lite")

toy = colours.toy  # a model that knows colours
CAPTIONS = [("red", "en"), ("green", "en"), ("blue red", "en"), ("rot", "de"), ("grün", "de")]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """What the client is asked to do, and with which options: Milvus Lite takes them all, and heeds few."""
    calls: list[tuple[str, dict[str, Any]]] = []
    for name in ("create_collection", "load_collection", "query", "search"):

        def call(
            self: Any, *given: Any, _name: str = name, _real: Any = getattr(MilvusClient, name), **options: Any
        ) -> Any:
            calls.append((_name, options))
            return _real(self, *given, **options)

        monkeypatch.setattr(MilvusClient, name, call)
    return calls


@pytest.mark.filterwarnings("ignore")
def test_a_server_keeps_to_its_settings_and_chooses_in_the_store(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sent: list[tuple[str, dict[str, Any]]]
) -> None:
    monkeypatch.setattr(milvus_building, "SENT", 4 * 8 * 3)  # three rows at once, several portions on their way
    paint_many(tmp_path / "photos", 20)
    index_pictures(tmp_path / "photos", tmp_path / "faiss", "toy")
    with milvus_server(tmp_path / "data") as server:
        store = f"milvus:{server.uri}?replicas=1&consistency=bounded&partitions=8"
        index_pictures(tmp_path / "photos", tmp_path / "index", "toy", store=store)
        made = dict(sent)
        assert made["create_collection"].items() >= {"consistency_level": "Bounded", "num_partitions": 8}.items()
        assert made["load_collection"] == {"replica_number": 1}
        assert made["query"]["consistency_level"] == "Strong"
        opened = Index.open(tmp_path / "index", store=f"milvus:{server.uri}")
        place = opened.manifest.store
        assert (place.uri, place.replicas, place.consistency, place.partitions) == (server.uri, 1, "Bounded", 8)
        about = opened.store.client.describe_collection(opened.store.name)  # type: ignore[attr-defined]
        assert [field["name"] for field in about["fields"] if field.get("is_partition_key")] == ["part"]
        ours = Index.open(tmp_path / "faiss")
        sent.clear()
        for choice in (None, SearchFilter("a"), SearchFilter("a/b"), SearchFilter("nothing")):
            expected, found = (
                {
                    one.path: pytest.approx(one.score, abs=1e-5)
                    for one in index.nearest(toy.encode_text(["red"], [""]), 20, choice)[0]
                }
                for index in (ours, opened)
            )
            assert found.keys() == expected.keys(), choice
        assert {options["consistency_level"] for _, options in sent} == {"Bounded"}

        index_captions(CAPTIONS, tmp_path / "told", "toy", store=f"milvus:{server.uri}")
        index_captions(CAPTIONS, tmp_path / "told-faiss", "toy")
        for folder in ("told", "told-faiss"):
            told = Index.open(tmp_path / folder)
            said = told.search("red", k=5, captions_in="de")
            assert [(one.text, one.language) for one in said] == [("rot", "de"), ("grün", "de")]
            assert len(told.search("red", k=5)) == 5

        # Milvus Lite behind an address makes its own number of lists, as a collection from before has another one.
        grouped = index_pictures(None, tmp_path / "index", store=f"milvus:{server.uri}", update=True, kind="ivf")
        assert grouped.search.kind == "ivf" and grouped.search.recall_at_10 >= 0.95

        # A collection from before has no partitions, and works as it did.
        before = StoreFacts(name="milvus", uri=server.uri, collection="before")
        entries = Entries.of([Entry(f"{'ab'[row % 2]}/{row}.png", f"{row:064}") for row in range(10)])
        vectors = np.eye(10, 8, dtype=np.float32) + 0.1
        milvus_store.write(tmp_path, before, entries, 8, lambda rows: vectors[rows], "exact", Aim())
        manifest = opened.manifest.model_copy(update={"store": before})
        old = milvus_store.MilvusStore(tmp_path, manifest, entries)
        assert set(old.search(vectors[:1], 10, SearchFilter("a"), False)[1][0]) == {0, 2, 4, 6, 8, -1}
        with pytest.raises(UserError, match="build it again"):
            old.search(vectors[:1], 10, SearchFilter(language="de"), False)

        server.stop()
        monkeypatch.setattr(milvus_collection, "PATIENCE", 1.0)
        with pytest.raises(Unavailable, match=f"Milvus at {server.uri} does not answer"):
            opened.nearest(np.ones((1, 8), dtype=np.float32), 3)


@pytest.mark.filterwarnings("ignore")
def test_recall_is_measured_when_the_lists_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server makes them after rows are sent; until then it compares everything, and the least effort finds all."""
    vectors = np.random.default_rng(0).standard_normal((400, 8)).astype(np.float32)
    entries = Entries.of([Entry(f"{row}.png", f"{row:064}") for row in range(400)])
    waiting, searched, loaded, real = [300, 300, 20, 0], [], [], MilvusClient.search

    def search(self: Any, name: str, data: list[Any], **options: Any) -> Any:
        searched.append((len(data), options["timeout"], options["search_params"]["params"]["nprobe"]))
        assert not waiting
        return real(self, name, data, **options)

    def described(self: Any, *given: Any) -> Any:
        index = describe(self, *given)
        return {**index, "pending_index_rows": waiting.pop(0)} if index["index_type"] == "IVF_FLAT" else index

    describe = MilvusClient.describe_index
    monkeypatch.setattr(MilvusClient, "describe_index", described)
    monkeypatch.setattr(MilvusClient, "refresh_load", lambda *_, **__: loaded.append(not waiting))  # Lite has none
    monkeypatch.setattr(MilvusClient, "search", search)
    monkeypatch.setattr(milvus_building, "PAUSE", 0)
    monkeypatch.setattr(recall, "QUERIES", 100)
    place = milvus_store.facts("", tmp_path, "toy")
    made = milvus_store.write(tmp_path, place, entries, 8, lambda rows: vectors[rows], "ivf", Aim(0.9))
    assert made.kind == "ivf" and made.recall_at_10 >= 0.8 and made.queries == 50
    assert loaded == [True]
    assert max(count for count, _, _ in searched) == milvus_collection.ASKED  # 100 queries in portions
    assert {patience for _, patience, _ in searched} == {milvus_building.BUILDING}
    assert searched[0][2] == 65_536  # the truth is in all lists, also of a collection that was made for more rows


@pytest.mark.filterwarnings("ignore")
def test_a_file_whose_lists_are_late_has_an_effort_that_is_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Milvus Lite makes lists in a thread of its own, and compares all rows until they are there."""
    from milvus_lite.engine.collection import Collection

    at_once = Collection._ensure_loaded_segments_indexed

    def late(self: Any) -> int:
        time.sleep(1)
        return at_once(self)

    monkeypatch.setattr(Collection, "_ensure_loaded_segments_indexed", late)
    vectors = np.random.default_rng(0).standard_normal((400, 8)).astype(np.float32)
    entries = Entries.of([Entry(f"{row}.png", f"{row:064}") for row in range(400)])
    place = milvus_store.facts("", tmp_path, "toy")
    made = milvus_store.write(tmp_path, place, entries, 8, lambda rows: vectors[rows], "ivf", Aim(0.9))
    assert made.effort > 1 and 0.8 <= made.recall_at_10 < 1


@pytest.mark.filterwarnings("ignore")
def test_a_milvus_that_fails_while_it_is_filled_is_a_sentence_and_the_build_goes_on(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from pymilvus.exceptions import MilvusException

    def full(*_: Any, **__: Any) -> None:
        raise MilvusException(message="memory quota exceeded\nat proxy.go:1")

    paint_many(tmp_path / "photos", 6)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MilvusClient, "upsert", full)
        with pytest.raises(Unavailable, match=r"could not be filled \(.*quota exceeded.*; give the command once more"):
            index_pictures(tmp_path / "photos", tmp_path / "index", "toy", store="milvus:")
    assert not (tmp_path / "index" / "manifest.json").exists() and "Traceback" not in capfd.readouterr().err
    monkeypatch.setattr(toy, "encode_prepared", None)  # all vectors are in the journal
    assert index_pictures(tmp_path / "photos", tmp_path / "index", "toy", store="milvus:").count == 6


@pytest.mark.parametrize(("version", "good"), [("v2.3.5", False), ("v2.6.4", True), ("Zilliz Cloud", True)])
def test_a_server_that_loses_rows_of_partitions_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, good: bool
) -> None:
    monkeypatch.setattr(MilvusClient, "get_server_version", lambda _: version)
    place = milvus_store.facts("", tmp_path, "toy")
    if good:
        return milvus_store.check(tmp_path, place, "auto")
    with pytest.raises(UserError, match=r"is v2\.3\.5, .*; 2\.4 or newer is needed"):
        milvus_store.check(tmp_path, place, "auto")


def test_rows_are_found_by_their_numbers() -> None:
    entries = Entries.of([Entry(f"{row}.png", f"{row:064}") for row in range(50)])
    wanted = [49, 0, 7]
    assert entries.rows_of([*entries.ids[wanted].tolist(), 3, 2**62]).tolist() == [*wanted, -1, -1]
    assert entries.rows_of([]).tolist() == []
