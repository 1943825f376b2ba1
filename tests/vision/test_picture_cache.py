"""Decoded pictures: what is kept, found again, decoded anew, refused."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pictures import write_pictures
from PIL import Image

from groundling.errors import UserError
from groundling.vision import decoding, picture_cache
from groundling.vision.picture_cache import decode_pictures, pictures_folder


def test_pictures_have_the_wanted_short_side_and_keep_their_shape(tmp_path: Path) -> None:
    paths = write_pictures(tmp_path / "photos", [(60, 80), (90, 45), (20, 30), (20, 200)])
    pictures = decode_pictures(paths, side=30, folder=tmp_path / "cache")
    assert pictures.sizes.tolist() == [[30, 40], [60, 30], [20, 30], [20, 60]]  # never larger, at most 3 : 1
    whole = np.asarray(Image.open(paths[0]).resize((40, 30), Image.Resampling.BICUBIC))
    np.testing.assert_array_equal(pictures[0], whole)
    np.testing.assert_array_equal(pictures[2], np.asarray(Image.open(paths[2])))
    middle = np.asarray(Image.open(paths[3]).crop((70, 0, 130, 20)))
    np.testing.assert_array_equal(pictures[3], middle)
    assert pictures.pixels == 30 * 40 + 60 * 30 + 20 * 30 + 20 * 60


def test_what_was_decoded_is_not_decoded_again_whatever_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = write_pictures(tmp_path / "photos", [(40, 50), (50, 40)])
    before = decode_pictures(paths, side=30, folder=tmp_path / "cache")
    moved = tmp_path / "other.png"
    paths[1].rename(moved)
    twin = tmp_path / "twin.png"
    twin.write_bytes(paths[0].read_bytes())
    monkeypatch.setattr(decoding, "shared", None)  # would be an error if it were asked
    after = decode_pictures([moved, twin, paths[0]], side=30, folder=tmp_path / "cache")
    for row, old in enumerate([1, 0, 0]):
        np.testing.assert_array_equal(after[row], before[old])
    chosen = after.choose(np.array([False, False, True]))
    assert len(chosen) == 1
    np.testing.assert_array_equal(chosen[0], before[0])


def test_a_killed_process_loses_one_shard_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = write_pictures(tmp_path / "photos", [(30, 30)] * 10)
    monkeypatch.setattr(picture_cache, "SHARD", 3 * 30 * 30 * 3)  # three pictures
    decoded: list[int] = []

    class Here:
        count = 10  # each file is a portion

        def __init__(self, dies_at: int = 0) -> None:
            self.dies_at = dies_at

        def files(self, files: list[tuple[Path, bytes]], work: Callable[[bytes], Any]) -> Iterator[Any]:
            for path, _ in files:
                decoded.append(1)
                if len(decoded) == self.dies_at:
                    raise KeyboardInterrupt
                yield work(path.read_bytes())

    # A kill leaves no time to write what is in hand.
    monkeypatch.setattr(decoding, "shared", lambda: Here(dies_at=8))
    monkeypatch.setattr(picture_cache._Shard, "__exit__", lambda *_: None)
    with pytest.raises(KeyboardInterrupt):
        decode_pictures(paths, side=30, threads=1, folder=tmp_path / "cache")
    monkeypatch.undo()
    kept = len(list(pictures_folder(30, tmp_path / "cache").glob("*.safetensors")))
    assert 1 <= kept <= 2
    decoded.clear()
    monkeypatch.setattr(decoding, "shared", Here)
    pictures = decode_pictures(paths, side=30, folder=tmp_path / "cache")
    assert len(decoded) == 10 - 3 * kept
    for row, path in enumerate(paths):
        np.testing.assert_array_equal(pictures[row], np.asarray(Image.open(path)))


@pytest.mark.parametrize("damage", ["cut", "index", "gone"])
def test_a_damaged_shard_is_decoded_again(tmp_path: Path, damage: str) -> None:
    paths = write_pictures(tmp_path / "photos", [(30, 40)] * 2)
    decode_pictures(paths, side=30, folder=tmp_path / "cache")
    index = next(pictures_folder(30, tmp_path / "cache").glob("*.safetensors"))
    if damage == "cut":
        pixels = index.with_suffix(".npy")
        pixels.write_bytes(pixels.read_bytes()[:-100])
    elif damage == "index":
        index.write_bytes(b"nothing")
    else:
        index.with_suffix(".npy").unlink()
    with pytest.warns(UserWarning, match="decoded again"):
        pictures = decode_pictures(paths, side=30, folder=tmp_path / "cache")
    np.testing.assert_array_equal(pictures[1], np.asarray(Image.open(paths[1])))


def test_unreadable_files_are_listed_or_refused(tmp_path: Path) -> None:
    paths = write_pictures(tmp_path / "photos", [(30, 40)])
    broken = tmp_path / "broken.png"
    broken.write_bytes(paths[0].read_bytes()[:200])
    missing = tmp_path / "missing.png"
    pictures = decode_pictures([broken, paths[0], missing], side=30, folder=tmp_path / "cache")
    assert [row for row, _ in pictures.failed] == [0, 2]
    assert pictures.sizes.tolist() == [[0, 0], [30, 40], [0, 0]]
    assert pictures[0].shape == (0, 0, 3)
    with pytest.raises(UserError, match=r"broken\.png: not a readable picture"):
        decode_pictures([broken], side=30, folder=tmp_path / "cache", strict=True)
