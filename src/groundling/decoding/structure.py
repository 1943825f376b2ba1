"""Whether the bytes of a picture file are put together as cameras and programs put them, told without decoding them.

A file of a few kilobytes can keep a decoder busy for hours: a JPEG with hundreds of thousands of segments or thousands
of scans, a PNG of empty chunks, a head that promises more pixels than the bytes behind it can hold. What is refused
here no camera writes; whatever else is wrong the decoder will say.
"""

import re
import struct

MOST_SEGMENTS = 2000  # of a JPEG beside its scans; colour profiles and XMP take up to some hundreds
MOST_SCANS = 100  # of a JPEG; encoders write about ten
MOST_SCANNED = 1_500_000_000  # pixels times scans of a JPEG, for each scan goes over the whole picture
LONGEST_FILL = 1024  # bytes of nothing between two segments
MOST_CHUNKS, BYTES_PER_CHUNK = 5000, 1024  # of a PNG: so many, and one more for so many bytes
MOST_BLOCKS = 20_000  # of a GIF before its first picture
DENSEST_PNG = 1032  # bytes that deflate makes of one, at most
DENSEST_JPEG = 1024  # pixels of one byte: each block of 64 takes at least a bit

_MARKER = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")  # what ends a scan: no stuffed byte, no restart
_FILL = re.compile(rb"\xff+")
_ALONE = {0x01, *range(0xD0, 0xD9)}  # markers without a length
_FRAMES = {*range(0xC0, 0xD0)} - {0xC4, 0xC8, 0xCC}
_CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # of a PNG, by its colour type


class PictureError(Exception):
    """The bytes are not a picture that can be decoded whole; the message says why, without the file's name."""


class TooManyPixels(PictureError):
    """A picture, but a larger one than is decoded here, or than it can be."""


def check_structure(data: bytes) -> None:
    """Raises PictureError for what no camera writes. Formats that are not known here are left to their decoder."""
    try:
        if data.startswith(b"\xff\xd8"):
            _jpeg(data)
        elif data.startswith(b"\x89PNG\r\n\x1a\n"):
            _png(data)
        elif data.startswith((b"GIF87a", b"GIF89a")):
            _gif(data)
    except (struct.error, IndexError):
        return  # cut short: the decoder says where


def _jpeg(data: bytes) -> None:
    place, segments, scans, pixels = 2, 0, 0, 0
    while place < len(data):
        fill = _FILL.match(data, place)
        if fill is None:
            return  # no marker where one should be: the decoder says so
        if fill.end() - place > LONGEST_FILL:
            raise PictureError("not a readable picture (a JPEG with nothing between its segments)")
        marker, place = data[fill.end()], fill.end() + 1
        if marker == 0xD9:
            return
        segments += marker != 0xDA
        if segments > MOST_SEGMENTS:
            raise PictureError(f"not a readable picture (a JPEG of more than {MOST_SEGMENTS:,} segments)")
        if marker in _ALONE:
            continue
        (length,) = struct.unpack_from(">H", data, place)
        if marker in _FRAMES:
            height, width = struct.unpack_from(">HH", data, place + 3)
            pixels = max(pixels, width * height)
            if pixels > DENSEST_JPEG * len(data):
                raise TooManyPixels(_too_few_bytes(width, height))
        place += length
        if marker == 0xDA:
            scans += 1
            if scans > MOST_SCANS or scans * pixels > MOST_SCANNED:
                raise PictureError(f"not a readable picture (a JPEG of {scans:,} scans or more)")
            ends = _MARKER.search(data, place)
            if ends is None:
                return
            place = ends.start()


def _png(data: bytes) -> None:
    width, height, depth, colours = struct.unpack_from(">IIBB", data, 16)
    place, chunks, packed, most = 8, 0, 0, MOST_CHUNKS + len(data) // BYTES_PER_CHUNK
    while place + 8 <= len(data):
        (length,) = struct.unpack_from(">I", data, place)
        packed += length if data[place + 4 : place + 8] == b"IDAT" else 0
        place += 12 + length
        chunks += 1
        if chunks > most:
            raise PictureError(f"not a readable picture (a PNG of more than {most:,} chunks)")
    row = (width * depth * _CHANNELS.get(colours, 1) + 7) // 8
    if height * row > DENSEST_PNG * (min(packed, len(data)) + 64):
        raise TooManyPixels(_too_few_bytes(width, height))


def _gif(data: bytes) -> None:
    place, blocks = 13, 0
    if data[10] & 0x80:
        place += 3 << ((data[10] & 7) + 1)
    while data[place] == 0x21:  # an extension: what it is, then blocks of up to 255 bytes, the last one empty
        place += 2
        while data[place]:
            place += 1 + data[place]
            blocks += 1
            if blocks > MOST_BLOCKS:
                raise PictureError(f"not a readable picture (a GIF with {MOST_BLOCKS:,} blocks before its picture)")
        place, blocks = place + 1, blocks + 1


def _too_few_bytes(width: int, height: int) -> str:
    return f"has {width} × {height} pixels by its head, more than the bytes of the file can hold"
