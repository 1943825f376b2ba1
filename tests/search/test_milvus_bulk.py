"""Bulk import, asked of a pretended server: what it is asked for, when it says no, and builds that are cut short.

The pretended imports read the shards that they are told of and put their rows into a Milvus Lite.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import colours
import fsspec
import numpy as np
import pyarrow.parquet as pq
import pytest
from colours import Toy, paint_many

from groundling.cli import main
from groundling.errors import UserError
from groundling.search import Index, index_captions, index_pictures, milvus_import, milvus_store
from groundling.search.bulk import BulkImport
from groundling.search.entries import Entries, Entry
from groundling.search.manifest import StoreFacts
from groundling.search.milvus_rows import as_table, part_of, partitions, records
from groundling.search.recall import Aim
from groundling.search.store import Unavailable

pytest.importorskip("faiss")
MilvusClient = pytest.importorskip("pymilvus").MilvusClient
pytest.importorskip("milvus_lite")

toy = colours.toy
STARTED, FAILED, COMPLETED = 2, 1, 6
STORAGE = "memory://bucket/imports"
VECTORS = np.random.default_rng(0).standard_normal((40, 8)).astype(np.float32)
ENTRIES = Entries.of([Entry(f"{('a/', 'b/', '')[row % 3]}{row}.png", f"{row:064}") for row in range(40)])


@dataclass
class Job:
    collection: str
    path: str
    asked_in: Any
    state: int = STARTED
    questions: int = 0


@dataclass
class Imports:
    """A server's imports; each ends when it has been asked about three times."""

    jobs: list[Job] = field(default_factory=list)
    fail: str = ""  # why all imports fail
    stuck: bool = False
    killed_after: int | None = None  # imports after which whoever asks is killed, before he has his answer
    limits: list[Any] = field(default_factory=list)

    def start(self, calls: Any, collection: str, partition: str, files: list[str], **options: Any) -> int:
        assert partition == ""  # a collection with a partition key takes none, and puts rows where they belong
        assert len(files) == 1 and options == {"retry_times": 0}
        self.jobs.append(Job(collection, files[0], calls))
        if self.killed_after is not None and len(self.jobs) > self.killed_after:
            raise SystemExit(137)
        return len(self.jobs) - 1

    def state(self, calls: Any, job: int, **_: Any) -> Any:
        return self._answer(self.jobs[job])

    def all(self, calls: Any, limit: int, collection: str, **_: Any) -> list[Any]:
        return [self._answer(job) for job in self.jobs if job.collection == collection]

    def _answer(self, job: Job) -> Any:
        job.questions += not self.stuck
        if job.questions == 3 and self.fail:
            job.state = FAILED
        elif job.questions == 3:
            self._import(job)
            job.state = COMPLETED
        infos = {"progress_percent": str(30 * min(job.questions, 3))}
        return SimpleNamespace(state=job.state, infos=infos, failed_reason=self.fail)

    def _import(self, job: Job) -> None:
        with fsspec.open(f"memory://bucket/{job.path}", "rb") as file:
            job.asked_in.insert_rows(job.collection, pq.read_table(file).to_pylist())


@pytest.fixture
def imports(monkeypatch: pytest.MonkeyPatch) -> Iterator[Imports]:
    from pymilvus.client.grpc_handler import GrpcHandler

    made = Imports()
    monkeypatch.setattr(GrpcHandler, "do_bulk_insert", lambda *given, **options: made.start(*given, **options))
    monkeypatch.setattr(GrpcHandler, "get_bulk_insert_state", lambda *given, **options: made.state(*given, **options))
    monkeypatch.setattr(GrpcHandler, "list_bulk_insert_tasks", lambda *given, **options: made.all(*given, **options))
    monkeypatch.setattr(MilvusClient, "refresh_load", lambda *_, **__: None)  # Lite has none
    monkeypatch.setattr(milvus_import, "PAUSE", 0)
    monkeypatch.setattr(milvus_import, "SHARD", 4 * 8 * 7)  # seven rows
    monkeypatch.setattr(milvus_import, "GROUP", 4 * 8 * 3)
    yield made
    fsspec.filesystem("memory").store.clear()


def shards_left() -> list[str]:
    """What lies where shards are put; other tests of this process have put other things into the same bucket."""
    return [path for path in fsspec.filesystem("memory").store if path.startswith("/bucket/imports")]


def fill(folder: Path, rows: int = 40, **more: Any) -> StoreFacts:
    place = milvus_store.facts("", folder, "toy")
    entries = Entries(ENTRIES.table.slice(0, rows))
    bulk = BulkImport(STORAGE, **more)
    milvus_store.write(folder, place, entries, 8, lambda some: VECTORS[some], "exact", Aim(), bulk)
    return place


def there(folder: Path, place: StoreFacts) -> tuple[int, set[str]]:
    client = milvus_store.connect(folder, place)
    count = client.query(place.collection, filter="id >= 0", output_fields=["count(*)"])
    names = {row["name"] for row in client.query(place.collection, filter="id >= 0", output_fields=["name"], limit=99)}
    client.close()
    return int(count[0]["count(*)"]), names


@pytest.mark.filterwarnings("ignore")
def test_an_index_by_bulk_import_answers_like_one_that_was_sent(toy: Toy, tmp_path: Path, imports: Imports) -> None:
    paint_many(tmp_path / "photos", 20)
    index_pictures(tmp_path / "photos", tmp_path / "faiss", "toy")
    built = index_pictures(tmp_path / "photos", tmp_path / "index", "toy", store="milvus:", bulk=BulkImport(STORAGE))
    assert built.count == 20 and len(imports.jobs) == 3 and not shards_left()
    plain, other = Index.open(tmp_path / "faiss"), Index.open(tmp_path / "index")
    for query in ("red", "green blue"):
        expected = {one.path: pytest.approx(one.score, abs=1e-5) for one in plain.search(query, k=20)}
        assert {one.path: one.score for one in other.search(query, k=20)} == expected
    name = other.manifest.store.collection
    assert all(job.path.startswith(f"imports/{name}/") and job.path.endswith(".parquet") for job in imports.jobs)
    del other

    sorted((tmp_path / "photos").rglob("*.png"))[0].unlink()
    bulk = BulkImport(STORAGE, prefix="imports")
    updated = index_pictures(None, tmp_path / "index", store="milvus:", update=True, bulk=bulk)
    assert (updated.count, updated.removed, len(imports.jobs)) == (19, 1, 3)
    with pytest.raises(UserError, match="--bulk is for a Milvus"):
        index_captions([("red", "en")], tmp_path / "told", "toy", bulk=BulkImport(STORAGE))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shards", [0, 1, 3, 5])  # after the last, nothing is missing any more
def test_a_build_that_is_killed_is_gone_on_with(tmp_path: Path, imports: Imports, shards: int) -> None:
    """Killed when an import was asked for whose number it never learns, and others may be under way."""
    imports.killed_after = shards
    with pytest.raises(SystemExit):
        fill(tmp_path)
    under_way = sum(job.state == STARTED for job in imports.jobs)
    assert under_way and shards_left()
    imports.killed_after = None
    for job in imports.jobs:
        job.asked_in = _Later(tmp_path)
    place = fill(tmp_path)
    assert there(tmp_path, place) == (40, set(ENTRIES.table["name"].to_pylist())) and not shards_left()
    assert len(imports.jobs) == 6, "an import that was under way is asked for again, or one is missing"
    fill(tmp_path)
    assert len(imports.jobs) == 6


class _Later:
    """The connection of a process that was killed is gone; its server is not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def insert_rows(self, name: str, rows: list[Any]) -> None:
        client = milvus_store.connect(self.folder, milvus_store.facts("", self.folder, "toy"))
        client.insert(name, rows)


@pytest.mark.filterwarnings("ignore")
def test_an_import_under_way_is_waited_for_before_rows_are_sent(tmp_path: Path, imports: Imports) -> None:
    imports.killed_after = 2
    with pytest.raises(SystemExit):
        fill(tmp_path)
    for job in imports.jobs:
        job.asked_in = _Later(tmp_path)
    place = milvus_store.facts("", tmp_path, "toy")
    milvus_store.write(tmp_path, place, ENTRIES, 8, lambda some: VECTORS[some], "exact", Aim())
    assert there(tmp_path, place)[0] == 40 and {job.state for job in imports.jobs} == {COMPLETED}


@pytest.mark.filterwarnings("ignore")
def test_what_a_server_or_a_storage_refuses_is_a_sentence(tmp_path: Path, imports: Imports) -> None:
    imports.fail = "no such object"
    with pytest.raises(
        UserError, match=r"did not import imports/groundling_\w+/\w+\.parquet \(no such object\); --bulk"
    ):
        fill(tmp_path)
    assert not shards_left()
    imports.fail, imports.jobs, imports.stuck = "", [], True
    with pytest.raises(Unavailable, match=r"nothing new of its imports for 0\.01 s; give the command once more"):
        fill(tmp_path, patience=0.01)
    (tmp_path / "file").write_text("")
    place = milvus_store.facts("", tmp_path, "toy")
    with pytest.raises(UserError, match=r"--bulk .*file/below: cannot be written \(Not a directory\)"):
        milvus_store.check(tmp_path, place, "exact", BulkImport(str(tmp_path / "file" / "below")))
    with pytest.raises(UserError, match="nowhere://x: cannot be read here"):
        milvus_store.check(tmp_path, place, "exact", BulkImport("nowhere://x"))


@pytest.mark.filterwarnings("ignore")
def test_a_build_that_is_refused_leaves_no_folder_in_the_storage(toy: Toy, tmp_path: Path, imports: Imports) -> None:
    """The place for the shards is tried before the pictures are looked at, none of which is one."""
    (tmp_path / "photos").mkdir()
    (tmp_path / "photos" / "a.jpg").write_text("no picture")
    (tmp_path / "kept").mkdir()
    for storage in ("kept", "new/place"):
        bulk = BulkImport(str(tmp_path / storage))
        with pytest.raises(UserError, match="nothing that can be put into an index"):
            index_pictures(tmp_path / "photos", tmp_path / "deep" / "index", "toy", store="milvus:", bulk=bulk)
    assert sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")) == ["kept", "photos", "photos/a.jpg"]


@pytest.mark.filterwarnings("ignore")
def test_rows_that_are_there_twice_or_not_at_all_are_noticed(
    tmp_path: Path, imports: Imports, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = fill(tmp_path)
    real, wrong = MilvusClient.query, {"more": 0}

    def query(self: Any, *given: Any, **options: Any) -> Any:
        found = real(self, *given, **options)
        if 'part in ["b"]' in options["filter"]:
            return [{"count(*)": found[0]["count(*)"] + wrong["more"]}]
        return found

    monkeypatch.setattr(MilvusClient, "query", query)
    for wrong["more"], expected in (
        (1, r'holds 14 rows of "b", where there are 13.*: drop'),
        (-2, "shows 11 of the 13 rows"),
    ):
        with pytest.raises(UserError, match=expected):
            fill(tmp_path)
    wrong["more"] = 0
    assert fill(tmp_path) == place


def test_milvus_lite_and_old_servers_are_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, bulk = milvus_store.facts("", tmp_path, "toy"), BulkImport(str(tmp_path / "storage"))
    with pytest.raises(UserError, match="is a Milvus Lite, which imports no files; leave it out"):
        milvus_store.check(tmp_path, place, "exact", bulk)
    monkeypatch.setattr(MilvusClient, "get_server_version", lambda _: "v2.3.3")
    with pytest.raises(UserError, match=r"is v2\.3\.3; --bulk needs 2\.3\.4 or newer"):
        milvus_store.check(tmp_path, place, "exact", bulk)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--bulk", "storage"], "is a Milvus Lite, which imports no files; leave it out"),
        (["--bulk-prefix", "x"], "--bulk-prefix and --bulk-timeout go with --bulk"),
    ],
)
def test_the_command_says_no_in_one_sentence(
    toy: Toy, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    paint_many(tmp_path / "photos", 3)
    out = tmp_path / "index"
    asked = ["index", str(tmp_path / "photos"), "--model", "toy", "--out", str(out), "--store", "milvus:", *options]
    with pytest.raises(SystemExit) as stop:
        main(asked)
    said = capsys.readouterr().err
    assert stop.value.code == 2 and words in said and said.count("\n") == 1
    assert toy.encoded == 0 and {path.name for path in tmp_path.iterdir()} == {"photos"}


def test_replicas_need_query_nodes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = milvus_store.facts("", tmp_path, "toy").model_copy(update={"replicas": 3})

    def nodes(count: int) -> None:
        group = SimpleNamespace(num_available_node=count)
        monkeypatch.setattr(MilvusClient, "describe_resource_group", lambda *_, **__: group)

    nodes(3)
    milvus_store.check(tmp_path, place, "exact")
    nodes(1)
    with pytest.raises(
        UserError, match=r"\(query nodes: 1\): replicas=3 needs 3 query nodes, and a standalone server is one"
    ):
        milvus_store.check(tmp_path, place, "exact")


def test_a_row_is_the_same_sent_or_imported() -> None:
    rows = np.array([4, 0, 39])
    sent = records(ENTRIES, rows, VECTORS[rows], 2)
    assert as_table(ENTRIES, rows, VECTORS[rows], 2).to_pylist() == sent
    assert [row["part"] for row in sent] == ["b", "a", "a"] and sent[0]["name"] == "b/4.png"
    assert "part" not in records(ENTRIES, rows, VECTORS[rows], 1)[0]
    names, chosen = partitions(ENTRIES, np.arange(40))
    assert [names[part] for part in chosen] == [part_of(name, "") for name in ENTRIES.table["name"].to_pylist()]
