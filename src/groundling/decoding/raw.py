"""RAW files of cameras: the photograph that the camera put inside, else what LibRaw develops. Needs the extra `raw`.

The picture inside is what the photographer saw on the camera, has colours as its maker meant them, and is there at
once. Files of most makers are TIFF files whose pixels lie under a filter of colours, which is what tells them from
other TIFF files.
"""

import io
import struct
from functools import lru_cache
from typing import Any

import numpy as np
from PIL import Image

from groundling.decoding.structure import PictureError, TooManyPixels

RAW = "RAW"  # among the names of formats, which are Pillow's otherwise
NEEDED = 512  # pixels of the longer side that a picture inside must have to stand for the photograph
MOST_DIRECTORIES = 32  # of a TIFF; cameras write a handful
_OTHERS = (b"FUJIFILMCCD-RAW", b"IIRO", b"IIRS", b"MMOR", b"IIU\0")  # Fujifilm, Olympus, Panasonic
EXIF_BLOCK, TAKEN, CHANGED = 0x8769, 0x9003, 0x0132  # tags of EXIF: where its own begin, and two dates
_PHOTOMETRIC, _SUB_DIRECTORIES, _ORIENTATION = 0x0106, 0x014A, 0x0112
_FILTERED, _LINEAR = 32803, 34892  # what a TIFF says of pixels that have not been developed
_TURNS = {3: 3, 5: 8, 6: 6}  # LibRaw's number for how the camera was held → that of EXIF


def is_raw(data: bytes) -> bool:
    """Whether the bytes of a file are those of a camera's RAW file, told from its first bytes and its TIFF tags.

    >>> is_raw(b"FUJIFILMCCD-RAW 0201"), is_raw(b"II*\\0\\x08\\0\\0\\0\\0\\0")
    (True, False)
    """
    if data.startswith(_OTHERS) or data[4:12] == b"ftypcrx ":  # the latter are Canon's CR3
        return True
    if data[:4] not in (b"II*\0", b"MM\0*"):
        return False
    if data[8:10] == b"CR":  # Canon's CR2
        return True
    try:
        return _has_filter(data, "<" if data[:2] == b"II" else ">")
    except struct.error:
        return False  # cut short: the decoder of TIFF says where


def _has_filter(data: bytes, order: str) -> bool:
    """Whether any directory of a TIFF is of pixels under a filter of colours."""
    seen: set[int] = set()
    waiting: list[int] = [*struct.unpack_from(f"{order}I", data, 4)]
    while waiting and len(seen) < MOST_DIRECTORIES:
        place = waiting.pop()
        if not place or place in seen:
            continue
        seen.add(place)
        (count,) = struct.unpack_from(f"{order}H", data, place)
        for entry in range(place + 2, place + 2 + 12 * count, 12):
            tag, kind, size = struct.unpack_from(f"{order}HHI", data, entry)
            (value,) = struct.unpack_from(f"{order}{'H' if kind == 3 else 'I'}", data, entry + 8)
            if tag == _PHOTOMETRIC and value in (_FILTERED, _LINEAR):
                return True
            if tag == _SUB_DIRECTORIES and size == 1:
                waiting.append(value)
            elif tag == _SUB_DIRECTORIES:
                waiting += struct.unpack_from(f"{order}{min(size, MOST_DIRECTORIES)}I", data, value)
        waiting += struct.unpack_from(f"{order}I", data, place + 2 + 12 * count)
    return False


def open_raw(data: bytes, most: int) -> Image.Image:
    """The picture in a RAW file. Raises PictureError."""
    try:
        import rawpy  # noqa: F401 (whether it is there)
    except ImportError:
        raise PictureError("a RAW picture, which needs rawpy: pip install 'groundling[raw]'") from None
    image = _developed(data, most).copy()
    image.format = RAW
    return image


@lru_cache(maxsize=1)  # a worker opens each picture twice: to see what it is, and to work with it
def _developed(data: bytes, most: int) -> Image.Image:
    import rawpy

    try:
        with rawpy.imread(io.BytesIO(data)) as raw:
            if raw.sizes.width * raw.sizes.height > most:
                raise TooManyPixels(f"has {raw.sizes.width} × {raw.sizes.height} pixels, more than {most:,} in all")
            image = _inside(raw) or _develop(raw)
    except PictureError:
        raise
    except Exception as error:  # LibRaw has an exception for each thing that can be wrong, and Pillow others
        reason = error.args[0] if error.args else type(error).__name__
        reason = reason.decode(errors="replace") if isinstance(reason, bytes) else reason
        raise PictureError(f"not a readable RAW picture ({reason})") from None
    _note_date(image, data)
    return image


def _inside(raw: Any) -> Image.Image | None:
    """The largest JPEG that the camera put into the file, where it is large enough."""
    import rawpy

    try:
        found = raw.extract_thumb()
    except (rawpy.LibRawNoThumbnailError, rawpy.LibRawUnsupportedThumbnailError):
        return None
    if found.format != rawpy.ThumbFormat.JPEG:
        return None
    image = Image.open(io.BytesIO(found.data), formats=("JPEG",))
    if max(image.size) < min(NEEDED, max(raw.sizes.width, raw.sizes.height)):
        return None
    image.load()
    exif = image.getexif()
    if _ORIENTATION not in exif and raw.sizes.flip in _TURNS:
        exif[_ORIENTATION] = _TURNS[raw.sizes.flip]
        image.info["exif"] = exif.tobytes()
    return image


def _develop(raw: Any) -> Image.Image:
    """At half its size, which is all that any network looks at, in the camera's white."""
    pixels = raw.postprocess(half_size=True, use_camera_wb=True, output_bps=8)
    return Image.fromarray(np.ascontiguousarray(pixels))


def _note_date(image: Image.Image, data: bytes) -> None:
    """When it was taken as the file itself says, for a picture inside that does not."""
    if "exif" in image.info or data[:4] not in (b"II*\0", b"MM\0*"):
        return
    own, noted = Image.Exif(), image.getexif()
    own.load(data)
    said = own.get_ifd(EXIF_BLOCK).get(TAKEN) or own.get(CHANGED)
    if said:
        noted[CHANGED] = str(said)
        image.info["exif"] = noted.tobytes()
