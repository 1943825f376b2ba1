"""Sentences for a user's mistakes."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from groundling.cli import with_addresses
from groundling.errors import did_you_mean


def test_only_what_is_alike_is_offered() -> None:
    known = ["lessons", "liwe", "polyglot", *(f"system{number}" for number in range(20))]
    assert did_you_mean("lesons", known) == ' (did you mean "lessons"?)'
    assert did_you_mean("polyglott", known) == ' (did you mean "polyglot"?)'
    assert did_you_mean("translator", known) == ""
    assert did_you_mean("logistic", [*known, "static"]) == ""  # 0.67 alike, and something else


def test_an_address_is_told_as_it_was_given() -> None:
    sentence = "http:/photos.example/a: no such folder of pictures"
    given = ["index", "http://photos.example/a", "--out", "x"]
    assert with_addresses(sentence, given) == "http://photos.example/a: no such folder of pictures"
    assert with_addresses("x: no such file", given) == "x: no such file"


WRITES = """
import sys, time
from pathlib import Path
from groundling.cli import stop_when_asked
from groundling.files import atomic_path
stop_when_asked()
with atomic_path(Path(sys.argv[1]) / "checkpoint.safetensors") as temporary:
    temporary.write_bytes(bytes(1_000_000))
    print("begun", flush=True)
    time.sleep(60)
"""


def test_who_is_told_to_end_leaves_nothing_half_written(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", WRITES, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout.readline() == b"begun\n"
        assert len(list(tmp_path.iterdir())) == 1
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=30) == 143
    assert list(tmp_path.iterdir()) == []
