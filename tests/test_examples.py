"""The examples run as they are, learn what they say, and stay short."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import groundling

EXAMPLES = Path(__file__).parents[1] / "examples"
SAID = {  # what each prints in the end; groups are percentages that must be above 80
    "train_on_own_captions": r"en: the right picture of 24 comes first for (\d+) % of captions\nReport: .*/report.html",
    "search_a_folder": r"a yellow ball: 0\.(\d+) yellow-ball-48.png(?s:.*)Kiste, blau: 0\.\d+ blue-box-48.png",
    "teach_a_language": r"German after: text→image R@1 (\d+) %(?s:.*)as before, bit for bit: True",
    "from_python": r"Text→image R@1: (\d+) % of 12(?s:.*)large-red-",
    "own_loss_and_encoder": r"Text→image R@1: (\d+) %, of 12 pictures",
    "check_captions": r"Right on (\d+) %(?s:.*)a ball. entailment, (?s:.*)is blue. contradiction, ",
}


def test_every_example_is_run_and_under_sixty_lines() -> None:
    files = {path.stem: len(path.read_text(encoding="utf-8").splitlines()) for path in EXAMPLES.glob("*.py")}
    assert files.keys() == SAID.keys()
    assert max(files.values()) < 60


@pytest.mark.parametrize("name", SAID)
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    source = str(Path(groundling.__file__).parent.parent)
    own = {"PYTHONPATH": source, "GROUNDLING_CACHE": str(tmp_path / "cache"), "TMPDIR": str(tmp_path)}
    said = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"],
        env={**os.environ, **own, "OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=600,
    )
    assert said.returncode == 0, said.stderr
    found = re.search(SAID[name], said.stdout)
    assert found, said.stdout
    assert all(float(percent) > 80 for percent in found.groups())
