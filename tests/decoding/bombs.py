"""Pictures that were made to harm whoever opens them: each of some kilobytes, made in a moment."""

import io
import struct
import zlib

from PIL import Image


def photograph(width: int = 64, height: int = 48, kind: str = "JPEG", **options: object) -> bytes:
    """A picture as people have it."""
    buffer = io.BytesIO()
    Image.linear_gradient("L").resize((width, height)).convert("RGB").save(buffer, kind, **options)
    return buffer.getvalue()


def jpeg_with(inserted: bytes) -> bytes:
    """A JPEG with something put in behind its first marker."""
    whole = photograph()
    return whole[:2] + inserted + whole[2:]


def exif_segments(count: int = 475_000) -> bytes:
    return jpeg_with(b"\xff\xe1\x00\x09Exif\x00\x00x" * count)


def comments(count: int = 1_000_000) -> bytes:
    return jpeg_with(b"\xff\xfe\x00\x02" * count)


def fill(count: int = 10_000_000) -> bytes:
    return jpeg_with(b"\xff" * count)


def scans(count: int, width: int = 64, height: int = 48) -> bytes:
    """A progressive JPEG whose last scan is there again and again: each goes over the whole picture."""
    whole = photograph(width, height, progressive=True)
    last = whole.rindex(b"\xff\xda")
    return whole[:-2] + whole[last:-2] * count + whole[-2:]


def png(width: int, height: int, rows: int | None = None, before: bytes = b"") -> bytes:
    """A PNG of one colour that says it is of this size; of so many rows there are pixels."""
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    packer = zlib.compressobj(9)
    row = bytes(1 + 3 * width)
    pixels = b"".join(packer.compress(row) for _ in range(height if rows is None else rows)) + packer.flush()
    parts = (b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", head), before, chunk(b"IDAT", pixels), chunk(b"IEND", b""))
    return b"".join(parts)


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def empty_chunks(count: int = 800_000) -> bytes:
    return png(8, 8, before=chunk(b"teSt", b"") * count)


def gif_blocks(count: int = 3_000_000) -> bytes:
    """A GIF with a comment of that many blocks before its picture."""
    whole = photograph(kind="GIF")
    place = 13 + (3 << ((whole[10] & 7) + 1) if whole[10] & 0x80 else 0)
    return whole[:place] + b"\x21\xfe" + b"\x01x" * count + b"\x00" + whole[place:]
