"""The service about its own collection: what to begin with, more of the best, and whether captions fit."""

from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("faiss")
pytest.importorskip("fastapi")

from served import Collection, collection, square
from starlette.testclient import TestClient

from groundling.search import Index
from groundling.search.entries import Entries, Entry
from groundling.serve.app import make_app
from groundling.serve.examples import WORDS, spread


@pytest.fixture(scope="module")
def squares(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    with collection(tmp_path_factory.mktemp("collected")) as made:
        yield made


@pytest.fixture(scope="module")
def client(squares: Collection) -> Iterator[TestClient]:
    with squares.client() as made:
        yield made


def test_the_next_ones_are_those_that_a_longer_answer_has(client: TestClient) -> None:
    everything = client.get("/search", params={"q": "red", "k": 30}).json()["results"]
    parts = [
        client.get("/search", params={"q": "red", "k": 10, "offset": start}).json()["results"] for start in (0, 10, 20)
    ]
    assert [one for part in parts for one in part] == everything
    assert client.get("/search", params={"q": "red", "offset": 30}).json()["results"] == []
    like = client.get("/similar", params={"id": 3, "k": 20}).json()["results"]
    assert client.get("/similar", params={"id": 3, "k": 10, "offset": 10}).json()["results"] == like[10:]
    assert client.get("/search", params={"q": "red", "offset": 9801}).status_code == 422


def test_pictures_that_look_the_same_are_grouped(client: TestClient, squares: Collection) -> None:
    alone = client.get("/search", params={"q": "red", "k": 30}).json()["results"]
    groups = client.get("/search", params={"q": "red", "k": 30, "group": True}).json()["results"]
    assert all(one["duplicates"] == [] for one in alone)
    assert len(groups) < 30  # of thirty colours some are near
    rows = [row for one in groups for row in (one["id"], *one["duplicates"])]
    assert sorted(rows) == list(range(30))
    vectors = Index.open(squares.index).store.vectors(np.arange(30))
    for one in groups:
        assert all(vectors[one["id"]] @ vectors[other] >= 0.97 for other in one["duplicates"])
    second = client.get("/search", params={"q": "red", "k": 3, "offset": 2, "group": True}).json()["results"]
    assert [one["id"] for one in second] == [one["id"] for one in groups[2:5]]


def test_pictures_to_begin_with(client: TestClient) -> None:
    first = [one["id"] for one in client.get("/sample", params={"k": 10}).json()["pictures"]]
    assert first == list(range(0, 30, 3))
    assert [one["id"] for one in client.get("/sample", params={"k": 10, "start": 31}).json()["pictures"]] == [
        (row + 31) % 30 for row in first
    ]
    assert len(client.get("/sample", params={"k": 200}).json()["pictures"]) == 30
    assert spread(0, 5) == []


def test_words_to_try(client: TestClient, squares: Collection) -> None:
    for model in (Index.open(squares.index).manifest.model,):
        assert model.languages == []  # so that only English is tried
    found = client.get("/examples").json()["examples"]
    assert [one["language"]["code"] for one in found] == ["en"]
    assert found[0]["text"] in ("red", "green", "blue")  # a caption of the collection
    with squares.client(captions=False) as bare:
        found = bare.get("/examples").json()["examples"]
    assert [one["text"] in WORDS["en"].split() for one in found] == [True]


def test_every_language_has_the_same_ten_things() -> None:
    assert {len(words.split()) for words in WORDS.values()} == {10}


def test_whether_a_caption_fits(client: TestClient) -> None:
    ranking = client.get("/search", params={"q": "red", "k": 30}).json()["results"]
    for place in (0, 4, 29):
        fit = client.get("/fit", params={"id": ranking[place]["id"], "text": "red"}).json()
        assert fit["better"] == place
        assert fit["score"] == pytest.approx(ranking[place]["score"], abs=1e-5)
        assert (fit["best"] or {}).get("id") == (ranking[0]["id"] if place else None)
    named = client.get("/fit", params={"name": ranking[4]["name"], "text": "red"}).json()
    assert named["picture"]["id"] == ranking[4]["id"]
    own = client.post(
        "/fit", params={"text": "red"}, content=square((250, 0, 0)), headers={"Content-Type": "image/png"}
    )
    assert own.status_code == 200, own.text
    assert own.json()["picture"] is None
    assert own.json()["better"] <= 1
    for wrong, status in (({}, 422), ({"id": 1, "name": "x"}, 422), ({"name": "nowhere.png"}, 404), ({"id": 99}, 404)):
        assert client.get("/fit", params={**wrong, "text": "red"}).status_code == status


def test_a_picture_by_the_name_of_its_file() -> None:
    entries = Entries.of([Entry(name, "") for name in ("a/x.png", "b/y.png", "c/y.png", "z.png")])
    asked = ("a/x.png", "x.png", "y.png", "b/y.png", "z.png", "", "../z.png", "png")
    assert [entries.row_named(name) for name in asked] == [0, 0, None, 1, 3, None, None, None]


def test_when_a_picture_was_taken_and_where_it_is(client: TestClient, squares: Collection) -> None:
    about = client.get("/pictures/3/about").json()
    assert about["taken"][:2] == "20"
    assert about["size"] == (squares.folder / about["name"]).stat().st_size
    assert client.get("/about").json()["root"] is None
    service = squares.service()
    with TestClient(make_app(service, tell_root=True), base_url="http://localhost") as here:
        assert here.get("/about").json()["root"] == str(squares.folder)
    service.close()
