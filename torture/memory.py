"""Memory of a process and all that it has started, watched while something happens to it."""

import contextlib
import threading
from pathlib import Path

EVERY = 0.05  # seconds


class Watch:
    """Resident megabytes of a process and its children; `peak` is the most that was seen inside the block."""

    def __init__(self, process: int) -> None:
        self.process, self.peak = process, 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    @staticmethod
    def of_server(port: int) -> "Watch":
        """The process that listens at a port."""
        return Watch(_listener(port))

    def __enter__(self) -> "Watch":
        self.now()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(EVERY):
            self.now()

    def now(self) -> float:
        found = sum(_resident(one) for one in _family(self.process))
        self.peak = max(self.peak, found)
        return found


def _resident(process: int) -> float:
    with contextlib.suppress(OSError, IndexError, ValueError):
        status = Path(f"/proc/{process}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024
    return 0.0


def _family(process: int) -> list[int]:
    found = [process]
    for one in found:
        with contextlib.suppress(OSError):
            for path in Path(f"/proc/{one}/task").iterdir():
                with contextlib.suppress(OSError):
                    found += [int(child) for child in (path / "children").read_text().split()]
    return list(dict.fromkeys(found))


def _listener(port: int) -> int:
    """The process whose socket listens at a port of this machine."""
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    sockets = {f"socket:[{line[9]}]" for line in lines if line[3] == "0A" and int(line[1].split(":")[1], 16) == port}
    for path in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if str(path.readlink()) in sockets:
                return int(path.parts[2])
    raise RuntimeError(f"nobody listens at {port}")
