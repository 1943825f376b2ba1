"""RAW files: told from other TIFF files, shown as the camera showed them or developed, in a worker process."""

import builtins
import io
from typing import Any

import numpy as np
import pytest
import raw_files
from PIL import Image

from groundling.decoding.opening import COLLECTION, open_picture, taken, upright_image
from groundling.decoding.raw import is_raw
from groundling.decoding.structure import PictureError, TooManyPixels
from groundling.decoding.workers import DecodeLimits, Workers
from groundling.vision.preprocessing import Upright

RED, GREEN = (200, 40, 30), (20, 160, 40)


def saved(kind: str, size: tuple[int, int] = (800, 600)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size, GREEN).save(buffer, kind)
    return buffer.getvalue()


def test_raw_files_are_told_from_others_by_their_bytes() -> None:
    for data in (raw_files.dng(RED), raw_files.dng(RED, inside=saved("JPEG")), b"IIU\0....", b"....ftypcrx ...."):
        assert is_raw(data)
    for data in (saved("TIFF"), saved("JPEG"), saved("BMP"), b"", b"II*\0", b"II*\0\xff\xff\xff\x7f"):
        assert not is_raw(data)
    loop = bytearray(saved("TIFF"))
    loop[-4:] = loop[4:8]  # a chain of directories that leads back to its beginning
    assert not is_raw(bytes(loop))


def test_what_the_camera_shows_is_taken_and_turned_as_it_was_held() -> None:
    pytest.importorskip("rawpy")
    data = raw_files.dng(RED, (1640, 1480), saved("JPEG"), turned=6)
    with open_picture(data) as image:
        assert (image.format, image.size, taken(image)) == ("RAW", (800, 600), "2021-05-06T07:08:09")
        assert np.abs(np.subtract(image.getpixel((9, 9)), GREEN)).max() < 4
    with upright_image(data, 100) as upright:
        assert upright.size == (600, 800)


def test_without_one_or_with_one_that_is_too_small_it_is_developed() -> None:
    pytest.importorskip("rawpy")
    for inside in (b"", saved("JPEG", (160, 120))):
        with open_picture(raw_files.dng(RED, (1280, 960), inside)) as image:
            red, green, blue = image.getpixel((9, 9))
            assert image.size == (640, 480)
            assert red > 180 > 80 > max(green, blue)
    with pytest.raises(TooManyPixels, match="1280 × 960"):
        open_picture(raw_files.dng(RED, (1280, 960)), most=1_000_000)
    with pytest.raises(PictureError, match="not a readable RAW picture"):
        open_picture(raw_files.dng(RED)[:400])


def test_workers_develop_them_within_their_limits() -> None:
    pytest.importorskip("rawpy")
    workers = Workers(DecodeLimits(COLLECTION), count=1)
    try:
        data = raw_files.dng(RED, (640, 480), saved("JPEG"))
        found = workers.decode(data, Upright(64))
        assert (found.format, found.size, found.taken) == ("RAW", (800, 600), "2021-05-06T07:08:09")
        np.testing.assert_array_equal(found.array, Upright(64)(data))
    finally:
        workers.close()


def test_without_rawpy_a_sentence_says_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "rawpy":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(PictureError, match=r"needs rawpy: pip install 'groundling\[raw\]'"):
        open_picture(raw_files.dng(RED))
