"""What all tests of the command line share: calling a command, and a folder of one's own to call it in."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import groundling
from conftest import make_world
from groundling import progress
from groundling.cli import main
from groundling.corpus import storage


class Said(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.err
        return json.loads(self.out)


def call(*arguments: object) -> Said:
    """`groundling ARGUMENTS` in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as stop:
        main([str(argument) for argument in arguments])
    return Said(stop.value.code or 0, out.getvalue(), err.getvalue())  # type: ignore[arg-type]


def child(code: str, *arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """The same in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(Path(groundling.__file__).parent.parent)}
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, env=environment, text=True, timeout=60, **options)


def assert_one_sentence(said: Said, words: str) -> None:
    assert said.code == 2, said
    assert said.out == ""
    assert said.err.startswith("groundling: ")
    assert said.err.count("\n") == 1, said.err
    assert said.err.endswith("\n")
    assert "Traceback" not in said.err
    assert words in said.err


@pytest.fixture(autouse=True)
def own_ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Each test in a folder of its own, with a cache of its own and no data sets."""
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("GROUNDLING_DATA", raising=False)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    progress.show(False)


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def world_files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, world = tmp_path_factory.mktemp("world"), make_world()
    storage.save(world.corpus, folder / "corpus")
    np.save(folder / "features.npy", world.features)
    (folder / "names.txt").write_text("".join(f"{name}\n" for name in world.corpus.pictures))
    return folder


@pytest.fixture
def train_world(world_files: Path) -> list[str]:
    """`train` on the world, in no time."""
    settings = [
        f"features.array={world_files / 'features.npy'}",
        f"features.names={world_files / 'names.txt'}",
        *("system.dimensions=8", "system.word_dimensions=8", "text.minimum_count=1"),
        *("training.batch_size=16", "training.maximum_steps=10"),
    ]
    assigned = [part for setting in settings for part in ("--set", setting)]
    return ["train", "--corpus", str(world_files / "corpus"), "--system", "lessons", *assigned]
