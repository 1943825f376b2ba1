"""Vectors of many words lie in a file, and not in memory, from the file they are read from to the one they go to."""

import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from groundling.words import Subwords, WordVectors, blocks, fasttext_bin, storage, vec, vectors

WORDS, DIMENSIONS = 2000, 1000  # 8 MB
MEGABYTE = 2**20


@pytest.fixture
def many(tmp_path: Path, own_cache: Path) -> Path:
    """The same vectors as .bin and as .vec, words in capitals; eight pieces."""
    draw = np.random.default_rng(0)
    matrix, table = (draw.standard_normal((rows, DIMENSIONS)).astype(np.float32) for rows in (WORDS, 8))
    made = WordVectors(tuple(f"W{number}" for number in range(WORDS)), matrix, Subwords(table, 3, 3, 8))
    for name in ("words.bin", "words.vec"):
        storage.write(tmp_path / name, made)
    return tmp_path


@pytest.fixture
def little_is_held(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (fasttext_bin, vec, vectors):
        monkeypatch.setattr(module, "HELD_UP_TO", MEGABYTE)
    for module in (fasttext_bin, blocks):
        monkeypatch.setattr(module, "BLOCK", 64)  # rows
    monkeypatch.setattr(vec, "_BLOCK_BYTES", MEGABYTE // 8)


def converted(folder: Path, name: str, ending: str) -> Path:
    """As `words convert --fold-case` does it."""
    out = folder / f"out{ending}"
    storage.write(out, storage.read(folder / name)[0].folded(str.lower))
    return out


def most_held(work: Callable[[], object]) -> int:
    work()  # modules that are loaded when they are needed take memory, too
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


ROUTES = [("words.bin", ".safetensors"), ("words.bin", ".bin"), ("words.bin", ".vec"), ("words.vec", ".safetensors")]


@pytest.mark.parametrize(("name", "ending"), ROUTES)
def test_what_lies_in_a_file_is_written_as_what_is_held(
    many: Path, name: str, ending: str, request: pytest.FixtureRequest
) -> None:
    held = converted(many, name, ending).read_bytes()
    request.getfixturevalue("little_is_held")
    assert isinstance(storage.read(many / name)[0].matrix, np.memmap)
    assert converted(many, name, ending).read_bytes() == held


@pytest.mark.parametrize(("name", "ending"), ROUTES)
def test_converting_holds_blocks_alone(many: Path, little_is_held: None, name: str, ending: str) -> None:
    assert most_held(lambda: converted(many, name, ending)) < 5 * MEGABYTE  # where the vectors are 8


def test_rows_that_are_changed_as_they_are_written_are_held_in_blocks_alone(many: Path, little_is_held: None) -> None:
    """As `words reduce` writes a .safetensors file."""
    words, _ = storage.read(many / "words.bin")
    assert most_held(lambda: storage.write(many / "out.safetensors", words, change=np.negative)) < 5 * MEGABYTE
    assert most_held(lambda: words.changed(np.negative)) > 8 * MEGABYTE
