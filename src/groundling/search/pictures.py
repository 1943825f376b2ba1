"""What is in the bytes of a picture file, as far as an index asks: whether it is one, and when it was taken."""

import io
import warnings
from contextlib import suppress
from datetime import datetime
from functools import cache
from pathlib import PurePosixPath
from threading import Lock
from typing import TYPE_CHECKING

from groundling.search.walk import HEIC, Facts, Unreadable

if TYPE_CHECKING:
    from PIL import Image

# Only these decoders are ever tried, whatever a file is called: Pillow has others that start programs.
FORMATS = ("JPEG", "PNG", "WEBP", "GIF")
_EXIF_BLOCK, _TAKEN, _CHANGED = 0x8769, 0x9003, 0x0132


_loading = Lock()


def formats() -> tuple[str, ...]:
    """The formats that can be decoded here; HEIC where pillow-heif is installed."""
    with _loading:  # Pillow does not guard its list of decoders against several threads
        return _formats()


@cache
def _formats() -> tuple[str, ...]:
    from PIL import Image

    Image.init()
    try:
        from pillow_heif import register_heif_opener
    except ImportError:
        return FORMATS
    register_heif_opener()
    return (*FORMATS, "HEIF")


def check(data: bytes, path: str) -> "Image.Image":
    """The picture, opened but not decoded. Raises Unreadable for anything else, and for decompression bombs."""
    from PIL import Image

    known = formats()
    if PurePosixPath(path).suffix.lower() in HEIC and "HEIF" not in known:
        raise Unreadable("a HEIC picture, which needs pillow-heif: pip install 'groundling[heic]'")
    try:
        with warnings.catch_warnings():
            # Pillow warns of very large pictures, which are fine, and still refuses twice as large ones.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            return Image.open(io.BytesIO(data), formats=known)
    except Image.UnidentifiedImageError:
        raise Unreadable("not a picture of a known format") from None
    except Exception as error:  # decoders raise whatever a damaged file leads them into
        raise Unreadable(f"not a readable picture ({error or type(error).__name__})") from None


def taken(image: "Image.Image", facts: Facts) -> str:
    """When the picture was taken, "2019-07-31T18:05:00", as the camera says; else when the file was last changed."""
    with suppress(Exception):  # as good as no date: damaged EXIF data raise almost anything
        exif = image.getexif()
        said = exif.get_ifd(_EXIF_BLOCK).get(_TAKEN) or exif.get(_CHANGED)
        return datetime.strptime(str(said).strip("\0 "), "%Y:%m:%d %H:%M:%S").isoformat()
    try:
        return datetime.fromtimestamp(facts.modified // 10**9).isoformat()
    except (OverflowError, ValueError, OSError):
        return ""
