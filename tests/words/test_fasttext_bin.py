"""FastText's binary format: a tiny writer from its description, damaged files, and gensim's own writer."""

import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundling.errors import UserError
from groundling.words import Subwords, WordVectors, fasttext_bin
from groundling.words.fasttext_bin import read_bin, write_bin
from groundling.words.subwords import piece_hashes

DIMENSIONS = 3


def model(
    words: list[bytes],
    matrix: np.ndarray,
    buckets: int = 7,
    shortest: int = 2,
    longest: int = 3,
    labels: int = 0,
    quantised: int = 0,
    version: int = 12,
    kind: int = 2,
    rows: int | None = None,
    pruned: int = -1,
) -> bytes:
    args = [matrix.shape[1], 5, 5, 1, 5, 1, 1, kind, buckets, shortest, longest, 100]
    data = struct.pack("<2i", 793712314, version) + struct.pack("<12id", *args, 1e-4)
    data += struct.pack("<3i2q", len(words) + labels, len(words), labels, 1000, pruned)
    for place, word in enumerate(words + [b"__label__x"] * labels):
        data += word + b"\0" + struct.pack("<qb", 100 - place, place >= len(words))
    data += struct.pack("<b2q", quantised, len(matrix) if rows is None else rows, matrix.shape[1])
    return data + matrix.astype("<f4").tobytes() + b"the output matrix"


def table(words: int, buckets: int = 7) -> np.ndarray:
    return np.random.default_rng(1).standard_normal((words + buckets, DIMENSIONS)).astype(np.float32)


WORDS = ["</s>", "hund", "blå", "狗"]
RAW = [word.encode() for word in WORDS]


def written(folder: Path, data: bytes) -> Path:
    path = folder / "model.bin"
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("labels", [0, 2])
def test_words_are_means_of_their_row_and_their_pieces(tmp_path: Path, labels: int) -> None:
    matrix = table(len(WORDS))
    vectors, problems = read_bin(written(tmp_path, model(RAW, matrix, labels=labels)))
    assert vectors.words == tuple(WORDS)
    for row, word in enumerate(WORDS):
        pieces = [len(WORDS) + value % 7 for value in piece_hashes(word, 2, 3)]
        assert np.allclose(vectors.matrix[row], matrix[[row, *pieces]].mean(axis=0), atol=1e-6)
    assert np.array_equal(vectors.matrix[0], matrix[0])  # </s> has no pieces
    new = [len(WORDS) + value % 7 for value in piece_hashes("katze", 2, 3)]
    assert np.allclose(vectors.vector("katze"), matrix[new].mean(axis=0), atol=1e-6)  # type: ignore[arg-type]
    assert problems.total == 0


def test_the_first_words_only_and_models_without_pieces(tmp_path: Path) -> None:
    vectors, _ = read_bin(written(tmp_path, model(RAW, table(4))), max_words=2)
    assert vectors.words == ("</s>", "hund")
    assert vectors.vector("blå") is not None  # from its pieces
    plain = table(4, buckets=0)
    for options in ({"buckets": 0, "longest": 0}, {"buckets": 0, "version": 11, "kind": 3}):
        vectors, _ = read_bin(written(tmp_path, model(RAW, plain, **options)))  # type: ignore[arg-type]
        assert vectors.subwords is None
        assert np.array_equal(vectors.matrix, plain)


def test_words_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    matrix = table(4, 0)
    matrix[2] = np.nan
    words = [b"a", b"\xff", b"nan", b"a"]
    vectors, problems = read_bin(written(tmp_path, model(words, matrix, buckets=0, longest=0)))
    assert vectors.words == ("a",)
    assert problems.counts == {"not UTF-8": 1, "not finite": 1, "duplicate word": 1}


MISTAKES = {
    "empty": (b"", "is empty"),
    "magic": (b"\0" * 100, "not a fastText model"),
    "version": (model(RAW, table(4), version=9), "not a fastText model"),
    "quantised": (model(RAW, table(4), quantised=1), "quantised"),
    "pruned": (model(RAW, table(4), pruned=3), "pruned"),
    "rows": (model(RAW, table(4), rows=10**12), "does not fit its 4 words"),
    "buckets": (model(RAW, table(4), rows=2**30, buckets=2**31 - 1), "ends too early"),
    "cut": (model(RAW, table(4))[:-40], "ends too early"),
    "cut in words": (model(RAW, table(4))[:95], "ends too early"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_files_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    data, sentence = MISTAKES[name]
    with pytest.raises(UserError, match=sentence):
        read_bin(written(tmp_path, data))


GOOD = model(RAW, table(4))


@given(st.integers(0, len(GOOD) - 1), st.binary(min_size=1, max_size=8), st.integers(0, len(GOOD)))
def test_damage_never_crashes(tmp_path_factory: pytest.TempPathFactory, at: int, noise: bytes, length: int) -> None:
    data = (GOOD[:at] + noise + GOOD[at + len(noise) :])[: max(length, 1)]
    path = written(tmp_path_factory.mktemp("bin"), data)
    try:
        vectors, _ = read_bin(path)
    except UserError:
        return
    assert np.isfinite(vectors.matrix).all()


def test_against_gensim(tmp_path: Path) -> None:
    gensim = pytest.importorskip("gensim.models.fasttext")
    captions = [["der", "hund", "läuft"], ["die", "katze", "schläft"], ["狗", "läuft"]] * 20
    ours = gensim.FastText(captions, vector_size=8, min_count=1, bucket=100, min_n=2, max_n=4, seed=1, workers=1)
    path = tmp_path / "gensim.bin"
    gensim.save_facebook_model(ours, str(path))
    vectors, problems = read_bin(path)
    theirs = gensim.load_facebook_vectors(str(path))
    assert set(vectors.words) == set(theirs.index_to_key)
    for word in (*vectors.words, "hündin", "猫", "schlafen"):
        assert np.allclose(vectors.vector(word), theirs[word], atol=1e-6), word  # type: ignore[arg-type]
    assert problems.total == 0


@pytest.mark.parametrize("kept", [None, [0, 2, 3, 6]])
@pytest.mark.parametrize("block", [2, 100])
def test_written_and_read_again(
    tmp_path: Path, kept: list[int] | None, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fasttext_bin, "BLOCK", block)
    draw = np.random.default_rng(2)
    rows = draw.standard_normal((7 if kept is None else len(kept), DIMENSIONS)).astype(np.float32)
    numbers = None if kept is None else np.array(kept)
    matrix = draw.standard_normal((len(WORDS), DIMENSIONS)).astype(np.float32)
    path = tmp_path / "model.bin"
    write_bin(path, WordVectors(tuple(WORDS), matrix, Subwords(rows, 2, 3, 7, numbers)))
    vectors, problems = read_bin(path)
    assert (vectors.words, problems.total) == (tuple(WORDS), 0)
    assert np.allclose(vectors.matrix, matrix, atol=1e-5)
    assert vectors.subwords is not None
    assert np.array_equal(vectors.subwords.table[list(range(7)) if kept is None else kept], rows)
    write_bin(path, WordVectors(tuple(WORDS), matrix))
    plain = read_bin(path)[0]
    assert plain.subwords is None and np.array_equal(plain.matrix, matrix)
    with pytest.raises(UserError, match=r"cannot stand in a \.bin file"):
        write_bin(path, WordVectors(("ice cream",), matrix[:1]))


def test_gensim_reads_what_is_written(tmp_path: Path) -> None:
    gensim = pytest.importorskip("gensim.models.fasttext")
    draw = np.random.default_rng(3)
    table, matrix = (draw.standard_normal((n, 8)).astype(np.float32) for n in (100, 3))
    vectors = WordVectors(("hund", "läuft", "狗"), matrix, Subwords(table, 2, 4, 100))
    write_bin(tmp_path / "ours.bin", vectors)
    theirs = gensim.load_facebook_vectors(str(tmp_path / "ours.bin"))
    for word in (*vectors.words, "hündin"):
        assert np.allclose(vectors.vector(word), theirs[word], atol=1e-4), word  # type: ignore[arg-type]
