"""The compact file, the door for all formats, maps, and fewer dimensions."""

from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from groundling.errors import UserError
from groundling.words import Subwords, WordVectors, blocks, storage
from groundling.words.reduction import projection, reduce
from groundling.words.similar import similar
from groundling.words.word_map import WordMap, read_map


def make(kept: bool = True, dimensions: int = 6) -> WordVectors:
    draw = np.random.default_rng(3)
    rows = np.arange(0, 40, 2)
    table = draw.standard_normal((len(rows) if kept else 40, dimensions)).astype(np.float32)
    subwords = Subwords(table, 2, 3, 40, rows if kept else None)
    words = ("der", "ice cream", "狗", "", "a\nb")
    return WordVectors(words, draw.standard_normal((5, dimensions)).astype(np.float32), subwords)


@pytest.mark.parametrize("kept", [True, False])
def test_saved_and_loaded(tmp_path: Path, kept: bool) -> None:
    vectors = make(kept)
    storage.write(tmp_path / "a.safetensors", vectors)
    loaded, problems = storage.read(tmp_path / "a.safetensors")
    assert loaded.words == vectors.words
    assert np.array_equal(loaded.matrix, vectors.matrix)
    for word in ("der", "katze", "hund"):
        assert np.array_equal(loaded.vector(word), vectors.vector(word))  # type: ignore[arg-type]
    assert problems.total == 0
    assert storage.read(tmp_path / "a.safetensors", 2)[0].words == ("der", "ice cream")


def test_half_is_half_the_size_and_close(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    vectors = WordVectors(tuple(map(str, range(500))), draw.standard_normal((500, 50)).astype(np.float32))
    sizes = []
    for half in (False, True):
        storage.save(tmp_path / "a.safetensors", vectors, half)
        sizes.append((tmp_path / "a.safetensors").stat().st_size)
    assert sizes[1] < 0.55 * sizes[0]
    assert np.allclose(storage.load(tmp_path / "a.safetensors").matrix, vectors.matrix, rtol=1e-3, atol=1e-4)
    large = WordVectors(("a",), np.full((1, 2), 1e6, dtype=np.float32))
    with pytest.raises(UserError, match="float16"):
        storage.save(tmp_path / "a.safetensors", large, half=True)
    assert len(storage.load(tmp_path / "a.safetensors")) == 500  # the old file is whole


def test_files_that_are_not_word_vectors(tmp_path: Path) -> None:
    (tmp_path / "noise.safetensors").write_bytes(b"\xff" * 100)
    safetensors.numpy.save_file({"x": np.ones(3)}, tmp_path / "other.safetensors")
    good = {"words": np.frombuffer(b"ab", dtype=np.uint8), "ends": np.array([1, 2]), "matrix": np.ones((2, 3))}
    broken = {
        "missing": {name: value for name, value in good.items() if name != "ends"},
        "ends": {**good, "ends": np.array([2, 1])},
        "beyond": {**good, "ends": np.array([1, 9])},
        "rows": {**good, "matrix": np.ones((3, 3))},
        "twice": {**good, "words": np.frombuffer(b"aa", dtype=np.uint8)},
        "nan": {**good, "matrix": np.full((2, 3), np.nan)},
        "ngrams": {**good, "ngrams": np.ones((2, 3))},
    }
    for name, tensors in broken.items():
        safetensors.numpy.save_file(
            tensors, tmp_path / f"{name}.safetensors", storage.header({"format": storage.FORMAT})
        )
        with pytest.raises(UserError, match="damaged word vectors"):
            storage.read(tmp_path / f"{name}.safetensors")
    for name, sentence in {"noise": "not a safetensors file", "other": "not of word vectors", "no": "no such"}.items():
        with pytest.raises(UserError, match=sentence):
            storage.read(tmp_path / f"{name}.safetensors")
    with pytest.raises(UserError, match="unpack it first"):
        storage.read(tmp_path / "model.bin.gz")
    with pytest.raises(UserError, match=r"ends in \.safetensors"):
        storage.write(tmp_path / "a.npy", make())


def test_a_map_maps_new_words_with_their_pieces(tmp_path: Path) -> None:
    vectors = make()
    matrix = np.random.default_rng(1).standard_normal((6, 6)).astype(np.float32)
    WordMap(matrix, {"method": "rcsls"}).save(tmp_path / "map.safetensors")
    loaded = WordMap.load(tmp_path / "map.safetensors")
    assert loaded.about == {"method": "rcsls"}
    mapped = loaded.apply(vectors)
    for word in ("der", "katze"):
        assert np.allclose(mapped.vector(word), matrix @ vectors.vector(word), atol=1e-5)  # type: ignore[operator, arg-type]
    with pytest.raises(UserError, match="6 dimensions cannot take vectors of 4"):
        loaded.apply(make(dimensions=4))
    storage.save(tmp_path / "words.safetensors", vectors)
    for name in ("words", "none"):
        with pytest.raises(UserError):
            WordMap.load(tmp_path / f"{name}.safetensors")


def test_reduction_keeps_the_largest_variance() -> None:
    draw = np.random.default_rng(0)
    spread = np.array([5, 3, 1, 0.1])
    turn = np.linalg.qr(draw.standard_normal((4, 4)))[0]
    matrix = (draw.standard_normal((400, 4)) * spread) @ turn + 7
    subwords = Subwords((draw.standard_normal((9, 4)) + 7).astype(np.float32), 2, 3, 9)
    vectors = WordVectors(tuple(map(str, range(400))), matrix.astype(np.float32), subwords)
    reduced, kept = reduce(vectors, 2)
    values = np.linalg.svd(matrix - matrix.mean(axis=0), compute_uv=False) ** 2
    assert kept == pytest.approx(values[:2].sum() / values.sum(), rel=1e-5)
    assert np.allclose(reduced.matrix.mean(axis=0), 0, atol=1e-3)
    assert np.allclose(reduced.matrix.T @ reduced.matrix, np.diag(values[:2]), rtol=1e-3, atol=0.5)
    # A listed word made of the same pieces as a new one must land where the new one does.
    alike = WordVectors((*vectors.words, "hund"), np.vstack([vectors.matrix, vectors.vector("hund")]), subwords)
    both, _ = reduce(alike, 3)
    assert both.subwords is not None
    assert np.allclose(both.vector("hund"), both.subwords.vector("hund"), atol=1e-4)  # type: ignore[arg-type]
    with pytest.raises(UserError, match="cannot reduce 4 dimensions to 5"):
        reduce(vectors, 5)


@pytest.mark.parametrize("block", [7, 65_536])
@pytest.mark.parametrize(
    ("ending", "half"), [(".safetensors", False), (".safetensors", True), (".bin", False), (".vec", False)]
)
def test_vectors_that_are_reduced_as_they_are_written_are_those_reduced_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, half: bool, block: int
) -> None:
    """To the last bit, which may depend on how many rows are multiplied at once."""
    monkeypatch.setattr(blocks, "BLOCK", block)
    draw = np.random.default_rng(2)
    matrix, table = (draw.standard_normal((rows, 30)).astype(np.float32) for rows in (50, 64))
    vectors = WordVectors(tuple(map(str, range(50))), matrix, Subwords(table, 2, 3, 64))
    reduced, kept = reduce(vectors, 9)
    project, same = projection(vectors, 9)
    storage.write(tmp_path / f"memory{ending}", reduced, half)
    storage.write(tmp_path / f"blocks{ending}", vectors, half, project)
    assert (tmp_path / f"blocks{ending}").read_bytes() == (tmp_path / f"memory{ending}").read_bytes()
    assert same == kept


def test_vectors_of_which_no_piece_was_kept_are_reduced_all_the_same(tmp_path: Path) -> None:
    none = Subwords(np.zeros((0, 6), dtype=np.float32), 2, 3, 40, np.array([], dtype=np.int64))
    vectors = WordVectors(("dog", "cat"), np.eye(2, 6, dtype=np.float32), none)
    storage.write(tmp_path / "small.safetensors", vectors, change=projection(vectors, 1)[0])
    for reduced in (reduce(vectors, 1)[0], storage.load(tmp_path / "small.safetensors")):
        assert np.allclose(np.abs(reduced.matrix), 0.5**0.5)  # (1, 0) and (0, 1), seen along the line through them
        assert reduced.subwords is not None and reduced.subwords.table.shape == (0, 1)


def test_similar_words() -> None:
    matrix = np.array([[1, 0], [2, 0.1], [0, 1], [-1, 0]], dtype=np.float32)
    vectors = WordVectors(("a", "b", "c", "d"), matrix)
    found = similar(vectors, "a", count=9)
    assert found is not None
    assert [word for word, _ in found] == ["b", "c", "d"]
    assert similar(vectors, "z") is None


@pytest.mark.parametrize("name", ["words.safetensors", "words.vec"])
def test_what_a_killed_write_left_is_removed_by_the_next(tmp_path: Path, name: str) -> None:
    left, other = tmp_path / f".{name}.abcdefgh.part", tmp_path / ".other.vec.abcdefgh.part"
    left.write_bytes(b"half of it")
    other.write_bytes(b"of another command")
    storage.write(tmp_path / name, WordVectors(("dog",), np.ones((1, 3), dtype=np.float32)))
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([other.name, name])


def test_rows_are_changed_and_written_a_block_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A published model has two million rows of pieces in a file: no more than a block of them is in memory."""
    monkeypatch.setattr(blocks, "BLOCK", 3)
    draw = np.random.default_rng(0)
    matrix, table, turn = (draw.standard_normal(shape).astype(np.float32) for shape in ((8, 4), (10, 4), (2, 4)))
    sizes: list[int] = []

    def change(rows: np.ndarray) -> np.ndarray:
        sizes.append(len(rows))
        return rows @ turn.T

    words = WordVectors(tuple("abcdefgh"), matrix, Subwords(table, 2, 3, 10))
    storage.save(tmp_path / "mapped.safetensors", words, change=change)
    assert max(sizes) == 3 and sum(sizes) == 18
    found = storage.load(tmp_path / "mapped.safetensors")
    assert found.words == words.words and found.subwords is not None
    assert np.allclose(found.matrix, matrix @ turn.T, atol=1e-6)
    assert np.allclose(found.subwords.table, table @ turn.T, atol=1e-6)


def test_a_map_of_centred_words_and_a_matrix_as_text(tmp_path: Path) -> None:
    centred = WordMap(np.array([[2, 0], [0, 3]], dtype=np.float32), {"method": "x"}, np.array([1, 1], dtype=np.float32))
    centred.save(tmp_path / "map.safetensors")
    loaded = read_map(tmp_path / "map.safetensors")
    assert loaded.rows(np.array([[2, 3]], dtype=np.float32)).tolist() == [[2, 6]]
    for text in ("2 0\n0 3\n", "2 2\n2 0\n0 3\n"):
        (tmp_path / "map.txt").write_text(text)
        assert read_map(tmp_path / "map.txt").matrix.tolist() == [[2, 0], [0, 3]]
    for text, sentence in (
        ("1 x\n", r"map\.txt:1: not a line of numbers"),
        ("1 2\n3\n", "not a matrix"),
        ("nan 1\n", "not a matrix"),
        ("", "not a matrix"),
    ):
        (tmp_path / "map.txt").write_text(text)
        with pytest.raises(UserError, match=sentence):
            read_map(tmp_path / "map.txt")
