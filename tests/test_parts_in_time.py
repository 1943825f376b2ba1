"""Parts of a benchmark: what is known is printed, whatever fails or hangs."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

CODE = """
import sys, time
from pathlib import Path
sys.path.insert(0, {benchmarks!r})
from parts_in_time import Parts
with Parts({limit}, True, Path({place!r})) as parts:
    parts.facts["cores"] = 16
    parts.run("first", lambda: 3.5)
    parts.run("second", lambda: 1 / 0)
    parts.run("third", lambda: {third} or 2.0)
    raise MemoryError("no room")
"""


@pytest.mark.parametrize(
    ("limit", "third", "failed"),
    [
        (60, "0", {"second": "ZeroDivisionError: division by zero", "after third": "MemoryError: no room"}),
        (1, "time.sleep(100)", {"second": "ZeroDivisionError: division by zero", "third": "the time is over"}),
    ],
)
def test_what_is_known_is_printed_whatever_happens(
    limit: int, third: str, failed: dict[str, str], tmp_path: Path
) -> None:
    place = tmp_path / "place"
    place.mkdir()
    benchmarks = str(Path(__file__).parents[1] / "benchmarks")
    code = CODE.format(benchmarks=benchmarks, limit=limit, place=str(place), third=third)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=50)
    found = json.loads(done.stdout)
    assert (found["cores"], found["first"], found["failed"]) == (16, 3.5, failed)
    assert found.get("third") == (2.0 if limit == 60 else None)
    assert set(found["parts"]["first"]) == {"seconds", "busy", "children_busy"}
    assert place.exists() == (limit == 60)  # who ends a process tidies up after it
