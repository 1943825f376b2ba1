"""A Milvus that is a file: made when something is put into it, quiet, and with the lists that were asked for."""

import fcntl
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import colours
import pytest
from colours import Toy, paint_many
from made_index import random_vectors

from groundling.errors import UserError
from groundling.search import Index, index_pictures, milvus_building, milvus_connection, milvus_store
from groundling.search import store as stores
from groundling.search.entries import Entries, Entry
from groundling.search.manifest import SearchFacts
from groundling.search.recall import Aim

pytest.importorskip("faiss")
MilvusClient = pytest.importorskip("pymilvus").MilvusClient
MilvusException = pytest.importorskip("pymilvus").MilvusException
pytest.importorskip("milvus_lite")

toy = colours.toy  # a model that knows colours
pytestmark = pytest.mark.filterwarnings("ignore")
VECTORS = random_vectors(400, 8)


def everything_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


@pytest.mark.parametrize("uri", ["", "elsewhere/deep/lite.db"])
def test_a_build_that_is_refused_leaves_nothing(toy: Toy, tmp_path: Path, uri: str) -> None:
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_text("no picture")
    before = everything_in(tmp_path)
    store = f"milvus:{tmp_path / uri}" if uri else "milvus:"
    with pytest.raises(UserError, match="nothing that can be put into an index"):
        index_pictures(tmp_path / "photos", tmp_path / "deep" / "index", "toy", store=store)
    assert everything_in(tmp_path) == before

    (tmp_path / "photos" / "a.jpg").unlink()
    paint_many(tmp_path / "photos", 3)
    assert index_pictures(tmp_path / "photos", tmp_path / "deep" / "index", "toy", store=store).count == 3


def test_a_file_that_was_lost_is_made_again_only_with_what_to_put_into_it(toy: Toy, tmp_path: Path) -> None:
    index = tmp_path / "index"
    paint_many(tmp_path / "photos", 3)
    index_pictures(tmp_path / "photos", index, "toy", store="milvus:")
    milvus_connection.milvus_file.remove(index / "milvus.db")
    with pytest.raises(
        UserError, match=rf"no such Milvus file; mend it with `groundling index --update --out {index}`"
    ):
        Index.open(index)
    pictures = [(path, path.read_bytes()) for path in (tmp_path / "photos").rglob("*.png")]
    for path, _ in pictures:
        path.write_text("no picture any more")
    with pytest.raises(UserError, match="nothing that can be put into an index"):
        index_pictures(None, index, update=True)
    assert not (index / "milvus.db").exists()
    for path, data in pictures:
        path.write_bytes(data)
    assert index_pictures(None, index, update=True).count == 3
    assert len(Index.open(index).search("red", k=9)) == 3


def test_a_file_that_cannot_be_opened_is_one_sentence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    place = milvus_store.facts("", tmp_path, "toy")
    (tmp_path / "milvus.db").mkdir()
    with (tmp_path / "milvus.db" / "LOCK").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(UserError, match=r"milvus\.db: is open in another process, and a Milvus file is for one"):
            milvus_store.check(tmp_path, place, "auto")
    other = milvus_store.facts(str(tmp_path / "text.db"), tmp_path, "toy")
    (tmp_path / "text.db").write_text("hello")
    with pytest.raises(UserError, match=r"text\.db: cannot be opened as a Milvus file \(.*File exists.*; choose"):
        milvus_store.check(tmp_path, other, "auto")
    closed = milvus_store.facts("/sys/closed.db", tmp_path, "toy")
    with pytest.raises(UserError, match=r"/sys/closed\.db: may not be written to \(.*\); choose another folder"):
        milvus_store.check(tmp_path, closed, "auto")
    assert capfd.readouterr().err == "" and (tmp_path / "text.db").read_text() == "hello"


def test_a_collection_that_lost_its_index_to_a_kill_is_mended(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An index is dropped before one of another kind is made. A server, unlike Milvus Lite, loads nothing then."""
    paint_many(tmp_path / "photos", 3)
    index_pictures(tmp_path / "photos", tmp_path / "index", "toy", store="milvus:")
    store: Any = Index.open(tmp_path / "index").store
    store.client.release_collection(store.name)
    store.client.drop_index(store.name, "vector")
    load = MilvusClient.load_collection

    def as_a_server(self: Any, name: str, **options: Any) -> Any:
        if not self.list_indexes(name):
            raise MilvusException(message="index not found")
        return load(self, name, **options)

    monkeypatch.setattr(MilvusClient, "load_collection", as_a_server)
    assert index_pictures(None, tmp_path / "index", update=True).count == 3
    assert len(Index.open(tmp_path / "index").search("red", k=9)) == 3


def filled(folder: Path, rows: int, kind: str) -> tuple[SearchFacts, dict[str, Any]]:
    """Pictures of eight folders, each a partition of its own; how they are searched, and their index in the file."""
    place = milvus_store.facts("", folder, "toy")
    entries = Entries.of([Entry(f"{row % 8}/{row}.png", f"{row:064}") for row in range(rows)])
    made = milvus_store.write(folder, place, entries, 8, lambda some: VECTORS[some], kind, Aim(0.9))
    client = milvus_store.connect(folder, place)
    about = client.describe_index(place.collection, client.list_indexes(place.collection)[0])
    client.close()
    return made, about


def test_lists_are_as_many_as_was_asked_for_and_nothing_is_printed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for rows in (300, 400):
        made, about = filled(tmp_path, rows, "ivf")
        assert about["index_type"] == "IVF_FLAT" and about["params"] == {"nlist": stores.lists_for(rows)}
    assert made.kind == "ivf" and made.recall_at_10 >= 0.8
    made, about = filled(tmp_path, 400, "exact")
    assert (made.kind, about["index_type"]) == ("exact", "FLAT")
    assert capfd.readouterr().err == ""


def test_what_else_is_written_while_lists_are_made_is_not_lost(capfd: pytest.CaptureFixture[str]) -> None:
    with milvus_building.no_warnings_of_few_points():
        os.write(2, b"before\nWARNING clustering 4 points to 4 centroids: please provide more\nafter\n")
        print("progress", file=sys.stderr)
    os.write(2, b"then\n")
    assert capfd.readouterr().err == "progress\nbefore\nafter\nthen\n"


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ("", "wants a token; set MILVUS_TOKEN to USER:PASSWORD"),
        ("x", "refuses the token in MILVUS_TOKEN; set it to USER:PASSWORD"),
    ],
)
def test_a_server_that_does_not_know_us_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str, words: str
) -> None:
    import grpc

    class Nobody(grpc.GenericRpcHandler):
        def service(self, _: Any) -> Any:
            return grpc.unary_unary_rpc_method_handler(
                lambda _, context: context.abort(grpc.StatusCode.UNAUTHENTICATED, "auth check failure")
            )

    monkeypatch.setenv("MILVUS_TOKEN", token)
    server = grpc.server(ThreadPoolExecutor(2), handlers=(Nobody(),))
    address = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        place = milvus_store.facts(address, tmp_path, "toy")
        with pytest.raises(stores.Unavailable, match=f"^Milvus at {address} {words}, or to the API key of a cloud$"):
            milvus_store.check(tmp_path, place, "auto")
    finally:
        server.stop(0)
    with pytest.raises(stores.Unavailable, match=f"^Milvus at {address} does not answer; check that it runs and that"):
        milvus_store.check(tmp_path, place, "auto")
