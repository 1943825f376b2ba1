"""Whoever opens an index while another process brings it up to date gets the old one or the new one, always."""

import os
import subprocess
import sys
import time
from pathlib import Path

import colours
import numpy as np
import pytest
from colours import Toy, paint, paint_many

import groundling
from groundling.errors import UserError
from groundling.search import Index, index_pictures, manifest
from groundling.search import index as indexes

pytest.importorskip("faiss")

toy = colours.toy  # a model that knows colours

SEEN = 25  # different indexes that a reader meets; a tenth of a second each
WRITER = """
import sys
from pathlib import Path
from colours import Toy, paint
from groundling.search import index_request, indexing
photos, out, stop = Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3])
index_request.load = lambda *_, **__: Toy()
indexing.index_pictures(photos, out, "toy")
print("built", flush=True)
extra = photos / "extra.png"
while not stop.exists():  # a picture more and then one less: each index has files of other names
    extra.unlink() if extra.exists() else paint(extra, (1, 2, 3))
    indexing.index_pictures(None, out, update=True)
"""


@pytest.fixture
def updated(tmp_path: Path) -> "subprocess.Popen[str]":
    """A process that brings tmp_path/index up to date again and again."""
    paint_many(tmp_path / "photos", 6)
    here = Path(__file__).parent
    paths = (Path(groundling.__file__).parent.parent, here, here.parent)
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, tmp_path / "photos", tmp_path / "index", tmp_path / "stop"],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "OMP_NUM_THREADS": "1"},
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "built\n"
    return process


def test_every_open_during_updates_sees_a_whole_index(updated: "subprocess.Popen[str]", tmp_path: Path) -> None:
    seen: dict[str, int] = {}
    deadline = time.monotonic() + 120
    while len(seen) < SEEN:
        assert updated.poll() is None
        assert time.monotonic() < deadline
        index = Index.open(tmp_path / "index")
        seen[index.manifest.entries.name] = len(index)
        rows = np.arange(len(index), dtype=np.int64)
        assert index.store.vectors(rows).shape == (len(index), 8) == (index.manifest.count, 8)
    (tmp_path / "stop").touch()
    assert updated.wait(60) == 0
    assert set(seen.values()) == {6, 7}


def test_without_a_second_look_an_open_would_fail(toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files of the manifest that was read are gone: a new one is there, which is read instead."""
    paint_many(tmp_path / "photos", 6)
    out = tmp_path / "index"
    index_pictures(tmp_path / "photos", out, "toy")
    before = manifest.read(out)
    paint(tmp_path / "photos" / "more.png", (1, 2, 3))
    index_pictures(None, out, update=True)
    stale = [before]
    monkeypatch.setattr(manifest, "read", lambda folder, real=manifest.read: stale.pop() if stale else real(folder))
    assert len(Index.open(out)) == 7
    monkeypatch.setattr(manifest, "read", lambda _: before)  # which stays as it is: then it is damaged indeed
    with pytest.raises(UserError, match="no such file; the index is not whole"):
        Index.open(out)


def test_an_index_that_never_holds_still_is_said_in_one_sentence(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paint_many(tmp_path / "photos", 2)
    index_pictures(tmp_path / "photos", tmp_path / "index", "toy")
    whole = manifest.read(tmp_path / "index")
    monkeypatch.setattr(indexes, "TRIES", 3)
    monkeypatch.setattr(manifest, "read", lambda _: whole.model_copy(update={"groundling": str(time.monotonic_ns())}))
    monkeypatch.setattr(manifest, "verify", lambda *_: fails())
    with pytest.raises(UserError, match="changed faster than it can be read"):
        Index.open(tmp_path / "index")


def fails() -> Path:
    raise UserError("gone")
