"""The bytes of a picture file, opened: only formats of pictures, of a sane structure, and none too large.

Every decoding here begins with `opened`. Bytes from elsewhere go through it in worker processes (see `workers`), for
what a decoder does with hostile ones nobody knows.
"""

import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from functools import cache
from threading import Lock

from PIL import Image, ImageOps

from groundling.decoding.raw import CHANGED, EXIF_BLOCK, RAW, TAKEN, is_raw, open_raw
from groundling.decoding.structure import PictureError, TooManyPixels, check_structure

# Only these decoders are ever tried, whatever a file is called: Pillow has others that start programs.
COLLECTION = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", RAW)  # what is in people's folders
PICTURES = (*COLLECTION, "PPM")
HEIC_BEGINS = (b"ftypheic", b"ftypheix", b"ftypmif1")
MOST_PIXELS = 178_956_970  # half a gigabyte of colours: twice what Pillow warns of
LONGEST_SIDE = 65_535  # pixels; no camera's panorama is longer
LARGE = 25_000_000  # pixels from which a picture is made smaller strip by strip, before anything else is done with it

_loading = Lock()


@cache
def _has_heif() -> bool:
    Image.init()
    try:
        from pillow_heif import register_heif_opener
    except ImportError:
        return False
    register_heif_opener()
    return True


def load_decoders() -> bool:
    """Once for all pictures; whether HEIC is among them."""
    with _loading:  # Pillow does not guard its list of decoders against several threads
        return _has_heif()


def open_picture(data: bytes, formats: tuple[str, ...] = PICTURES, most: int = MOST_PIXELS) -> Image.Image:
    """The picture, opened but not decoded. Raises PictureError for anything else, and for what is too large."""
    heif = load_decoders()
    if data[4:12] in HEIC_BEGINS and not heif:
        raise PictureError("a HEIC picture, which needs pillow-heif: pip install 'groundling[heic]'")
    check_structure(data)
    if RAW in formats and is_raw(data):
        return open_raw(data, most)
    decoders = tuple(name for name in (*formats, "HEIF") if name != RAW and (heif or name != "HEIF"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the limit is ours
            image = Image.open(io.BytesIO(data), formats=decoders)
    except Image.DecompressionBombError:
        raise TooManyPixels(f"has more than {most:,} pixels") from None
    except Image.UnidentifiedImageError:
        raise PictureError("not a picture of a known format") from None
    except Exception as error:  # decoders raise whatever a damaged file leads them into
        raise PictureError(f"not a readable picture ({_reason(error)})") from None
    width, height = image.size
    if width * height > most or max(width, height) > LONGEST_SIDE:
        raise TooManyPixels(f"has {width} × {height} pixels, more than {most:,} in all or {LONGEST_SIDE:,} on a side")
    return image


@contextmanager
def upright_image(
    data: bytes, side: int, convert: Callable[[Image.Image], Image.Image] | None = None
) -> Iterator[Image.Image]:
    """The picture in a file's bytes, turned as the camera was held; what fails with it is a PictureError.

    One that is much too large is decoded at a half, quarter or eighth (JPEG), or made smaller as soon as it is decoded;
    no side becomes shorter than `side`. `convert` changes the mode of the picture, or of a strip of it.
    """
    try:
        with open_picture(data) as image:
            image.draft(None, (side, side))
            factor = min(image.size) // side
            if image.width * image.height > LARGE and factor > 1:
                image = _by_strips(image, factor, convert or (lambda strip: strip.convert("RGB")))
            upright = ImageOps.exif_transpose(image)
            yield upright if convert is None else convert(upright)
    except PictureError:
        raise
    except Exception as error:  # decoders raise whatever a damaged file leads them into
        raise PictureError(f"not a readable picture ({_reason(error)})") from error


def _by_strips(image: Image.Image, factor: int, convert: Callable[[Image.Image], Image.Image]) -> Image.Image:
    """The mean of each square of `factor` pixels; beside the picture itself only a strip is ever in memory."""
    image.load()
    rows = max(1, 1_000_000 // (image.width * factor)) * factor
    small: Image.Image | None = None
    for top in range(0, image.height, rows):
        strip = image.crop((0, top, image.width, min(top + rows, image.height)))
        strip.info = {key: value for key, value in image.info.items() if key == "transparency"}
        part = convert(strip).reduce(factor)
        if small is None:
            small = Image.new(part.mode, (part.width, -(-image.height // factor)))
        small.paste(part, (0, top // factor))
    assert small is not None  # noqa: S101 (a picture has a row)
    if "exif" in image.info:
        small.info["exif"] = image.info["exif"]
    return small


def taken(image: Image.Image) -> str:
    """When the picture was taken, "2019-07-31T18:05:00", as the camera says; "" where it says nothing."""
    if image.format == "PNG" and not any("exif" in key for key in image.info if isinstance(key, str)):
        return ""  # Pillow would decode all of it to look behind the pixels
    with suppress(Exception):  # as good as no date: damaged EXIF data raise almost anything
        exif = image.getexif()
        said = exif.get_ifd(EXIF_BLOCK).get(TAKEN) or exif.get(CHANGED)
        return datetime.strptime(str(said).strip("\0 "), "%Y:%m:%d %H:%M:%S").isoformat()
    return ""


def _reason(error: Exception) -> str:
    reason = str(error).replace("<_io.BytesIO object", "the bytes").split(" at 0x")[0]
    return reason or type(error).__name__
