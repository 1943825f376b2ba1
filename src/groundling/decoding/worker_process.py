"""A process that decodes pictures for another one, within limits that the system holds it to (see `workers`).

What to do it is told in JSON by who started it, which it trusts; the bytes of a picture it does not. What it sends back
is plain JSON and plain numbers, so that even a decoder that hostile bytes have taken over can say nothing but a wrong
picture.
"""

import json
import os
import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

import numpy as np

from groundling.decoding.opening import load_decoders, open_picture, taken
from groundling.decoding.structure import PictureError, TooManyPixels
from groundling.decoding.work import Work, work_of

FILES = 16  # handles: its pipe, and libraries that are loaded late
NICE = 5  # who waits for words goes before who waits for pictures
BEGUN = b"B"  # sent when a process has all it needs; what comes next is the answer
DONE, FAILED, LARGE, TOO_LARGE = b"D", b"F", b"L", b"T"


class Order(NamedTuple):
    """What a process is started with.

    Attributes:
        paths: where Python finds modules.
        formats: those that are decoded.
        pixels: the most of a picture.
        large: pixels from which a picture is left to the process for large ones.
        seconds: of computing for one picture.
        memory: bytes of address space.
    """

    paths: list[str]
    formats: tuple[str, ...]
    pixels: int
    large: int
    seconds: int
    memory: int


def main(handle: int) -> None:
    """Decode one picture after another until nobody is at the other end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # control-C is for who started us
    with Connection(handle) as line:
        paths, formats, *limits = json.loads(line.recv_bytes())
        order = Order(paths, tuple(formats), *limits)
        sys.path[:] = order.paths
        limit_all(order)
        with suppress(EOFError, OSError):
            while True:
                work = work_of(line.recv_bytes())
                data = line.recv_bytes()
                load_decoders()
                line.send_bytes(BEGUN)
                limit_seconds(order.seconds)
                line.send_bytes(answer(order, work, data))
                del data


def answer(order: Order, work: Work | None, data: bytes) -> bytes:
    """What is sent back for one picture."""
    try:
        with open_picture(data, order.formats, order.pixels) as image:
            if image.width * image.height > order.large:
                return _framed(LARGE, {})
            facts: dict[str, Any] = {"format": image.format, "size": image.size, "taken": taken(image)}
        payload = b"" if work is None else work(data)
        if isinstance(payload, np.ndarray):
            facts["array"] = [payload.dtype.str, payload.shape]
            payload = np.ascontiguousarray(payload).tobytes()
        return _framed(DONE, facts, payload)
    except TooManyPixels as error:
        return _framed(TOO_LARGE, {"why": str(error)})
    except PictureError as error:
        return _framed(FAILED, {"why": str(error)})
    except MemoryError:
        return _framed(FAILED, {"why": "needs more memory than a picture may"})
    except Exception as error:  # decoders raise whatever a damaged file leads them into
        return _framed(FAILED, {"why": f"not a readable picture ({str(error) or type(error).__name__})"})


def _framed(kind: bytes, facts: dict[str, Any], payload: bytes = b"") -> bytes:
    head = json.dumps(facts).encode()
    return b"".join((kind, len(head).to_bytes(4, "big"), head, payload))


def limit_all(order: Order) -> None:
    """Memory and open files; nothing is ever written. Where the system knows no such limits, there are none."""
    try:
        os.nice(NICE)
        import resource
    except (ImportError, AttributeError):
        return
    for limit, most in (
        (resource.RLIMIT_AS, order.memory),
        (resource.RLIMIT_NOFILE, FILES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with suppress(ValueError, OSError):  # a stricter limit is there already
            resource.setrlimit(limit, (most, most))


def limit_seconds(seconds: int) -> None:
    """Of computing, from now on; who takes longer is ended by the system."""
    try:
        import resource
    except ImportError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    with suppress(ValueError, OSError):
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + 1 + seconds, hard))
