"""RAW files as a camera writes them (DNG, Adobe 2012), in a few lines: pixels under a filter, and a JPEG if asked."""

import io
import struct
from typing import Any

import numpy as np
from PIL import Image

BYTE, ASCII, SHORT, LONG, RATIONAL, SIGNED_RATIONAL = 1, 2, 3, 4, 5, 10
_FORMS = {BYTE: "B", ASCII: "s", SHORT: "H", LONG: "I"}


def dng(colour: tuple[int, int, int], size: tuple[int, int] = (64, 48), inside: bytes = b"", turned: int = 1) -> bytes:
    """A photograph of one colour, of so many pixels; `inside` is the JPEG that the camera put into it."""
    width, height = size
    red, green, blue = (round(65535 * (value / 255) ** 2.2) for value in colour)
    pixels = np.zeros((height, width), dtype="<u2")
    pixels[::2, ::2], pixels[::2, 1::2], pixels[1::2, ::2], pixels[1::2, 1::2] = red, green, green, blue
    raw: dict[int, tuple[int, Any]] = {
        254: (LONG, [0]),
        256: (LONG, [width]),
        257: (LONG, [height]),
        258: (SHORT, [16]),
        259: (SHORT, [1]),
        262: (SHORT, [32803]),
        273: (LONG, [0]),  # set below
        277: (SHORT, [1]),
        278: (LONG, [height]),
        279: (LONG, [pixels.nbytes]),
        284: (SHORT, [1]),
        33421: (SHORT, [2, 2]),
        33422: (BYTE, [0, 1, 1, 2]),
    }
    camera: dict[int, tuple[int, Any]] = {
        271: (ASCII, b"Groundling\0"),
        272: (ASCII, b"One\0"),
        274: (SHORT, [turned]),
        306: (ASCII, b"2021:05:06 07:08:09\0"),
        50706: (BYTE, [1, 4, 0, 0]),
        50708: (ASCII, b"Groundling One\0"),
        50721: (SIGNED_RATIONAL, [3241, -1537, -499, -969, 1876, 42, 56, -204, 1057]),  # XYZ → sRGB, in thousandths
        50728: (RATIONAL, [1000, 1000, 1000]),
    }
    if not inside:
        place = 8 + len(_directory(raw | camera, 8))
        raw[273] = (LONG, [place])
        return b"II*\0\x08\0\0\0" + _directory(raw | camera, 8) + pixels.tobytes()
    with Image.open(io.BytesIO(inside)) as preview:
        small = {254: (LONG, [1]), 256: (LONG, [preview.width]), 257: (LONG, [preview.height])}
    small |= {258: (SHORT, [8, 8, 8]), 259: (SHORT, [7]), 262: (SHORT, [6]), 273: (LONG, [0]), 277: (SHORT, [3])}
    small |= {278: small[257], 279: (LONG, [len(inside)]), 330: (LONG, [0])}
    second = 8 + len(_directory(small | camera, 8))
    first_data = second + len(_directory(raw, second))
    small[273], small[330] = (LONG, [first_data]), (LONG, [second])
    raw[273] = (LONG, [first_data + len(inside)])
    parts = (_directory(small | camera, 8), _directory(raw, second), inside, pixels.tobytes())
    return b"II*\0\x08\0\0\0" + b"".join(parts)


def _directory(tags: dict[int, tuple[int, Any]], place: int) -> bytes:
    """The entries of a TIFF directory at a place in the file, and the values that do not fit into them."""
    after = place + 2 + 12 * len(tags) + 4
    entries, values = [], b""
    for tag, (kind, value) in sorted(tags.items()):
        if kind == ASCII:
            packed, count = bytes(value), len(value)
        elif kind in (RATIONAL, SIGNED_RATIONAL):
            form = "I" if kind == RATIONAL else "i"
            packed, count = b"".join(struct.pack(f"<2{form}", number, 1000) for number in value), len(value)
        else:
            packed, count = struct.pack(f"<{len(value)}{_FORMS[kind]}", *value), len(value)
        if len(packed) > 4:
            entries.append(struct.pack("<HHII", tag, kind, count, after + len(values)))
            values += packed + b"\0" * (len(packed) % 2)
        else:
            entries.append(struct.pack("<HHI", tag, kind, count) + packed.ljust(4, b"\0"))
    return struct.pack("<H", len(tags)) + b"".join(entries) + b"\0\0\0\0" + values
