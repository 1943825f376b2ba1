"""A process that decodes pictures for another one, within limits that the system holds it to (see `workers`).

What to do it is told in JSON by who started it, which it trusts; the bytes of a picture it does not. What it sends back
is plain JSON and plain numbers, so that even a decoder that hostile bytes have taken over can say nothing but a wrong
picture.
"""

import json
import os
import signal
import sys
import time
from contextlib import suppress
from hashlib import sha256
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from groundling.decoding.opening import load_decoders, open_picture, taken
from groundling.decoding.shared_memory import SharedMemory
from groundling.decoding.structure import PictureError, TooManyPixels
from groundling.decoding.work import Work, work_of

FILES = 16  # handles: its pipe, and libraries that are loaded late
NICE = 5  # who waits for words goes before who waits for pictures
ONE, MANY = b"1", b"N"  # what is asked for: the picture in the bytes that follow, or those in files
TOGETHER = 0.5  # seconds after which what was made of several files is handed over: who asked may have changed his mind
CHANGED = "changed while it was being read"
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


def main(handle: int, shared: int | None = None) -> None:
    """Decode one picture after another until nobody is at the other end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # control-C is for who started us
    with Connection(handle) as line:
        paths, formats, *limits = json.loads(line.recv_bytes())
        order = Order(paths, tuple(formats), *limits)
        sys.path[:] = order.paths
        memory = None if shared is None else SharedMemory(shared)
        limit_all(order)
        with suppress(EOFError, OSError):
            while True:
                asked = line.recv_bytes()
                work = work_of(asked[1:])
                data = line.recv_bytes()
                load_decoders()
                line.send_bytes(BEGUN)
                if asked[:1] == MANY and work is not None and memory is not None:
                    line.send_bytes(answer_many(order, work, json.loads(data), memory))
                else:
                    limit_seconds(order.seconds)
                    line.send_bytes(_framed(*answer(order, work, data)))
                del data


def answer(order: Order, work: Work | None, data: bytes) -> tuple[bytes, dict[str, Any], Any]:
    """What is to be said of one picture: a word, facts in JSON, and the bytes or the array that was made of it."""
    try:
        with open_picture(data, order.formats, order.pixels) as image:
            if image.width * image.height > order.large:
                return LARGE, {}, b""
            facts: dict[str, Any] = {"format": image.format, "size": image.size, "taken": taken(image)}
        payload = b"" if work is None else work(data)
        if isinstance(payload, np.ndarray):
            facts["array"] = [payload.dtype.str, payload.shape]
        return DONE, facts, payload
    except TooManyPixels as error:
        return TOO_LARGE, {"why": str(error)}, b""
    except PictureError as error:
        return FAILED, {"why": str(error)}, b""
    except MemoryError:
        return FAILED, {"why": "needs more memory than a picture may"}, b""
    except Exception as error:  # decoders raise whatever a damaged file leads them into
        return FAILED, {"why": f"not a readable picture ({str(error) or type(error).__name__})"}, b""


def answer_many(order: Order, work: Work, files: list[tuple[str, str]], memory: SharedMemory) -> bytes:
    """The same for the first of these files, as many as find room in the memory, where their arrays then are."""
    answers: list[tuple[str, dict[str, Any]]] = []
    end, before, started = 0, 0, time.monotonic()
    for number, (path, key) in enumerate(files):
        if number and (end + before > memory.size or time.monotonic() - started > TOGETHER):
            break
        memory.begun = number + 1
        limit_seconds(order.seconds)
        kind, facts, made = _answer_file(order, work, Path(path), key)
        if kind == DONE and isinstance(made, np.ndarray):
            if end + made.nbytes > memory.size:
                if number:
                    break  # it is asked for again, and then finds all of the memory
                kind = LARGE
            else:
                facts["place"] = [end, end + made.nbytes]
                end, before = memory.put(made, end), made.nbytes
        answers.append((kind.decode(), facts))
    return json.dumps([end, answers]).encode()


def _answer_file(order: Order, work: Work, path: Path, key: str) -> tuple[bytes, dict[str, Any], Any]:
    try:
        data = read_file(path)
    except OSError as error:
        return FAILED, {"why": error.strerror or str(error)}, b""
    except MemoryError:
        return FAILED, {"why": "needs more memory than a picture may"}, b""
    if sha256(data).hexdigest() != key:
        return FAILED, {"why": CHANGED}, b""
    return answer(order, work, data)


def read_file(path: Path) -> bytes:
    """All of a file; a pipe that has taken its place holds nobody up."""
    with os.fdopen(
        os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)), "rb"
    ) as file:
        return file.read()


def _framed(kind: bytes, facts: dict[str, Any], payload: Any) -> bytes:
    head = json.dumps(facts).encode()
    data = np.ascontiguousarray(payload).tobytes() if isinstance(payload, np.ndarray) else payload
    return b"".join((kind, len(head).to_bytes(4, "big"), head, data))


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
