import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from groundling.decoding.structure import PictureError
from groundling.errors import UserError
from groundling.vision.preprocessing import Preprocessing


def encoded(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    file = io.BytesIO()
    image.save(file, kind, **options)
    return file.getvalue()


def smooth(width: int, height: int) -> Image.Image:
    """A picture whose colours say where in it one is: red grows to the right, green downwards."""
    x, y = np.meshgrid(np.linspace(0, 255, width), np.linspace(0, 255, height))
    return Image.fromarray(np.stack([x, y, 255 - (x + y) / 2], axis=-1).astype(np.uint8))


def resize_then_crop(image: Image.Image, size: int, resize: int) -> np.ndarray:
    """The obvious twin: scale the whole picture, then cut out the centre."""
    width, height = (max(resize, int(side * resize / min(image.size))) for side in image.size)
    left, top = round((width - size) / 2), round((height - size) / 2)
    scaled = image.resize((width, height), Image.Resampling.BICUBIC)
    return np.asarray(scaled.crop((left, top, left + size, top + size)))


@settings(deadline=None, max_examples=40)
@given(width=st.integers(2, 90), height=st.integers(2, 90), size=st.integers(4, 24), border=st.integers(0, 8))
def test_one_step_cut_equals_resize_then_crop(width: int, height: int, size: int, border: int) -> None:
    image = smooth(width, height)
    pixels = Preprocessing(size, size + border).pixels(encoded(image)).astype(int)
    assert pixels.shape == (size, size, 3)
    assert np.abs(pixels - resize_then_crop(image, size, size + border)).max() <= 2


def test_default_short_side() -> None:
    assert [Preprocessing(size).resize for size in (224, 260, 128)] == [256, 297, 146]
    with pytest.raises(UserError, match=r"cannot cut 224 pixels out of .* 200"):
        Preprocessing(224, 200)


def test_the_centre_of_a_wide_picture_is_kept() -> None:
    image = Image.new("RGB", (60, 20), "red")
    image.paste("blue", (20, 0, 40, 20))
    pixels = Preprocessing(10, 10).pixels(encoded(image))
    assert (pixels[:, 1:-1] == (0, 0, 255)).all()


def test_a_very_long_picture_takes_no_more_memory_than_a_square_one() -> None:
    # Resized whole it would have 128 × 3,840,000 pixels.
    pixels = Preprocessing(128).pixels(encoded(Image.new("RGB", (30_000, 1), "green")))
    assert (pixels == (0, 128, 0)).all()


def test_transparent_parts_are_white() -> None:
    cut = Preprocessing(4, 4)
    clear = Image.new("RGBA", (4, 4), (10, 20, 30, 0))
    clear.putpixel((0, 0), (10, 20, 30, 255))
    clear.putpixel((1, 0), (0, 0, 0, 128))
    pixels = cut.pixels(encoded(clear))
    assert pixels[0, 0].tolist() == [10, 20, 30]
    assert pixels[0, 1].tolist() == [127, 127, 127]
    assert (pixels[1:] == 255).all()
    assert (cut.pixels(encoded(Image.new("LA", (4, 4), (0, 0)))) == 255).all()


def test_transparent_palette_and_transparent_colour() -> None:
    palette = Image.new("P", (4, 4), 0)
    palette.putpalette([255, 0, 0, 0, 255, 0])
    palette.putpixel((2, 2), 1)
    cut = Preprocessing(4, 4)
    assert cut.pixels(encoded(palette))[0, 0].tolist() == [255, 0, 0]
    pixels = cut.pixels(encoded(palette, transparency=0))
    assert pixels[0, 0].tolist() == [255, 255, 255]
    assert pixels[2, 2].tolist() == [0, 255, 0]
    keyed = encoded(Image.new("RGB", (4, 4), (9, 9, 9)), transparency=(9, 9, 9))
    assert (cut.pixels(keyed) == 255).all()


@pytest.mark.parametrize(
    ("mode", "kind"), [("L", "PNG"), ("L", "JPEG"), ("1", "PNG"), ("CMYK", "JPEG"), ("CMYK", "TIFF")]
)
def test_other_colour_modes_show_the_same_picture(mode: str, kind: str) -> None:
    dark_right = Image.new("RGB", (16, 16), "white")
    dark_right.paste("black", (8, 0, 16, 16))
    pixels = Preprocessing(16, 16).pixels(encoded(dark_right.convert(mode), kind)).astype(int)
    assert np.abs(pixels - np.asarray(dark_right)).max() <= 8


def test_sixteen_bit_grey_keeps_its_upper_bits() -> None:
    ramp = np.linspace(0, 65535, 64).astype(np.uint16).reshape(8, 8)
    pixels = Preprocessing(8, 8).pixels(encoded(Image.fromarray(ramp)))
    assert (pixels == (ramp >> 8)[..., None]).all()


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation_is_applied(orientation: int) -> None:
    shown = smooth(24, 16)
    undo = [None, None, 0, 3, 1, 5, 2, 6, 4]  # Transpose that turns the picture as shown into the picture as stored
    stored = shown if undo[orientation] is None else shown.transpose(Image.Transpose(undo[orientation]))
    exif = Image.Exif()
    exif[0x0112] = orientation
    cut = Preprocessing(8, 10)
    turned = cut.pixels(encoded(stored, exif=exif)).astype(int)
    assert np.abs(turned - cut.pixels(encoded(shown)).astype(int)).max() <= 2


def test_large_photographs_decoded_small_look_the_same() -> None:
    photograph = smooth(1600, 1200)
    cut = Preprocessing(64)
    exact = cut.pixels(encoded(photograph)).astype(int)
    assert np.abs(cut.pixels(encoded(photograph, "JPEG", quality=95)).astype(int) - exact).max() <= 4


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP", "TIFF"])
def test_truncated_pictures_are_errors(kind: str) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    whole = encoded(Image.fromarray(noise), kind)
    assert Preprocessing(32).pixels(whole).shape == (32, 32, 3)
    with pytest.raises(PictureError, match="not a readable picture"):
        Preprocessing(32).pixels(whole[: len(whole) * 2 // 3])


@pytest.mark.parametrize("data", [b"", b"no picture", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0"])
def test_other_bytes_are_errors_that_name_no_object(data: bytes) -> None:
    with pytest.raises(PictureError) as caught:
        Preprocessing(32).pixels(data)
    assert "BytesIO" not in str(caught.value)
    assert "0x" not in str(caught.value)
