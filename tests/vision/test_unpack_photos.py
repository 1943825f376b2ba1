"""Photos packed into arrays become files again, under their names."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest


@pytest.fixture(scope="module")
def script() -> ModuleType:
    path = Path(__file__).parents[2] / "scripts" / "unpack_photos.py"
    spec = importlib.util.spec_from_file_location("unpack_photos", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pack(folder: Path, parts: list[list[bytes]]) -> None:
    folder.mkdir()
    for number, photos in enumerate(parts):
        np.save(folder / f"part{number}.npy", np.frombuffer(b"".join(photos), np.uint8))
        np.save(folder / f"len{number}.npy", np.array([len(photo) for photo in photos], np.int64))


def test_every_photo_under_its_name(script: ModuleType, tmp_path: Path) -> None:
    pack(tmp_path / "packed", [[b"one", b"three"], [b"seven!!"]])
    names = ["a.jpg", "b.jpg", "c.jpg"]
    assert script.unpack(tmp_path / "packed", names, tmp_path / "photos") == 3
    assert [(tmp_path / "photos" / name).read_bytes() for name in names] == [b"one", b"three", b"seven!!"]
    (tmp_path / "photos" / "b.jpg").write_bytes(b"cut")  # a copy that was broken off is written again
    script.unpack(tmp_path / "packed", names, tmp_path / "photos")
    assert (tmp_path / "photos" / "b.jpg").read_bytes() == b"three"


@pytest.mark.parametrize("names", [["a.jpg"], ["a.jpg", "b.jpg", "c.jpg"]])
def test_names_must_be_as_many(script: ModuleType, tmp_path: Path, names: list[str]) -> None:
    pack(tmp_path / "packed", [[b"one", b"two"]])
    with pytest.raises(SystemExit, match="names"):
        script.unpack(tmp_path / "packed", names, tmp_path / "photos")
