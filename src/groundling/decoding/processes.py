"""Decoding processes as who started them sees them: asked, waited for, ended when they go beyond their limits."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from multiprocessing import Pipe
from pathlib import Path
from queue import LifoQueue
from typing import TypeVar

from groundling.decoding import shared_memory
from groundling.decoding.answers import Decoded, DecodeLimits, Died, read_many, read_one
from groundling.decoding.shared_memory import SharedMemory
from groundling.decoding.structure import PictureError
from groundling.decoding.work import Work, said
from groundling.decoding.worker_process import MANY, NICE, ONE, Order

PASSED = ("PATH", "LD_LIBRARY_PATH", "LANG", "SYSTEMROOT")  # of the environment
LAST = 12  # nicer than we are is a process that makes way: it gets a fifth of what other decoders get
LOOK = 1.0  # seconds after which it is looked at how far a process is with several pictures
# What pictures of usual size took is kept for the next one: to have it from the system page by page, and to give it
# back, took as long as decoding a picture of 256 × 256 pixels.
KEPT = {"MALLOC_MMAP_THRESHOLD_": str(2**24), "MALLOC_TRIM_THRESHOLD_": str(2**25)}

Files = Sequence[tuple[Path, bytes]]  # each with the SHA-256 of its content
Answer = TypeVar("Answer")


class Lane:
    """Places for processes; a place whose process has ended gets a new one."""

    def __init__(self, count: int) -> None:
        self._free: LifoQueue[Process | None] = LifoQueue()
        for _ in range(count):
            self._free.put(None)
        self._running: set[Process] = set()
        self._closed = False

    def ask(self, limits: DecodeLimits, large: int, question: Callable[["Process"], Answer]) -> Answer:
        """The answer of the next process that is free. Raises PictureError, which is Died where the process ended."""
        process = self._free.get()
        try:
            if self._closed:
                raise PictureError("no more pictures are decoded here")
            if process is None or not process.alive():
                process = Process(limits, large)
                self._running = {one for one in self._running if one.alive()} | {process}
            try:
                return question(process)
            finally:
                if not process.as_before():
                    process.end()
                    process = None
        except BaseException as error:
            if process is not None and (isinstance(error, Died) or not isinstance(error, PictureError)):
                process.end()  # it has ended, or its answer will not be waited for
                process = None
            raise
        finally:
            self._free.put(process)

    def close(self) -> None:
        self._closed = True
        for process in self._running:
            process.process.kill()  # who waits for it finds it gone
            process.process.wait()


class Process:
    """One of them. It has memory of its own to answer through, so that none can change what another answers."""

    def __init__(self, limits: DecodeLimits, large: int) -> None:
        self.limits, self.slow = limits, False
        self.line, theirs = Pipe()
        memory = shared_memory.make()
        handles = [theirs.fileno()] if memory is None else [theirs.fileno(), memory]
        command = f"from groundling.decoding.worker_process import main; main{(*handles,)}"
        # One thread for each library: they would only reserve memory. No terminal: messages of decoders are bytes of
        # the picture's maker.
        alone = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
        passed = {name: os.environ[name] for name in PASSED if name in os.environ}  # no tokens
        path = os.pathsep.join(one for one in sys.path if one)
        self.process = subprocess.Popen(  # noqa: S603 (our own interpreter)
            [sys.executable, "-c", command],
            pass_fds=handles,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**passed, **alone, **KEPT, "PYTHONPATH": path},
        )
        theirs.close()
        self.memory = None if memory is None else SharedMemory(memory)
        order = Order(sys.path, limits.formats, limits.pixels, large, limits.seconds, limits.memory)
        with contextlib.suppress(OSError):
            self.line.send_bytes(json.dumps(order).encode())

    def alive(self) -> bool:
        return self.process.poll() is None

    def one(self, data: bytes, work: Work | None) -> Decoded:
        """What `work` makes of the bytes of a picture. Raises PictureError."""
        try:
            self.line.send_bytes(ONE + said(work))
            self.line.send_bytes(data)
            reply = self._reply()
        except (OSError, EOFError):
            raise Died(self._why()) from None
        return read_one(reply)

    def files(self, files: Files, work: Work) -> list[Decoded | PictureError] | None:
        """What `work` makes of the first of these files, of one or more of them: of as many as fit into its memory.

        None where there is no memory that both can see.
        """
        if self.memory is None:
            return None
        self.memory.begun = 0
        try:
            self.line.send_bytes(MANY + said(work))
            self.line.send_bytes(json.dumps([[str(path.absolute()), key.hex()] for path, key in files]).encode())
            reply = self._reply_of_many(self.memory, len(files))
        except (OSError, EOFError):
            raise self._at(Died(self._why()), len(files)) from None
        except Died as died:
            raise self._at(died, len(files)) from None
        return read_many(reply, self.memory, len(files))

    def _at(self, died: Died, count: int) -> Died:
        """The same, with the picture that the process was at."""
        begun = 0 if self.memory is None else self.memory.begun
        died.at = min(max(begun, 1), count) - 1
        return died

    def _reply(self) -> bytes:
        self._begins()
        deadline, brisk = time.monotonic() + self.limits.patience, self.limits.brisk
        before = 0.0 if brisk is None else self._computed()
        while brisk is not None and not self.slow and not self.line.poll(brisk) and time.monotonic() < deadline:
            if self._computed() - before >= brisk:
                self.slow = self._behind(LAST)
                break
        self._wait(deadline)
        return self.line.recv_bytes()

    def _reply_of_many(self, memory: SharedMemory, count: int) -> bytes:
        """Each picture has as much time as one that is asked for alone."""
        self._begins()
        now = time.monotonic()
        begun, deadline, last = 0, now + self.limits.patience, now + count * self.limits.patience
        while not self.line.poll(min(LOOK, self.limits.patience)):
            now = time.monotonic()
            if memory.begun != begun:
                begun, deadline = memory.begun, now + self.limits.patience
            if now > min(deadline, last):
                self._wait(now)
        return self.line.recv_bytes()

    def _begins(self) -> None:
        self._wait(time.monotonic() + self.limits.patience)  # until it has all it needs: a new one loads modules
        self.line.recv_bytes()

    def _wait(self, deadline: float) -> None:
        if not self.line.poll(max(0.0, deadline - time.monotonic())):
            self.end()
            raise Died(f"takes longer than {self.limits.patience:g} seconds to decode")

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
