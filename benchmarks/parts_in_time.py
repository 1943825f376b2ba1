"""Parts of a benchmark that are measured one after another, and told whatever happens: one that fails does not take the
others with it, and when the time is over what is known is printed."""

import json
import os
import shutil
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any


def seconds_of_children() -> float:
    """Of computing that processes which this one started, and which are there, have had."""
    total = 0
    for task in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            for child in task.read_text().split():
                user, system = Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[11:13]
                total += int(user) + int(system)
    return total / os.sysconf("SC_CLK_TCK")


class Parts:
    """Args:
    limit: seconds, from here on, after which the process prints what it has and ends.
    as_json: print one line of JSON, else a table.
    place: a folder that is then removed.
    """

    def __init__(self, limit: float, as_json: bool, place: Path) -> None:
        self.facts: dict[str, Any] = {}
        self.rates: dict[str, float] = {}
        self.parts: dict[str, dict[str, float]] = {}
        self.failed: dict[str, str] = {}
        self.limit, self.as_json, self.place = limit, as_json, place
        self.started, self.now = time.monotonic(), "begin"
        self._printing = threading.Lock()

    def run(self, name: str, measure: Callable[[], float]) -> None:
        """Measure something that says how many pictures it does in a second."""
        self.now, computed, others = name, time.process_time(), seconds_of_children()
        started = time.perf_counter()
        try:
            rate = measure()
        except Exception as error:  # told in the result
            self.failed[name] = f"{type(error).__name__}: {error}"[:500]
            print(f"{name}: {self.failed[name]}", file=sys.stderr, flush=True)
            return
        seconds = time.perf_counter() - started
        busy = (time.process_time() - computed) / seconds
        children = max(0.0, seconds_of_children() - others) / seconds  # those that have ended are not seen any more
        self.rates[name] = rate
        self.parts[name] = {"seconds": round(seconds, 2), "busy": round(busy, 2), "children_busy": round(children, 2)}
        print(f"{name}: {rate:.1f} a second", file=sys.stderr, flush=True)

    def seconds(self, name: str) -> float:
        """That a part took."""
        return self.parts[name]["seconds"]

    def __enter__(self) -> "Parts":
        self._timer = threading.Timer(self.limit, self._end, ["the time is over"])
        self._timer.daemon = True
        self._timer.start()
        signal.signal(signal.SIGTERM, self._told_to_end)
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> bool:
        self._timer.cancel()
        if error is not None:
            traceback.print_exception(error)
            self.failed[f"after {self.now}"] = f"{type(error).__name__}: {error}"[:500]
        self.print()
        return isinstance(error, Exception)  # which was told

    def _told_to_end(self, number: int, frame: FrameType | None) -> None:
        self._end("it was told to end")

    def _end(self, why: str) -> None:
        self.failed[self.now] = why
        self.print()
        shutil.rmtree(self.place, ignore_errors=True)
        os._exit(0)  # whatever hangs

    def print(self) -> None:
        """Once."""
        if not self._printing.acquire(blocking=False):
            return
        whole = {**self.facts, **self.rates, "parts": self.parts, "failed": self.failed}
        whole["seconds"] = round(time.monotonic() - self.started, 1)
        if self.as_json:
            print(json.dumps(whole), flush=True)
            return
        for name, value in {**self.facts, **self.rates}.items():
            shown = f"{value:12.2f}" if isinstance(value, float) else f"{value!s:>12}"
            more = self.parts.get(name, {})
            cores = f"  {more['busy']:.2f} cores, its children {more['children_busy']:.2f}" if more else ""
            print(f"{name:32} {shown}{cores}")
        for name, why in self.failed.items():
            print(f"{name:32} failed: {why}")
        sys.stdout.flush()
