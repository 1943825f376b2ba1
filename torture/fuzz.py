"""Mutated files for every reader: each is read, or refused in one sentence; never anything else, and never for long.

    python -m torture.fuzz FOLDER READER SEED SECONDS      # what `fuzzed` starts

Files are read in a process of their own, which says before each what it is about to read: if it dies or hangs, that is
known, counted, and another goes on with the next.
"""

import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path

import numpy as np

from groundling.errors import UserError
from torture import readers
from torture.mutation import mutated
from torture.results import Row
from torture.workshop import Workshop

MEMORY = 8 * 2**30  # bytes of address space, of which torch alone takes several billion
LONGEST = 20.0  # seconds of computing for one file
HANGS = 90.0  # seconds without a word


def main() -> None:
    folder, name, seed, seconds = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    reader = readers.readers(folder)[name]
    path = folder / reader.file
    whole = path.read_bytes()
    out = os.fdopen(os.dup(1), "w")  # readers may print
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    reader.read(folder)  # what is whole is read; and modules are loaded
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        out.write(f"{seed}\n")
        out.flush()
        path.unlink()
        path.write_bytes(mutated(whole, np.random.default_rng(seed)))
        problem = tried(reader, folder)
        if problem is not None:
            out.write(json.dumps(problem) + "\n")
        seed += 1
    out.write("end\n")
    out.flush()


def tried(reader: readers.Reader, folder: Path) -> str | None:
    """What is wrong with how a file was read; None where it was, or was refused in one sentence."""
    started = time.process_time()
    try:
        reader.vouch(folder)
        reader.read(folder)
    except UserError as error:
        if "\n" in str(error):
            return f"not one sentence: {str(error)[:200]!r}"
    except RecursionError as error:
        return f"RecursionError: {error}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]!r}"
    spent = time.process_time() - started
    return f"took {spent:.0f} seconds" if spent > LONGEST else None


def fuzzed(shop: Workshop, name: str, seed: int, seconds: float) -> Row:
    """A reader for some seconds, begun anew where it ended."""
    row = Row("mutated files", name)
    with tempfile.TemporaryDirectory(dir=shop.folder) as place:
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0 or not row.tried:
            folder = Path(place) / f"{seed}"
            readers.prepare(shop, folder)
            seed = _one_process(shop, folder, name, seed, max(left, 1.0), row)
    row.note = "; ".join(row.failures[:2])
    return row


def _one_process(shop: Workshop, folder: Path, name: str, seed: int, seconds: float, row: Row) -> int:
    """Until its time is over, or it dies; the seed of the next file."""
    command = [sys.executable, "-m", "torture.fuzz", str(folder), name, str(seed), str(seconds)]
    root = Path(__file__).parent.parent
    environment = {**shop.environment, "PYTHONPATH": os.pathsep.join([shop.environment["PYTHONPATH"], str(root)])}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    alarm = _Alarm(process)
    problem: str | None = None
    begun: int | None = None
    for line in process.stdout:
        alarm.heard()
        if line[0] == '"':
            problem = json.loads(line)
            continue
        if begun is not None:
            row.count(None if problem is None else f"seed {begun}: {problem}")
        begun, problem = (int(line), None) if line != "end\n" else (None, None)
    alarm.stop()
    with contextlib.suppress(ValueError):
        told = process.stderr.read() if process.stderr is not None else ""
    process.wait()
    if begun is None and process.returncode != 0:
        raise RuntimeError(f"{name} cannot be read as it is: {told[-500:]}")
    if begun is not None:
        how = "hung" if alarm.rang else f"died of signal {-process.returncode}"
        row.count(f"seed {begun}: {how} {told.strip()[-200:]!r}")
    return (begun if begun is not None else seed + row.tried) + 1


class _Alarm:
    """Kills a process that has not said anything for too long."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process, self.rang = process, False
        self.timer: threading.Timer | None = None
        self.heard()

    def heard(self) -> None:
        self.stop()
        self.timer = threading.Timer(HANGS, self._ring)
        self.timer.daemon = True
        self.timer.start()

    def stop(self) -> None:
        if self.timer is not None:
            self.timer.cancel()

    def _ring(self) -> None:
        self.rang = True
        self.process.kill()


if __name__ == "__main__":
    main()
