"""Several processes that answer at one address, each with a model of its own; one that dies is replaced.

They are forked before anything is loaded, and share the socket: the kernel gives each connection to one that waits.
"""

import os
import signal
import sys
import threading
import time
from dataclasses import dataclass

TOO_MANY_DEATHS, WITHIN = 5, 60.0  # seconds; what dies that often will not live the next time


@dataclass(frozen=True)
class Worker:
    """One of the processes, as it sees itself.

    Attributes:
        speaks: whether it tells the world that all is ready; one does, once.
    """

    speaks: bool = True
    pipe: int | None = None

    def ready(self) -> None:
        """Called when it listens: only then are others started, so that what is wrong is said once."""
        if self.pipe is not None:
            os.write(self.pipe, b"r")
            os.close(self.pipe)


def start(count: int) -> Worker:
    """Returns in each of so many processes. The one that called stays behind to watch them, and ends with them."""
    return Worker() if count == 1 else _Watch(count).run()


class _Watch:
    def __init__(self, count: int) -> None:
        self.count = count
        self.living: set[int] = set()
        self.deaths: list[float] = []
        self.stopping = False
        self.code = 0
        self.life = os.pipe()  # open as long as this process lives, however it ends

    def run(self) -> Worker:
        """A worker in the processes that are started; leaves the program in this one."""
        before = {one: signal.signal(one, self._stop) for one in (signal.SIGTERM, signal.SIGINT)}
        worker = self._start(speaks=True)
        while worker is None and len(self.living) < self.count and not self.stopping:
            worker = self._start(speaks=False)
        while worker is None:
            code = self._next_death()
            if self.stopping:
                if not self.living:
                    sys.exit(self.code)
            elif self._dies_too_often():
                print("groundling: the servers end again and again; see above", file=sys.stderr)
                self.code = abs(code) or 1
                self._stop()
                if not self.living:
                    sys.exit(self.code)
            else:
                worker = self._start(speaks=False)
        for one, handler in before.items():
            signal.signal(one, handler)
        return worker

    def _start(self, speaks: bool) -> Worker | None:
        """The worker in the new process; None in this one, when the other listens."""
        reading, writing = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        child = os.fork()
        if child == 0:
            os.close(reading)
            os.close(self.life[1])
            threading.Thread(target=_end_with, args=(self.life[0],), daemon=True).start()
            return Worker(speaks, writing)
        os.close(writing)
        self.living.add(child)
        listens = os.read(reading, 1)  # nothing, where it ends before it listens
        os.close(reading)
        if not listens and speaks and not self.stopping:
            sys.exit(self._next_death())  # it has said why
        return None

    def _next_death(self) -> int:
        """Waits for a process that ends, and gives its exit code."""
        child, status = os.wait()
        self.living.discard(child)
        self.deaths.append(time.monotonic())
        return os.waitstatus_to_exitcode(status)

    def _dies_too_often(self) -> bool:
        self.deaths = [moment for moment in self.deaths if time.monotonic() - moment < WITHIN]
        return len(self.deaths) >= TOO_MANY_DEATHS * self.count

    def _stop(self, *_: object) -> None:
        """Lets all finish what they have begun."""
        self.stopping = True
        for child in self.living:
            os.kill(child, signal.SIGTERM)


def _end_with(life: int) -> None:
    """Nobody is left to stop a server whose watcher was killed: it stops by itself."""
    os.read(life, 1)
    os.kill(os.getpid(), signal.SIGTERM)
