"""The most memory that a process had, looked at while a benchmark runs. Linux only."""

import threading
import time
from pathlib import Path

INTERVAL = 0.05  # seconds between two looks


class PeakMemory(threading.Thread):
    """Gigabytes at most: `own` without pages of mapped files, which the system takes back when it needs them.

    `all` has these, too. `process` is its number; this one when left out.
    """

    def __init__(self, process: int | str = "self") -> None:
        super().__init__(daemon=True)
        self.status = Path(f"/proc/{process}/status")
        self.own = self.all = 0.0
        self.start()

    def look(self) -> None:
        said = self.status.read_text() if self.status.exists() else ""
        if "RssAnon:" not in said:  # another process that has ended
            return
        self.own, self.all = (
            max(most, int(said.split(f"{name}:")[1].split()[0]) / 2**20)
            for most, name in ((self.own, "RssAnon"), (self.all, "VmHWM"))
        )

    def run(self) -> None:
        while True:
            self.look()
            time.sleep(INTERVAL)

    def so_far(self) -> float:
        self.look()
        return self.own

    def since_last(self) -> float:
        """`own` since this was asked last."""
        self.look()
        most, self.own = self.own, 0.0
        return round(most, 2)
