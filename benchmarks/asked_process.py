"""A search in a process of its own, so that its memory is its own, which is asked by number: both ends of that."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Answer = tuple[float, float, list[int]]  # seconds by the clock and of computing, and the rows found


class AskedProcess:
    """A script of this folder that calls `answer_all`; `facts` is what it says when it is ready."""

    def __init__(self, script: object, *arguments: object) -> None:
        command = [sys.executable, str(Path(__file__).with_name(str(script))), *map(str, arguments)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.facts = self._said()

    def _said(self) -> Any:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.process.args}: ended with {self.process.wait()}")
        return json.loads(line)

    def ask(self, place: int) -> Answer:
        """The query of this number."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{place}\n")
        self.process.stdin.flush()
        return tuple(self._said())

    def end(self) -> None:
        self.process.communicate()


def answer_all(facts: dict[str, Any], search: Callable[[int], Sequence[int]]) -> None:
    """Says the facts, and then to each number that comes what `search` finds, and how long it took."""
    print(json.dumps(facts), flush=True)
    for line in sys.stdin:
        wall, computing = time.perf_counter(), time.process_time()
        found = search(int(line))
        taken = time.perf_counter() - wall, time.process_time() - computing
        print(json.dumps([*taken, [int(row) for row in found]]), flush=True)
