"""FastText's hash and pieces, against a plain reading of the paper and hand-computed values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundling.words import Subwords, WordVectors
from groundling.words.subwords import piece_hashes


def slow_hash(piece: str) -> int:
    """FNV-1a on C's signed char, one 32-bit step after the other."""
    value = np.uint32(2166136261)
    with np.errstate(over="ignore"):
        for signed in np.frombuffer(piece.encode(), dtype=np.int8):
            value = np.uint32(value ^ np.int64(signed).astype(np.uint32)) * np.uint32(16777619)
    return int(value)


def slow_pieces(word: str, shortest: int, longest: int) -> list[str]:
    framed = f"<{word}>"
    pieces = [framed[at : at + size] for at in range(len(framed)) for size in range(shortest, longest + 1)
              if at + size <= len(framed)]  # fmt: skip
    return [piece for piece in pieces if piece not in ("<", ">")]


def test_hash_by_hand() -> None:
    assert slow_hash("a") == 0xE40C292C  # published, as is the last one: below 128 the sign does not matter
    assert slow_hash("ä") == 0x37FA60E2
    assert piece_hashes("foobar", 6, 6)[1] == 0xBF9CF968


letters = st.characters(exclude_categories=["Cs"], exclude_characters="<>")


@given(st.text(letters, max_size=9), st.integers(1, 4), st.integers(0, 3))
def test_pieces(word: str, shortest: int, more: int) -> None:
    found = piece_hashes(word, shortest, shortest + more)
    assert found == [slow_hash(piece) for piece in slow_pieces(word, shortest, shortest + more)]


def test_the_line_break_has_no_pieces() -> None:
    assert piece_hashes("</s>", 3, 6) == []


def make(kept: list[int] | None = None) -> Subwords:
    buckets = 50
    table = np.random.default_rng(0).standard_normal((buckets, 4)).astype(np.float32)
    if kept is None:
        return Subwords(table, 3, 4, buckets)
    return Subwords(table[kept], 3, 4, buckets, np.array(kept))


def test_a_new_word_is_the_mean_of_its_pieces() -> None:
    subwords = make()
    rows = [slow_hash(piece) % 50 for piece in ("<hu", "<hun", "hun", "hund", "und", "und>", "nd>")]
    vector = subwords.vector("hund")
    assert vector is not None
    assert np.allclose(vector, subwords.table[rows].mean(axis=0))


def test_only_kept_buckets_count() -> None:
    rows = sorted({slow_hash(piece) % 50 for piece in ("<hu", "hun")})
    small, full = make(rows), make()
    hits = [value % 50 for value in piece_hashes("hund", 3, 4) if value % 50 in rows]
    vector = small.vector("hund")
    assert vector is not None
    assert np.allclose(vector, full.table[hits].mean(axis=0))
    assert make([]).vector("hund") is None


def test_listed_words_first_then_pieces_then_nothing() -> None:
    matrix = np.eye(4, dtype=np.float32)[:2]
    vectors = WordVectors(("a", "hund"), matrix, make([]))
    assert vectors.vector("hund") is not None and vectors.vector("hund").tolist() == [0, 1, 0, 0]  # type: ignore[union-attr]
    assert vectors.vector("katze") is None
    rows, found = vectors.lookup(["katze", "a"])
    assert (rows.tolist(), found.tolist()) == ([[0, 0, 0, 0], [1, 0, 0, 0]], [False, True])
    rows, found = WordVectors(("a",), matrix[:1], make()).lookup(["katze"])
    assert found.all() and np.array_equal(rows[0], make().vector("katze"))  # type: ignore[arg-type]


def test_unit_rows() -> None:
    vectors = WordVectors(("a", "b"), np.array([[3, 4], [0, 0]], dtype=np.float32))
    assert np.allclose(vectors.unit(), [[0.6, 0.8], [0, 0]])
    assert vectors.matrix[0, 0] == 3  # a copy


def test_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="twice"):
        WordVectors(("a", "a"), np.ones((2, 2), dtype=np.float32))
    with pytest.raises(ValueError, match="3 words"):
        WordVectors(("a", "b", "c"), np.ones((2, 2), dtype=np.float32))
    with pytest.raises(ValueError, match="dimensions"):
        WordVectors(("a",), np.ones((1, 2), dtype=np.float32), make())
