"""Kill −9 at any moment, disks that are full, and two processes at once, for every command that writes a folder."""

import os
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from torture.commands import Command, leftovers
from torture.results import Row
from torture.workshop import Said, Workshop

SMALL_FILES = (0, 300, 5_000, 60_000)  # bytes that a file may have, where nothing can be mounted
SMALL_DISKS = (4, 40, 200)  # kilobytes that are left on a disk


def reference(shop: Workshop, command: Command) -> tuple[str, float]:
    """What the command leaves when nothing happens, and how many seconds it takes."""
    with tempfile.TemporaryDirectory(dir=shop.folder) as place:
        started = time.monotonic()
        said = command.call(shop, Path(place) / "out")
        if said.code != 0:
            raise RuntimeError(said.err)
        return command.content(Path(place) / "out"), time.monotonic() - started


def killed(shop: Workshop, name: str, command: Command, wanted: tuple[str, float], seed: int, seconds: float) -> Row:
    """Killed at a random moment, called again: it ends well, in the same content, and leaves nothing half-written."""
    row, chance = Row("kill −9", name), np.random.default_rng(seed)
    until, struck = time.monotonic() + seconds, 0
    while time.monotonic() < until or not row.tried:
        with tempfile.TemporaryDirectory(dir=shop.folder) as place:
            out = Path(place) / "out"
            process = command.start(shop, out)
            time.sleep(float(chance.uniform(0.3, 1.0)) * wanted[1])
            struck += process.poll() is None
            process.kill()
            process.communicate()
            row.count(_after(shop, command, wanted[0], out))
    row.note = f"{struck} while it ran"
    row.figures = {"struck": struck}
    return row


def _after(shop: Workshop, command: Command, wanted: str, out: Path) -> str | None:
    """What is wrong with what a killed command left, and with calling it again."""
    try:
        there = command.content(out) == wanted
    except Exception:  # not there, or not whole: it must say so itself
        there = False
    if not there:
        said = command.call(shop, out, again=True)
        if said.code != 0:
            return f"called again: {said.err.strip()[-200:]}"
        if command.content(out) != wanted:
            return "called again, it ended in other content"
    left = leftovers(out.parent)
    return f"left behind: {left[:3]}" if left and not there else None


def two_at_once(shop: Workshop, name: str, command: Command, wanted: str, seconds: float) -> Row:
    """Two processes into one folder: one writes it, whole; the other is refused in one sentence, or finds it made."""
    row, until = Row("two at once", name), time.monotonic() + seconds
    while time.monotonic() < until or not row.tried:
        with tempfile.TemporaryDirectory(dir=shop.folder) as place:
            out = Path(place) / "out"
            both = [command.start(shop, out) for _ in range(2)]
            said = []
            for process in both:
                text, error = process.communicate(timeout=300)
                said.append(Said(process.returncode, text, error))
            row.count(_of_two(command, wanted, out, said))
    return row


def _of_two(command: Command, wanted: str, out: Path, said: list[Said]) -> str | None:
    if all(one.code != 0 for one in said):
        return f"neither wrote it: {said[0].err.strip()[-150:]} / {said[1].err.strip()[-150:]}"
    for one in said:
        if one.code != 0 and (problem := one.sentence()) is not None:
            return problem
        if one.code != 0 and not any(words in one.err for words in command.refuses):
            return f"refused for another reason: {one.err.strip()[-200:]}"
    return None if command.content(out) == wanted else "a mixture of two"


def full(shop: Workshop, name: str, command: Command, wanted: str, seconds: float) -> Row:
    """No room: one sentence, nothing half-written, what was there is there; and with room it ends well."""
    row, until = Row("full disk", name), time.monotonic() + seconds
    for number, (how, disk) in enumerate(disks(shop)):
        if number > 1 and time.monotonic() > until:
            break
        with disk() as (place, options, empty):
            said = command.call(shop, place / "out", **options)
            problem = said.sentence() if said.code != 0 else None
            if problem is None and said.code != 0 and "no room is left" not in said.err:
                problem = f"another sentence: {said.err.strip()[-200:]}"
            if problem is None and (left := leftovers(place)):
                problem = f"left behind: {left[:3]}"
            empty()
            if problem is None and said.code != 0:
                after = command.call(shop, place / "out", again=True)
                problem = None if after.code == 0 else f"with room again: {after.err.strip()[-200:]}"
            if problem is None and command.content(place / "out") != wanted:
                problem = "other content"
            row.count(None if problem is None else f"{how}: {problem}")
    return row


Disk = Iterator[tuple[Path, dict[str, object], Callable[[], None]]]


def disks(shop: Workshop) -> Iterator[tuple[str, Callable[[], object]]]:
    """Small disks, where they can be mounted; files that get no larger, in any case."""
    for kilobytes in SMALL_DISKS if mounts(shop) else ():
        yield f"{kilobytes} kB left", lambda kilobytes=kilobytes: _mounted(shop, kilobytes)
    for size in SMALL_FILES:
        yield f"files of {size} bytes", lambda size=size: _limited(shop, size)


def mounts(shop: Workshop) -> bool:
    """Whether we may mount a disk in memory here."""
    try:
        with _mounted(shop, 1000):
            return True
    except (OSError, subprocess.CalledProcessError):
        return False


@contextmanager
def _mounted(shop: Workshop, kilobytes: int) -> Disk:
    """A disk in memory on which so much is left; `empty` makes room."""
    mount, unmount = shutil.which("mount"), shutil.which("umount")
    if mount is None or unmount is None or os.geteuid() != 0:
        raise OSError
    place = Path(tempfile.mkdtemp(dir=shop.folder))
    quiet: dict[str, Any] = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    try:
        subprocess.run([mount, "-t", "tmpfs", "-o", "size=64m", "tmpfs", place], **quiet)
        try:
            ballast = place / "ballast"
            free = os.statvfs(place)
            ballast.write_bytes(bytes(free.f_bavail * free.f_frsize - 1000 * kilobytes))
            yield place, {}, ballast.unlink
        finally:
            subprocess.run([unmount, "-l", place], **quiet)
    finally:
        place.rmdir()


@contextmanager
def _limited(shop: Workshop, size: int) -> Disk:
    """Files of a process get no larger than this; what it meets is what it meets of a full disk."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

    with tempfile.TemporaryDirectory(dir=shop.folder) as place:
        yield Path(place), {"preexec_fn": limit}, lambda: None
