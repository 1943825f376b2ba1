"""Pictures decoded in processes of their own, which are limited, and ended and replaced when they go beyond.

Nobody knows what a decoder does with bytes that somebody made to harm it: hours of work, gigabytes, a crash. In a
process of its own it costs some seconds, and the next picture gets a new one. Texts and models are never in reach.
"""

import atexit
import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from multiprocessing import Pipe
from queue import LifoQueue
from typing import Any

import numpy as np
import numpy.typing as npt

from groundling.decoding.opening import MOST_PIXELS, PICTURES
from groundling.decoding.structure import PictureError, TooManyPixels
from groundling.decoding.work import Work, said
from groundling.decoding.worker_process import DONE, LARGE, NICE, TOO_LARGE, Order
from groundling.errors import UserError

PASSED = ("PATH", "LD_LIBRARY_PATH", "LANG", "SYSTEMROOT")  # of the environment
LAST = 12  # nicer than we are is a process that makes way: it gets a fifth of what other decoders get
TYPES = ("|u1", "<f4", "<f8")  # of arrays that come back


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


class Workers:
    """Up to `count` processes, and one more for large pictures; each is started when it is needed.

    Several threads may ask. Who asks for a picture of usual size never waits for somebody's large one.
    """

    def __init__(self, limits: DecodeLimits | None = None, count: int | None = None) -> None:
        self.limits, self.count = limits or DecodeLimits(), count or os.cpu_count() or 1
        self._usual, self._large = _Lane(self.count), _Lane(1)

    def decode(self, data: bytes, work: Work | None = None) -> Decoded:
        """What a picture is, and what `work` makes of its bytes. Raises PictureError."""
        try:
            return self.decode_usual(data, work)
        except LargePicture:
            return self.decode_large(data, work)

    def decode_usual(self, data: bytes, work: Work | None = None) -> Decoded:
        """The same, but raises LargePicture for one that would keep others waiting."""
        return self._usual.decode(self.limits, self.limits.large, data, work)

    def decode_large(self, data: bytes, work: Work | None = None) -> Decoded:
        """One large picture at a time, so that two never need their memory together."""
        return self._large.decode(self.limits, self.limits.pixels, data, work)

    def array(self, data: bytes, work: Work) -> npt.NDArray[Any]:
        """The array that `work` makes of the bytes of a picture. Raises PictureError."""
        return self.decode(data, work).array

    def arrays(self, files: Iterable[bytes], work: Work) -> Iterator[npt.NDArray[Any] | PictureError]:
        """The same for several, in their order, as many at a time as there are processes."""

        def one(data: bytes) -> npt.NDArray[Any] | PictureError:
            try:
                return self.array(data, work)
            except PictureError as error:
                return error

        with ThreadPoolExecutor(self.count) as pool:
            yield from pool.map(one, files)

    def named_arrays(self, files: Iterable[tuple[str, bytes]], work: Work) -> list[npt.NDArray[Any]]:
        """The same of pictures that must all be readable: the first that is not is an error that names it."""

        def one(named: tuple[str, bytes]) -> npt.NDArray[Any]:
            try:
                return self.array(named[1], work)
            except PictureError as error:
                raise UserError(f"{named[0]}: {error}") from None

        with ThreadPoolExecutor(self.count) as pool:
            return list(pool.map(one, files))

    def close(self) -> None:
        """End all processes; whoever waits for one gets a PictureError."""
        self._usual.close()
        self._large.close()


@cache
def shared(formats: tuple[str, ...] = PICTURES) -> Workers:
    """Those of this program; they end with it."""
    made = Workers(DecodeLimits(formats))
    atexit.register(made.close)
    return made


class _Lane:
    """Places for processes; a place whose process has ended gets a new one."""

    def __init__(self, count: int) -> None:
        self._free: LifoQueue[_Process | None] = LifoQueue()
        for _ in range(count):
            self._free.put(None)
        self._running: set[_Process] = set()
        self._closed = False

    def decode(self, limits: DecodeLimits, large: int, data: bytes, work: Work | None) -> Decoded:
        process = self._free.get()
        try:
            if self._closed:
                raise PictureError("no more pictures are decoded here")
            if process is None or not process.alive():
                process = _Process(limits, large)
                self._running = {one for one in self._running if one.alive()} | {process}
            try:
                return process.ask(data, work)
            finally:
                if not process.as_before():
                    process.end()
                    process = None
        except PictureError:
            raise
        except BaseException as error:  # the process has ended, or its answer will not be waited for
            if process is not None:
                process.end()
                process = None
            if isinstance(error, _Ended):
                raise PictureError(str(error)) from None
            raise
        finally:
            self._free.put(process)

    def close(self) -> None:
        self._closed = True
        for process in self._running:
            process.process.kill()  # who waits for it finds it gone
            process.process.wait()


class _Ended(Exception):
    """A process that is not there any more; the message says of its picture what happened."""


class _Process:
    def __init__(self, limits: DecodeLimits, large: int) -> None:
        self.limits, self.slow = limits, False
        self.line, theirs = Pipe()
        command = f"from groundling.decoding.worker_process import main; main({theirs.fileno()})"
        # One thread for each library: they would only reserve memory. No terminal: messages of decoders are bytes of
        # the picture's maker.
        alone = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
        passed = {name: os.environ[name] for name in PASSED if name in os.environ}  # no tokens
        path = os.pathsep.join(one for one in sys.path if one)
        self.process = subprocess.Popen(  # noqa: S603 (our own interpreter)
            [sys.executable, "-c", command],
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**passed, **alone, "PYTHONPATH": path},
        )
        theirs.close()
        order = Order(sys.path, limits.formats, limits.pixels, large, limits.seconds, limits.memory)
        with contextlib.suppress(OSError):
            self.line.send_bytes(json.dumps(order).encode())

    def alive(self) -> bool:
        return self.process.poll() is None

    def ask(self, data: bytes, work: Work | None) -> Decoded:
        try:
            self.line.send_bytes(said(work))
            self.line.send_bytes(data)
            reply = self._reply()
        except (OSError, EOFError):
            raise _Ended(self._why()) from None
        return _read(reply)

    def _reply(self) -> bytes:
        self._wait(time.monotonic() + self.limits.patience)  # until it has all it needs: a new one loads modules
        self.line.recv_bytes()
        deadline, brisk, before = time.monotonic() + self.limits.patience, self.limits.brisk, self._computed()
        while brisk is not None and not self.slow and not self.line.poll(brisk) and time.monotonic() < deadline:
            if self._computed() - before >= brisk:
                self.slow = self._behind(LAST)
                break
        self._wait(deadline)
        return self.line.recv_bytes()

    def _wait(self, deadline: float) -> None:
        if not self.line.poll(max(0.0, deadline - time.monotonic())):
            self.end()
            raise _Ended(f"takes longer than {self.limits.patience:g} seconds to decode")

    def _computed(self) -> float:
        """Seconds that the process has had of a processor; where the system does not tell, of the clock."""
        try:
            with open(f"/proc/{self.process.pid}/stat", "rb") as file:  # noqa: PTH123 (a file of the system)
                user, system = file.read().rpartition(b")")[2].split()[11:13]
        except (OSError, ValueError):
            return time.monotonic()
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def _behind(self, nice: int) -> bool:
        """Lets the process come after us by so much; whether that was done."""
        try:
            ours = os.getpriority(os.PRIO_PROCESS, 0)
            os.setpriority(os.PRIO_PROCESS, self.process.pid, min(ours + nice, 19))
        except OSError:  # to come forward again is not allowed to all, and a process may have ended
            return False
        return True

    def as_before(self) -> bool:
        """Whether the process can go on with the next picture as if the last one had been quick."""
        if self.slow and self._behind(NICE):
            self.slow = False
        return not self.slow

    def _why(self) -> str:
        """The process is gone: by which of its limits?"""
        self.end()
        code = self.process.wait()
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            return f"takes longer than {self.limits.seconds} seconds to decode"
        return "not a readable picture (the decoder crashed)"

    def end(self) -> None:
        if self.alive():
            self.process.kill()
        self.process.wait()
        self.line.close()


def _read(reply: bytes) -> Decoded:
    """What came back, believed as far as it can be a picture."""
    kind, length = reply[:1], int.from_bytes(reply[1:5], "big")
    try:
        facts, payload = json.loads(reply[5 : 5 + length]), reply[5 + length :]
        if kind == LARGE:
            raise LargePicture("larger than is decoded beside others")
        if kind != DONE:
            raise (TooManyPixels if kind == TOO_LARGE else PictureError)(str(facts["why"])[:500])
        array = np.zeros(0, dtype=np.uint8)
        if "array" in facts:
            name, shape = facts["array"]
            if name not in TYPES:
                raise ValueError(name)
            array = np.frombuffer(payload, dtype=name).reshape([int(side) for side in shape])
            payload = b""
        width, height = facts["size"]
        return Decoded(str(facts["format"]), (int(width), int(height)), str(facts["taken"])[:32], array, payload)
    except (ValueError, TypeError, KeyError):
        raise PictureError("not a readable picture (the decoder answered nonsense)") from None
