"""Bytes, a little or much changed: what damaged disks, broken programs and enemies make of files."""

import numpy as np

NUMBERS = [b"\x00" * 4, b"\xff" * 4, b"\x7f\xff\xff\xff", b"\x80\x00\x00\x00", b"\xff" * 8, b"\x00\x01"]
WORDS = [
    b"\0",
    b"\n",
    b"\r\n",
    b'"',
    b"'",
    b"{",
    b"[" * 200,
    b"]",
    b",",
    b":",
    b"- " * 50,
    b"&a",
    b"*a",
    b"!!python/name:os.system ",
]
WORDS += [
    b"null",
    b"true",
    b"-1",
    b"1e999",
    b"NaN",
    b"9" * 400,
    b"../" * 8,
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    "\u202e".encode(),
    b"\x1b[2J",
]


def mutated(data: bytes, chance: np.random.Generator) -> bytes:
    """One to five changes, most of them small."""
    changed = bytearray(data)
    for _ in range(int(chance.integers(1, 6))):
        _CHANGES[int(chance.integers(len(_CHANGES)))](changed, chance)
    return bytes(changed)


def _place(data: bytearray, chance: np.random.Generator) -> int:
    """Heads are where formats say what follows: every second change is there."""
    most = min(len(data), 200) if chance.random() < 0.5 else len(data)
    return int(chance.integers(most + 1))


def _flip(data: bytearray, chance: np.random.Generator) -> None:
    if data:
        data[min(_place(data, chance), len(data) - 1)] ^= 1 << int(chance.integers(8))


def _cut_short(data: bytearray, chance: np.random.Generator) -> None:
    del data[_place(data, chance) :]


def _take_out(data: bytearray, chance: np.random.Generator) -> None:
    start = _place(data, chance)
    del data[start : start + int(chance.integers(1, 64))]


def _repeat(data: bytearray, chance: np.random.Generator) -> None:
    start = _place(data, chance)
    part = data[start : start + int(chance.integers(1, 64))]
    data[start:start] = part * int(chance.integers(1, 50))


def _put_in(data: bytearray, chance: np.random.Generator) -> None:
    start = _place(data, chance)
    data[start:start] = WORDS[int(chance.integers(len(WORDS)))]


def _number(data: bytearray, chance: np.random.Generator) -> None:
    start, number = _place(data, chance), NUMBERS[int(chance.integers(len(NUMBERS)))]
    data[start : start + len(number)] = number


def _noise(data: bytearray, chance: np.random.Generator) -> None:
    start, size = _place(data, chance), int(chance.integers(1, 32))
    data[start : start + size] = chance.bytes(size)


_CHANGES = (_flip, _flip, _cut_short, _take_out, _repeat, _put_in, _number, _noise)
