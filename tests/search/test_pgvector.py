"""An index in a PostgreSQL with pgvector answers like FAISS; the server is a real one, which pgserver brings."""

import json
from collections.abc import Iterator
from pathlib import Path

import colours
import numpy as np
import pytest
from colours import Toy, paint_many
from made_index import assert_chosen_as_by_brute_force, brute_force, random_vectors, rows_of

from groundling.errors import UserError
from groundling.files import with_checksum
from groundling.search import Index, index_captions, index_pictures, pgvector_store
from groundling.search import store as stores
from groundling.search.build import write_index
from groundling.search.entries import Entries, Entry
from groundling.search.manifest import ModelFacts, StoreFacts
from groundling.search.recall import Aim
from groundling.search.search_filter import SearchFilter
from groundling.search.store import Unavailable

pytest.importorskip("faiss")
psycopg = pytest.importorskip("psycopg", reason="psycopg is not installed: groundling[pgvector]")
pgserver = pytest.importorskip("pgserver", reason="no PostgreSQL with pgvector is here: pip install pgserver")

toy = colours.toy  # a model that knows colours


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    server = pgserver.get_server(tmp_path_factory.mktemp("postgres"))
    yield server.get_uri().replace("postgres:@", "postgres@")
    server.cleanup()


@pytest.fixture(autouse=True)
def nothing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgvector_store, "_named", set())


def test_answers_choices_and_updates_are_those_of_faiss(toy: Toy, address: str, tmp_path: Path) -> None:
    paint_many(tmp_path / "photos", 20)
    index_pictures(tmp_path / "photos", tmp_path / "faiss", "toy")
    built = index_pictures(tmp_path / "photos", tmp_path / "index", "toy", store=f"pgvector:{address}")
    assert built.count == built.encoded == 20
    plain, other = Index.open(tmp_path / "faiss"), Index.open(tmp_path / "index")
    queries = random_vectors(4, plain.manifest.model.dimensions)
    for one, two in zip(plain.nearest(queries, 7), other.nearest(queries, 7), strict=True):
        assert [found.path for found in one] == [found.path for found in two]
        assert [found.score for found in one] == pytest.approx([found.score for found in two], abs=1e-6)
    rows = np.arange(20)
    np.testing.assert_array_equal(other.store.vectors(rows), plain.store.vectors(rows))
    sorted((tmp_path / "photos").rglob("*.png"))[0].unlink()
    updated = index_pictures(None, tmp_path / "index", update=True)
    assert (updated.count, updated.removed, updated.encoded) == (19, 1, 0)
    assert len(Index.open(tmp_path / "index").nearest(queries[:1], 50)[0]) == 19


def saved(folder: Path, address: str, vectors: np.ndarray, kind: str, aim: Aim = Aim()) -> Index:
    """As of `made_index`: pictures of three folders and ten years."""
    entries = Entries.of(
        [
            Entry(f"{'abc'[row % 3]}/{row}.png", f"{row:064}", taken=f"{2010 + row % 10}-06-15T12:00:00")
            for row in range(len(vectors))
        ]
    )
    place = stores.store_facts(f"pgvector:{address}", folder, f"f-{kind}")
    stores.check_store(folder, place, kind)
    written = stores.write(folder, place, entries, vectors.shape[1], lambda rows: vectors[rows], kind, aim)
    model = ModelFacts(kind="run", name="m", backbone="b", fingerprint="f", dimensions=vectors.shape[1], languages=[])
    write_index(folder, "pictures", entries, model, place, written)
    return Index.open(folder)


@pytest.mark.parametrize("kind", ["exact", "ivf"])
def test_exact_answers_are_those_of_brute_force_with_and_without_a_choice(
    kind: str, address: str, tmp_path: Path
) -> None:
    vectors, queries = random_vectors(700, 16), random_vectors(5, 16, seed=1)
    index = saved(tmp_path, address, vectors, kind)
    for query, found in zip(queries, index.nearest(queries, 10, exact=True), strict=True):
        assert rows_of(found) == brute_force(vectors, query, list(range(700)), 10)
    assert_chosen_as_by_brute_force(index, vectors, queries)


def test_the_recall_that_is_reported_is_the_recall_that_is_had(address: str, tmp_path: Path) -> None:
    vectors = random_vectors(1500, 24)
    index = saved(tmp_path, address, vectors, "ivf", Aim(0.9))
    facts = index.manifest.search
    assert facts.kind == "ivf" and facts.queries == 500 and 1 <= facts.effort < 155
    shares = []
    for row, found in zip(range(0, 1500, 5), index.nearest(vectors[::5], 11), strict=True):
        true = [other for other in brute_force(vectors, vectors[row], list(range(1500)), 11) if other != row][:10]
        shares.append(len(set(true) & (set(rows_of(found)) - {row})) / 10)
    assert np.mean(shares) == pytest.approx(facts.recall_at_10, abs=0.05)
    assert facts.recall_at_10 > 0.85


def test_lists_that_are_there_stay_and_are_all_looked_into_where_need_be(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table that held more rows has more lists than it would be given now."""
    vectors = random_vectors(1500, 24)
    saved(tmp_path, address, vectors, "ivf")
    monkeypatch.setattr(pgvector_store, "lists_for", lambda *_: 1)
    facts = saved(tmp_path, address, vectors, "ivf", Aim(0.99)).manifest.search
    assert facts.recall_at_10 > 0.97 and facts.effort > 1


def test_captions_are_chosen_by_their_language(toy: Toy, address: str, tmp_path: Path) -> None:
    captions = [("red", "en"), ("green", "en"), ('rot\'s \\ "rot"\t', "de")]
    index_captions(captions, tmp_path / "index", "toy", store=f"pgvector:{address}")
    index = Index.open(tmp_path / "index")
    query = random_vectors(1, index.manifest.model.dimensions)
    found = index.nearest(query, 5, SearchFilter.of(language="de"))[0]
    assert [one.text for one in found] == [captions[2][0]]


def test_mistakes_are_sentences_and_nobody_else_is_connected_to(toy: Toy, address: str, tmp_path: Path) -> None:
    def facts(uri: str) -> StoreFacts:
        return stores.store_facts(f"pgvector:{uri}", tmp_path, "f")

    for uri in ("", "http://localhost/x", "postgresql://localhost"):
        with pytest.raises(UserError, match="an address is postgresql://USER@HOST:5432/DATABASE"):
            facts(uri)
    with pytest.raises(UserError, match="write no password into the address"):
        facts("postgresql://me:secret@localhost/photos")
    with pytest.raises(UserError, match="--kind hnsw is for FAISS"):
        stores.check_store(tmp_path, facts(address), "hnsw")
    nobody = "postgresql://127.0.0.1:1/photos"
    with pytest.raises(Unavailable, match=r"cannot be reached \(Connection refused\); check .* set PGPASSWORD, or"):
        stores.check_store(tmp_path, facts(nobody), "exact")
    paint_many(tmp_path / "photos", 3)
    index_pictures(tmp_path / "photos", tmp_path / "index", "toy", store=f"pgvector:{address}")
    pgvector_store._named.clear()  # another program, another day
    with pytest.raises(UserError, match="which you have not; if you know it, say so with --store pgvector:"):
        Index.open(tmp_path / "index")
    assert len(Index.open(tmp_path / "index", store=f"pgvector:{address}")) == 3
    path = tmp_path / "index" / "manifest.json"
    said = json.loads(path.read_text())
    said.pop("checksum", None)
    said["store"]["collection"] = "x; DROP TABLE y"
    path.write_text(json.dumps(with_checksum(said)))
    with pytest.raises(UserError, match="none of ours"):
        Index.open(tmp_path / "index", store=f"pgvector:{address}")


def test_a_table_that_lost_rows_is_noticed_and_mended(toy: Toy, address: str, tmp_path: Path) -> None:
    paint_many(tmp_path / "photos", 6)
    index_pictures(tmp_path / "photos", tmp_path / "index", "toy", store=f"pgvector:{address}")
    index = Index.open(tmp_path / "index")
    with psycopg.connect(address, autocommit=True) as connection:
        lost = int(index.store.entries.ids[2])
        connection.execute(f"DELETE FROM {index.store.table} WHERE id = %s", (lost,))  # noqa: S608
    with pytest.raises(UserError, match="holds 5 vectors, where the index has 6; mend it"):
        Index.open(tmp_path / "index")
    index_pictures(None, tmp_path / "index", update=True)
    assert len(Index.open(tmp_path / "index").nearest(random_vectors(1, index.manifest.model.dimensions), 9)[0]) == 6
    index.store.connection.close()  # the server was away for a moment
    assert len(index.store.search(random_vectors(1, index.manifest.model.dimensions), 9, None, True)[1][0]) == 9


def test_what_goes_wrong_while_it_is_filled_is_a_sentence_and_the_build_goes_on(
    toy: Toy, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise psycopg.errors.DiskFull("could not extend file\nHINT: check free disk space")

    paint_many(tmp_path / "photos", 4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pgvector_store, "_bring_up_to_date", full)
        with pytest.raises(Unavailable, match=r"could not be filled \(could not extend file\); give the command once"):
            index_pictures(tmp_path / "photos", tmp_path / "index", "toy", store=f"pgvector:{address}")
    assert not (tmp_path / "index" / "manifest.json").exists()
    monkeypatch.setattr(toy, "encode_prepared", None)  # all vectors are in the journal
    assert index_pictures(tmp_path / "photos", tmp_path / "index", "toy", store=f"pgvector:{address}").count == 4
    with pytest.raises(UserError, match=r"of up to 2,000 numbers, and the model's have 2,048; .* --kind exact"):
        saved(tmp_path / "wide", address, random_vectors(3, 2048), "ivf")
