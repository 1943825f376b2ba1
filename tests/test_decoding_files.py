"""The benchmark of decoding from files: what it makes of its turns, and that it runs."""

import json
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))

import decoding_files
from decoding_files import LOADER, OURS, POOL, Turn, told


def test_what_is_told_of_three_rounds() -> None:
    """100 pictures; the ratios of each round are taken before their median."""
    turns = {
        OURS: [Turn(1.0, 0.01, 0.1), Turn(2.0, 0.02, 0.1), Turn(4.0, 0.03, 0.1)],
        POOL: [Turn(2.0, 0.2, 0.1), Turn(2.0, 0.2, 0.1), Turn(12.0, 0.2, 0.1)],
        LOADER: [Turn(0.5, 0.2, 0.1), Turn(2.0, 0.2, 0.1), Turn(1.0, 0.2, 0.1)],
    }
    found = told(turns, 100)
    assert found[OURS] == {"a_second": 50.0, "parent_ms": 0.2, "children_ms": 1.0}
    assert (found[POOL]["ratio"], found[LOADER]["ratio"]) == (2.0, 0.5)
    assert found[POOL]["ratio_of_cores"] == 2.5  # 0.3 / 0.12


def test_all_ways_give_the_same_pictures() -> None:
    """Which the command checks before it begins to measure."""
    command = [sys.executable, decoding_files.__file__, "--files", "70", "--rounds", "1", "--json"]
    found = json.loads(subprocess.run(command, capture_output=True, check=True, timeout=100).stdout)
    assert found["files"] == 70
    assert all(found[name]["a_second"] > 0 for name in (OURS, POOL, LOADER))
