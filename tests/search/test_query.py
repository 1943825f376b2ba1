"""Questions of several parts, least scores, and pictures that look the same."""

from pathlib import Path

import colours
import numpy as np
import pytest
from colours import Toy, paint

from groundling.errors import UserError
from groundling.search import Index, index_pictures
from groundling.search.duplicates import NEAR, search_groups
from groundling.search.query import Query

pytest.importorskip("faiss")
toy = colours.toy


@pytest.fixture
def index(tmp_path: Path, toy: Toy) -> Index:
    for name, colour in {
        "red": (255, 0, 0), "green": (0, 255, 0), "yellow": (255, 255, 0), "white": (255, 255, 255), "blue": (0, 0, 255)
    }.items():  # fmt: skip
        paint(tmp_path / "photos" / f"{name}.png", colour)
    index_pictures(tmp_path / "photos", tmp_path / "index", "toy")
    return Index.open(tmp_path / "index")


def names(found: list) -> list[str]:
    return [one.path.removesuffix(".png") for one in found]


def test_what_is_wanted_too_and_what_is_not(index: Index) -> None:
    assert names(index.search("red", 1)) == ["red"]
    assert names(index.search("red", 1, plus=["green"])) == ["yellow"]
    assert names(index.search("red green", 1, minus=["green"])) == ["red"]


def test_the_vector_of_a_query_is_the_sum_of_its_parts(index: Index, tmp_path: Path) -> None:
    parts = {word: index.encode(word) for word in ("red", "blue", "green")}
    picture = tmp_path / "photos" / "white.png"
    expected = parts["red"] + parts["blue"] + index.look(picture) - parts["green"]
    query = Query(["red", "blue"], ["green"], picture)
    np.testing.assert_allclose(query.vector(index), expected / np.linalg.norm(expected), atol=1e-6)
    assert repr(Query(["dog", "beach"], ["child"])) == '"dog" + "beach" − "child"'


def test_several_languages_are_read_at_once(index: Index, toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    """A word that is a colour in each of two languages stands between both."""

    def encode(texts: list[str], codes: list[str]) -> np.ndarray:
        return toy._encode_text(["rot" if code == "de" else "blau" for code in codes], codes)

    monkeypatch.setattr(toy, "encode_text", encode)
    both = Query(["gift"], languages=["de", "en"]).vector(index)
    one, other = (Query(["gift"], languages=[code]).vector(index) for code in ("de", "en"))
    assert both @ one == pytest.approx(both @ other, abs=1e-6)
    assert both @ one > one @ other + 0.1
    assert np.linalg.norm(both) == pytest.approx(1, abs=1e-6)


def test_nothing_is_left_of_what_is_not_wanted(index: Index) -> None:
    with pytest.raises(UserError, match="nothing is left to look for"):
        index.search("red", minus=["red"])
    with pytest.raises(UserError, match="not only what to leave out"):
        Query(without=["red"]).vector(index)


def test_a_least_score(index: Index) -> None:
    everything = index.search("red", 5)
    kept = index.search("red", 5, minimum_score=everything[2].score)
    assert kept == everything[:3]
    assert index.search("red", 5, minimum_score=1.01) == []


def test_pictures_that_look_the_same_are_one(tmp_path: Path, toy: Toy) -> None:
    shades = {f"red{number}": (255 - number, number, 0) for number in range(9)}
    for name, colour in {**shades, "green": (0, 255, 0), "blue": (0, 0, 255)}.items():
        paint(tmp_path / "photos" / f"{name}.png", colour)
    index_pictures(tmp_path / "photos", tmp_path / "index", "toy")
    index = Index.open(tmp_path / "index")
    found = index.search("red", 2, group_duplicates=True)
    assert len(found) == 2
    assert sorted([found[0].path, *found[0].duplicates]) == sorted(f"{name}.png" for name in shades)
    assert found[1].duplicates == ()
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert names(index.search("red", 2)) != names(found)  # two shades of red


def test_groups_by_the_slow_way() -> None:
    """Every vector beneath the first of better score that it is near to, whatever the number that is asked for."""
    draw = np.random.default_rng(1)
    centres = draw.standard_normal((12, 16))
    vectors = np.repeat(centres, 5, axis=0) + 0.02 * draw.standard_normal((60, 16))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

    class Plain:
        def vectors(self, rows: np.ndarray) -> np.ndarray:
            return vectors[rows]

        def search(self, queries: np.ndarray, k: int, choice: object, exact: bool) -> tuple[np.ndarray, np.ndarray]:
            scores = queries @ vectors.T
            order = np.argsort(-scores, axis=1)[:, :k]
            return np.take_along_axis(scores, order, axis=1), order

    query = vectors[7]
    for k in (1, 4, 12, 20):
        found = search_groups(Plain(), 60, query, k)
        order = np.argsort(-(vectors @ query)).tolist()
        heads: list[int] = []
        for row in order:
            if all(vectors[row] @ vectors[head] < NEAR for head in heads):
                heads.append(row)
        assert [group.row for group in found] == heads[:k]
        if k >= 12:
            assert sorted(row for group in found for row in (group.row, *group.others)) == list(range(60))
