"""What no camera writes is refused by its structure, in a moment; what people have is not."""

import io
import time
from collections.abc import Callable

import bombs
import pytest
from PIL import Image, PngImagePlugin

from groundling.decoding.structure import PictureError, TooManyPixels, check_structure

BOMBS: dict[str, Callable[[], bytes]] = {
    "exif segments": bombs.exif_segments,
    "comments": bombs.comments,
    "fill": bombs.fill,
    "scans": lambda: bombs.scans(1000),
    "scans of a large picture": lambda: bombs.scans(60, 8000, 6000),
    "empty chunks": bombs.empty_chunks,
    "blocks of a gif": bombs.gif_blocks,
}


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_at_once(name: str) -> None:
    data = BOMBS[name]()
    started = time.process_time()
    with pytest.raises(PictureError, match="not a readable picture"):
        check_structure(data)
    assert time.process_time() - started < 1


def test_a_head_that_promises_more_than_the_bytes_can_hold() -> None:
    for data in (bombs.png(1, 50_000_000, rows=1000), bombs.png(13_300, 13_300, rows=10)):
        with pytest.raises(TooManyPixels, match="more than the bytes"):
            check_structure(data)
    whole = bombs.photograph()
    place = whole.index(b"\xff\xc0") + 5
    with pytest.raises(TooManyPixels, match="65535 × 65535"):
        check_structure(whole[:place] + b"\xff\xff\xff\xff" + whole[place + 4 :])


def test_pictures_of_people_are_let_through() -> None:
    exif = Image.Exif()
    exif[0x010E] = "x" * 60_000
    text = PngImagePlugin.PngInfo()
    for number in range(50):
        text.add_text(f"key {number}", "words", zip=True)
    profile = bytes(300_000)  # a colour profile of several segments
    for data in (
        bombs.photograph(),
        bombs.photograph(kind="PNG", pnginfo=text),
        bombs.photograph(kind="GIF", comment=b"x" * 5000),
        bombs.photograph(kind="WEBP"),
        bombs.photograph(progressive=True, exif=exif, icc_profile=profile),
        bombs.photograph(4000, 3000, quality=5),
        bombs.png(2000, 2000),  # one colour: deflated as far as can be
        bombs.scans(3),
    ):
        check_structure(data)
        Image.open(io.BytesIO(data)).load()


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF"])
def test_what_is_cut_short_is_left_to_the_decoder(kind: str) -> None:
    whole = bombs.photograph(kind=kind)
    for end in range(2, len(whole), 7):
        check_structure(whole[:end])
