"""Scalars in TensorBoard's event files, without installing TensorBoard to write them.

An event file is a row of records: length, checksum of the length, a protocol-buffer message, checksum of the message.
We write three kinds of field only, so the few bytes of each are spelled out here; `pip install tensorboard` reads them.
"""

import os
import socket
import struct
import time
from pathlib import Path


def _table() -> list[int]:
    """CRC-32C (Castagnoli), one entry per byte."""
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_CRC = _table()


def masked_checksum(data: bytes) -> int:
    """The checksum of a record: CRC-32C, rotated and shifted, so that checksums of checksums do not degenerate."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _CRC[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def varint(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def _field(number: int, payload: bytes) -> bytes:
    """A length-delimited field: text or a nested message."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


class EventFile:
    """An event file in `folder`; a resumed training opens a further one, and TensorBoard reads all."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        name = f"events.out.tfevents.{time.time():.6f}.{socket.gethostname()}.{os.getpid()}"
        self.file = (folder / name).open("wb")
        self._event(_field(3, b"brain.Event:2"))  # Event.file_version

    def scalar(self, tag: str, value: float, step: int) -> None:
        """Summary.Value{tag = 1, simple_value = 2} in Summary.value = 1 in Event.summary = 5, beside Event.step = 2."""
        entry = _field(1, tag.encode()) + varint(2 << 3 | 5) + struct.pack("<f", value)
        self._event(varint(2 << 3) + varint(step) + _field(5, _field(1, entry)))

    def _event(self, body: bytes) -> None:
        event = varint(1 << 3 | 1) + struct.pack("<d", time.time()) + body  # Event.wall_time
        length = struct.pack("<Q", len(event))
        self.file.write(length + struct.pack("<I", masked_checksum(length)))
        self.file.write(event + struct.pack("<I", masked_checksum(event)))
        self.file.flush()

    def close(self) -> None:
        self.file.close()
