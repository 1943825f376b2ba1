"""What a decoding process is held to, what it answers, and how far that is believed."""

import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from groundling.decoding.opening import MOST_PIXELS, PICTURES
from groundling.decoding.shared_memory import SharedMemory
from groundling.decoding.structure import PictureError, TooManyPixels
from groundling.decoding.worker_process import DONE, LARGE, TOO_LARGE

TYPES = ("|u1", "<f4", "<f8")  # of arrays that come back
NONSENSE = "not a readable picture (the decoder answered nonsense)"

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class DecodeLimits:
    """What one picture may cost.

    Attributes:
        formats: those that are decoded.
        pixels: the most of a picture.
        large: pixels from which a picture is decoded in a process of its own, one at a time.
        seconds: of computing.
        patience: seconds until an answer; more than the above where processes wait for each other.
        memory: bytes of address space of a process, of which it has 0.1 billion to begin with.
        brisk: seconds of computing after which a picture makes way for all other work of the machine; None: it never
            does.
    """

    formats: tuple[str, ...] = PICTURES
    pixels: int = MOST_PIXELS
    large: int = 25_000_000
    seconds: int = 10
    patience: float = 60.0
    memory: int = 2 * 2**30
    brisk: float | None = None


@dataclass(frozen=True)
class Decoded:
    """A picture, decoded.

    Attributes:
        format: Pillow's name for it; a JPEG with a further picture in it is "MPO".
        size: width and height in the file.
        taken: when, as the camera says; "" where it says nothing.
        array, data: what was made of it, whichever that is.
    """

    format: str
    size: tuple[int, int]
    taken: str
    array: npt.NDArray[Any]
    data: bytes


class LargePicture(PictureError):
    """A picture that is decoded in the process for large ones."""


class Died(PictureError):
    """The process has ended over a picture; the message says of that picture what happened.

    Attributes:
        at: its number among those that were asked for together.
    """

    at = 0


def read_one(reply: bytes) -> Decoded:
    """What came back for one picture, believed as far as it can be a picture."""
    kind, length = reply[:1], int.from_bytes(reply[1:5], "big")
    try:
        facts, payload = json.loads(reply[5 : 5 + length]), reply[5 + length :]
        if kind != DONE:
            raise _failure(kind, facts)
        if "array" not in facts:
            return _decoded(facts, np.zeros(0, dtype=np.uint8), payload)
        return _decoded(facts, _array(np.frombuffer(payload, np.uint8), *facts["array"]))
    except (ValueError, TypeError, KeyError):
        raise PictureError(NONSENSE) from None


def read_many(reply: bytes, memory: SharedMemory, most: int) -> list[Decoded | PictureError]:
    """What came back for the first pictures of several, one or more; their arrays are in the memory."""
    try:
        end, answers = json.loads(reply)
        everything = memory.copied(int(end))
        found = [_one_of_many(everything, *answer) for answer in answers[:most]]
    except (ValueError, TypeError, KeyError):
        found = []
    return found or [PictureError(NONSENSE)]


def _one_of_many(everything: npt.NDArray[np.uint8], kind: str, facts: dict[str, Any]) -> Decoded | PictureError:
    if kind.encode() != DONE:
        return _failure(kind.encode(), facts)
    first, end = facts["place"]
    return _decoded(facts, _array(everything[int(first) : int(end)], *facts["array"]))


def _decoded(facts: dict[str, Any], array: Array, data: bytes = b"") -> Decoded:
    width, height = facts["size"]
    return Decoded(str(facts["format"]), (int(width), int(height)), str(facts["taken"])[:32], array, data)


def _failure(kind: bytes, facts: dict[str, Any]) -> PictureError:
    if kind == LARGE:
        return LargePicture("larger than is decoded beside others")
    return (TooManyPixels if kind == TOO_LARGE else PictureError)(str(facts["why"])[:500])


def _array(data: npt.NDArray[np.uint8], name: str, shape: list[int]) -> Array:
    if name not in TYPES:
        raise ValueError(name)
    return data.view(name).reshape([int(side) for side in shape])
