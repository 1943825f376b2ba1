"""Several processes of one command on this machine, which then train together; `torchrun` does so on many machines."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence


def launch(count: int, arguments: Sequence[str]) -> int:
    """`groundling ARGUMENTS` in so many processes; the exit code is that of the first one that fails, 0 if none does.

    Only the first process talks. Where one ends badly, or this one is told to end, all of them are ended.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    threads = max(1, (os.cpu_count() or count) // count)
    common = {
        **os.environ,
        "WORLD_SIZE": str(count),
        "LOCAL_WORLD_SIZE": str(count),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", str(threads)),
    }
    command = [sys.executable, "-m", "groundling", *arguments]
    children: list[subprocess.Popen[bytes]] = []
    told: list[int] = []  # to end: looked at where it can be, so that no process is lost that is just being started
    signal.signal(signal.SIGTERM, lambda number, _: told.append(number))
    try:
        for number in range(count):
            quiet = None if number == 0 else subprocess.DEVNULL
            place = {"RANK": str(number), "LOCAL_RANK": str(number)}
            child = subprocess.Popen(  # noqa: S603 (our own command with the user's arguments)
                command, env={**common, **place}, stdout=quiet, stderr=quiet
            )
            children.append(child)
        return _wait(children, told)
    finally:
        for child in children:
            child.terminate()
        for child in children:
            child.wait()


def _wait(children: Sequence["subprocess.Popen[bytes]"], told: Sequence[int]) -> int:
    while True:
        if told:
            return 128 + signal.SIGTERM
        codes = [child.poll() for child in children]
        if failed := [code for code in codes if code]:
            time.sleep(0.2)  # the first process may have the better sentence, and is about to say it
            return children[0].poll() or failed[0]
        if all(code == 0 for code in codes):
            return 0
        time.sleep(0.05)
