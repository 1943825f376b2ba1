import os
import shutil
import signal
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

from groundling.errors import UserError
from groundling.vision import cache, shards
from groundling.vision.backbones import Backbone
from groundling.vision.cache import extract, features_folder
from groundling.vision.preprocessing import Pixels, Preprocessing

CUT = Preprocessing(8, 8)


class Counting:
    """A network that remembers how many pictures it saw, and can kill its own process on the way."""

    def __init__(self, die_after: int | None = None) -> None:
        self.seen, self.die_after = 0, die_after

    def __call__(self, x: Tensor) -> Tensor:
        self.seen += len(x)
        if self.die_after is not None and self.seen > self.die_after:
            os.kill(os.getpid(), signal.SIGKILL)
        return torch.cat([x.mean((2, 3)), x[..., 0].amax(2)], dim=1)


def tiny(die_after: int | None = None) -> tuple[Backbone, Counting]:
    network = Counting(die_after)
    return Backbone("tiny", 6, 8, network), network


def draw_pictures(folder: Path, count: int) -> list[Path]:
    folder.mkdir(exist_ok=True)
    draw = np.random.default_rng(0)
    paths = [folder / f"{number:03}.png" for number in range(count)]
    for path in paths:
        Image.fromarray(draw.integers(0, 256, (10, 12, 3), dtype=np.uint8)).save(path)
    return paths


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    return draw_pictures(tmp_path / "pictures", 20)


def one_by_one(paths: list[Path]) -> np.ndarray:
    """What extraction should give, without batches, threads or a cache."""
    backbone, _ = tiny()
    rows = [torch.from_numpy(CUT.pixels(path.read_bytes()).copy()).permute(2, 0, 1)[None] for path in paths]
    return np.concatenate([backbone.encode(row).numpy() for row in rows])


def test_first_computed_then_found(paths: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "SHARD", 8)
    backbone, network = tiny()
    first = extract(paths, backbone, CUT, batch=3, folder=tmp_path / "cache")
    np.testing.assert_allclose(first.vectors, one_by_one(paths), atol=1e-5)
    assert (network.seen, first.failed) == (20, [])
    again = extract(paths[::-1], backbone, CUT, folder=tmp_path / "cache")
    assert network.seen == 20
    np.testing.assert_array_equal(again.vectors, first.vectors[::-1])
    assert again.vectors.dtype == np.float32


def test_features_are_those_of_pixels_decoded_here_to_the_last_bit(paths: list[Path], tmp_path: Path) -> None:
    backbone, _ = tiny()
    pixels = [CUT.pixels(path.read_bytes()) for path in paths]
    expected = [cache.encode_pixels(backbone, pixels[start : start + 6], CUT) for start in range(0, 20, 6)]
    found = extract(paths, backbone, CUT, batch=6, folder=tmp_path / "cache").vectors
    assert found.tobytes() == np.concatenate(expected).tobytes()


def test_default_place_and_preprocessing(paths: list[Path], own_cache: Path) -> None:
    backbone, network = tiny()
    extract(paths, backbone)
    assert len(list((own_cache / "features").glob("tiny-8-????????/*.safetensors"))) == 1
    extract(paths, backbone, Preprocessing(8))
    assert network.seen == 20
    shutil.rmtree(own_cache)
    extract(paths, backbone)
    assert network.seen == 40


@pytest.mark.parametrize("batch", [1, 7, 64])
def test_batch_and_order_do_not_matter(paths: list[Path], tmp_path: Path, batch: int) -> None:
    order = np.random.default_rng(batch).permutation(20)
    found = extract([paths[row] for row in order], tiny()[0], CUT, batch=batch, threads=3, folder=tmp_path / "cache")
    np.testing.assert_allclose(found.vectors, one_by_one(paths)[order], atol=1e-5)


def test_content_counts_not_names(paths: list[Path], tmp_path: Path) -> None:
    backbone, network = tiny()
    copy = tmp_path / "copy.png"
    copy.write_bytes(paths[3].read_bytes())
    both = extract([*paths, copy], backbone, CUT, folder=tmp_path / "cache")
    assert network.seen == 20
    np.testing.assert_array_equal(both.vectors[20], both.vectors[3])

    renamed = paths[0].rename(tmp_path / "renamed.png")
    assert np.array_equal(extract([renamed], backbone, CUT, folder=tmp_path / "cache").vectors[0], both.vectors[0])
    assert network.seen == 20

    paths[5].write_bytes(paths[6].read_bytes())  # the same name, another picture
    changed = extract([paths[5]], backbone, CUT, folder=tmp_path / "cache")
    np.testing.assert_array_equal(changed.vectors[0], both.vectors[6])
    Image.new("RGB", (9, 9), "orange").save(paths[5])
    extract(paths[5:], backbone, CUT, folder=tmp_path / "cache")
    assert network.seen == 21


def test_other_settings_other_folder(tmp_path: Path) -> None:
    base, _ = tiny()
    places = {
        features_folder(base, CUT, tmp_path),
        features_folder(base, Preprocessing(8, 9), tmp_path),
        features_folder(base, Preprocessing(8, 8, mirror=True), tmp_path),
        features_folder(Backbone("small", 6, 8, base.network), CUT, tmp_path),
        features_folder(Backbone("tiny", 6, 8, base.network, mean=(0.5, 0.5, 0.5)), CUT, tmp_path),
    }
    assert len(places) == 5
    assert features_folder(tiny()[0], Preprocessing(8, 8), tmp_path) in places


def test_mirrored_features_are_kept_apart(paths: list[Path], tmp_path: Path) -> None:
    backbone, network = tiny()
    plain = extract(paths, backbone, CUT, folder=tmp_path).vectors
    mirrored = extract(paths, backbone, Preprocessing(8, 8, mirror=True), folder=tmp_path).vectors
    assert network.seen == 20 + 2 * 20
    assert np.abs(plain - mirrored).max() > 0.01
    np.testing.assert_array_equal(extract(paths, backbone, CUT, folder=tmp_path).vectors, plain)


@pytest.mark.parametrize("damage", ["cut short", "one bit", "empty", "other shape"])
def test_a_damaged_shard_is_reported_and_computed_again(
    paths: list[Path], tmp_path: Path, damage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "SHARD", 5)
    backbone, network = tiny()
    right = extract(paths, backbone, CUT, batch=5, folder=tmp_path).vectors
    shard = sorted(features_folder(backbone, CUT, tmp_path).glob("*.safetensors"))[1]
    data = bytearray(shard.read_bytes())
    if damage == "cut short":
        del data[-7:]
    elif damage == "one bit":
        data[-100] ^= 4
    elif damage == "empty":
        data.clear()
    else:
        data = bytearray(shards.write(tmp_path / "other", [bytes(32)], np.ones((1, 3), np.float32)).read_bytes())
    shard.write_bytes(data)
    with pytest.warns(UserWarning, match=f"{shard.name}: damaged"):
        again = extract(paths, backbone, CUT, folder=tmp_path)
    assert network.seen == 20 + 5
    np.testing.assert_array_equal(again.vectors, right)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # reported once is enough
        extract(paths, backbone, CUT, folder=tmp_path)
    assert network.seen == 20 + 5


def test_unreadable_pictures_are_listed_and_skipped(paths: list[Path], tmp_path: Path) -> None:
    whole = one_by_one(paths)
    Image.effect_noise((64, 64), 90).save(tmp_path / "cut.jpg")
    cut = (tmp_path / "cut.jpg").read_bytes()
    paths[2].write_bytes(cut[: len(cut) // 2])
    paths[4].write_text("no picture")
    paths[7].unlink()
    paths[9].write_bytes(paths[2].read_bytes())
    backbone, network = tiny()
    found = extract(paths, backbone, CUT, batch=4, folder=tmp_path / "cache")
    assert [row for row, _ in found.failed] == [2, 4, 7, 9]
    reasons = dict(found.failed)
    assert "truncated" in reasons[2]
    assert reasons[4] == "not a picture of a known format"
    assert reasons[7] == "No such file or directory"
    assert reasons[9] == reasons[2]
    good = [row for row in range(20) if row not in reasons]
    np.testing.assert_allclose(found.vectors[good], whole[good], atol=1e-5)
    assert not found.vectors[[2, 4, 7, 9]].any()
    assert network.seen == 16

    with pytest.raises(UserError, match=r"007\.png: No such file or directory; "):
        extract(paths, backbone, CUT, folder=tmp_path / "cache", strict=True)
    with pytest.raises(UserError, match=r"002\.png: not a readable picture \(.*\) \(and 2 more pictures"):
        extract([path for path in paths if path.exists()], backbone, CUT, folder=tmp_path / "cache", strict=True)
    assert network.seen == 16


def test_no_pictures_at_all(tmp_path: Path) -> None:
    found = extract([], tiny()[0], CUT, folder=tmp_path)
    assert (found.vectors.shape, found.failed) == ((0, 6), [])


def test_an_error_in_the_network_keeps_what_was_done(paths: list[Path], tmp_path: Path) -> None:
    def broken(x: Tensor) -> Tensor:
        if network.seen >= 8:
            raise KeyboardInterrupt
        return network(x)

    backbone, network = tiny()
    with pytest.raises(KeyboardInterrupt):
        extract(paths, Backbone("tiny", 6, 8, broken), CUT, batch=4, folder=tmp_path)
    extract(paths, backbone, CUT, batch=4, folder=tmp_path)
    assert network.seen == 20


def test_a_cache_that_cannot_be_written_is_the_user_s_to_mend(paths: list[Path], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match=r"cannot keep features here .*GROUNDLING_CACHE"):
        extract(paths, tiny()[0], CUT, folder=tmp_path / "file")


CHILD = """
import sys
import threading
import warnings
from pathlib import Path
sys.path.insert(0, {tests!r})
import test_feature_cache as t
t.cache.SHARD = 8
backbone, _ = t.tiny(die_after={die_after})
paths = sorted(Path({pictures!r}).glob("*.png"))
t.extract(paths, backbone, t.CUT, batch=4, folder=Path({folder!r}))
"""


def child(pictures: Path, folder: Path, die_after: int | None) -> "subprocess.Popen[bytes]":
    values = {"tests": str(Path(__file__).parent), "pictures": str(pictures), "folder": str(folder)}
    code = CHILD.format(**values, die_after=die_after)
    return subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "OMP_NUM_THREADS": "1"})


def test_killed_in_the_middle_it_carries_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "SHARD", 8)
    paths = draw_pictures(tmp_path / "pictures", 60)
    killed = child(tmp_path / "pictures", tmp_path / "cache", die_after=44)
    assert killed.wait(timeout=60) == -signal.SIGKILL
    backbone, network = tiny()
    resumed = extract(paths, backbone, CUT, batch=4, folder=tmp_path / "cache")
    left = 60 - 44
    assert left <= network.seen <= left + 2 * cache.SHARD  # the shard in hand, and the one that was being written
    uninterrupted = extract(paths, tiny()[0], CUT, batch=4, folder=tmp_path / "other")
    np.testing.assert_array_equal(resumed.vectors, uninterrupted.vectors)


def test_two_processes_fill_one_cache(tmp_path: Path) -> None:
    paths = draw_pictures(tmp_path / "pictures", 60)
    children = [child(tmp_path / "pictures", tmp_path / "cache", None) for _ in range(2)]
    assert [process.wait(timeout=60) for process in children] == [0, 0]
    backbone, network = tiny()
    found = extract(paths, backbone, CUT, folder=tmp_path / "cache")
    assert network.seen == 0
    np.testing.assert_allclose(found.vectors, one_by_one(paths), atol=1e-5)
    assert not list((tmp_path / "cache").rglob("*.part"))


def test_the_network_goes_on_while_a_shard_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    goes_on, write = threading.Event(), shards.write

    def slow(folder: Path, keys: list[bytes], features: shards.Vectors) -> Path:
        assert goes_on.wait(30), "nothing was encoded while the first shard was being written"
        return write(folder, keys, features)

    def encode(pixels: list[Pixels]) -> shards.Vectors:
        if pixels[0][0, 0, 0] == 2:  # of the second shard
            goes_on.set()
        return np.stack([picture.mean((0, 1)) for picture in pixels]).astype(np.float32)

    monkeypatch.setattr(shards, "write", slow)
    monkeypatch.setattr(cache, "SHARD", 2)
    pictures = [(bytes([row]) * 32, np.full((8, 8, 3), row, dtype=np.uint8)) for row in range(5)]
    for _ in cache.encoded(iter(pictures), cache.one_by_one(encode), 1, tmp_path):
        pass
    kept = {key: vector for keys, some in shards.read_all(tmp_path, 3) for key, vector in zip(keys, some, strict=True)}
    assert {key[0]: vector[0] for key, vector in kept.items()} == {row: row for row in range(5)}


def test_some_shards_may_wait_for_a_busy_disk_and_none_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    free, write = threading.Event(), shards.write

    def busy(folder: Path, keys: list[bytes], features: shards.Vectors) -> Path:
        assert free.wait(30), "whoever adds features waited for the disk"
        return write(folder, keys, features)

    monkeypatch.setattr(shards, "write", busy)
    with cache.ShardWriter(tmp_path, size=2, waiting=3) as writer:
        for row in range(6):  # three shards
            writer.add([bytes([row]) * 32], np.full((1, 3), row, dtype=np.float32))
        free.set()
        for row in range(6, 11):
            writer.add([bytes([row]) * 32], np.full((1, 3), row, dtype=np.float32))
            assert len(writer.writing) <= 3
    kept = {
        key[0]: vector[0] for keys, some in shards.read_all(tmp_path, 3) for key, vector in zip(keys, some, strict=True)
    }
    assert kept == {row: row for row in range(11)}


def test_a_disk_that_fails_is_told_however_many_shards_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shards, "write", full)
    with (
        pytest.raises(UserError, match=r"cannot keep features here \(No space left"),
        cache.ShardWriter(tmp_path, size=1, waiting=3) as writer,
    ):
        writer.add([bytes(32)], np.zeros((1, 3), dtype=np.float32))
