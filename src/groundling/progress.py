"""Progress bars on standard error: a live bar with the time left on a terminal, a line now and then elsewhere."""

import sys
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from typing import Any, Protocol

from groundling.printable import printable


class Bar(Protocol):
    """What a long job tells its watcher: how many units are done, and a few words about how it goes."""

    def advance(self, units: int = 1, note: str = "") -> None: ...


class _Silent:
    def advance(self, units: int = 1, note: str = "") -> None:
        pass


class _Lines:
    """For logs: one line every few seconds, never a carriage return."""

    def __init__(self, title: str, total: int | None, done: int, every: float = 15.0) -> None:
        self.title, self.total, self.before, self.every = title, total, done, every
        self.done, self.start, self.last = done, time.monotonic(), time.monotonic()

    def advance(self, units: int = 1, note: str = "") -> None:
        self.done += units
        now = time.monotonic()
        if now - self.last >= self.every:
            self.last = now
            print(f"{self.title}: {self.done}{self.left(now)} {note}".rstrip(), file=sys.stderr)

    def left(self, now: float) -> str:
        if self.total is None:
            return ""
        seconds = (now - self.start) / max(self.done - self.before, 1) * (self.total - self.done)
        return f"/{self.total}, {seconds:.0f} s left"


_shown = False
_busy = False


def notice(sentence: str) -> None:
    """A line that must be seen, on standard error, whether progress is shown or not."""
    print(f"groundling: {printable(sentence)}", file=sys.stderr)


def show(enabled: bool) -> None:
    """The command line turns progress on; the library stays silent by default."""
    global _shown
    _shown = enabled


def collect(under_way: "dict[Future[Any], int]", progress: Bar) -> None:
    """Wait for the next of some portions of work and their units; what went wrong in a thread goes wrong here."""
    for future in wait(under_way, return_when=FIRST_COMPLETED).done:
        progress.advance(under_way.pop(future))
        future.result()


@contextmanager
def bar(title: str, total: int | None, done: int = 0) -> Iterator[Bar]:
    """A progress bar for `total` units (None: nobody knows), `done` of which were done before (a resumed job).

    A bar inside another is silent: the outer job is the one to watch.
    """
    global _busy
    if not _shown or _busy:
        yield _Silent()
        return
    _busy = True
    try:
        with _visible(title, total, done) as visible:
            yield visible
    finally:
        _busy = False


@contextmanager
def _visible(title: str, total: int | None, done: int) -> Iterator[Bar]:
    if not sys.stderr.isatty():
        yield _Lines(title, total, done)
    else:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[note]}"),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task(title, total=total, completed=done, note="")

            class _Live:
                def advance(self, units: int = 1, note: str = "") -> None:
                    progress.advance(task, units)
                    if note:
                        progress.update(task, note=note)

            yield _Live()
