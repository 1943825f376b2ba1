"""An exported model at work, as the commands use it, where torch cannot be imported at all."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import exported
import numpy as np
import pytest
from exported import small_backbone_known

import groundling
from groundling.checking.checker import Checker
from groundling.run import Run
from groundling.search import Index, index_pictures

pytest.importorskip("faiss")
pytest.importorskip("fastapi")
pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

import httpx

seeing, photos = exported.seeing, exported.photos

# An import of what is None fails, so that a command which gets to its end has asked for none of them.
WITHOUT = """
import sys
for name in ("torch", "transformers", "onnx", "onnxscript"):
    sys.modules[name] = None
from groundling.cli import main
main(["--quiet", *sys.argv[1:]])
"""


def without_torch(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WITHOUT, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(Path(groundling.__file__).parent.parent)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


@contextmanager
def serving(*arguments: object) -> Iterator[httpx.Client]:
    process = without_torch("serve", *arguments, "--port", 0, "--json")
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        with httpx.Client(base_url=json.loads(line)["url"], timeout=30, trust_env=False) as client:
            yield client
        process.send_signal(signal.SIGTERM)
        assert process.communicate(timeout=30) == ("", "")
        assert process.returncode == 0
    finally:
        process.kill()
        process.communicate()


def told(process: subprocess.Popen[str]) -> Any:
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    return json.loads(out)


def test_index_check_and_serve_need_no_torch(seeing: Run, photos: Path, tmp_path: Path) -> None:
    model, index = seeing.folder.parent / "exported", tmp_path / "index"
    assert told(without_torch("index", photos, "--model", model, "--out", index, "--json"))["count"] == 12
    sentence = {"text": "hund katze", "language": "de"}
    asked = ("check", photos / "3.png", "hund katze", "--language", "de", "--model", model, "--judge", "--json")
    checked = told(without_torch(*asked))
    with small_backbone_known(), serving(index, "--check", model) as client:
        by_run = Index.open(index, model=str(seeing.folder))
        picture = (photos / "3.png").read_bytes()
        like = client.post("/similar", params={"k": 5}, content=picture, headers={"Content-Type": "image/png"})
        same(like.json(), by_run.like(photos / "3.png", k=5))
        words = client.get("/search", params={"q": "katze", "language": "de", "k": 12})
        same(words.json(), by_run.search("katze", k=12, language="de"))
        row = by_run.entries.table["name"].to_pylist().index("3.png")
        said = client.get("/check", params={"id": row, **sentence}).json()
        expected = Checker.load(seeing.folder, "cpu").check(photos / "3.png", sentence["text"], "de")
        for one in (said, checked):
            assert one["verdict"] == expected.label
            assert one["probabilities"] == pytest.approx(expected.probabilities, abs=1e-4)


def same(answer: Any, found: list[Any]) -> None:
    assert [one["name"] for one in answer["results"]] == [one.path for one in found]
    scores = np.array([one["score"] for one in answer["results"]])
    assert np.abs(scores - [one.score for one in found]).max() < 1e-5


def test_an_index_of_the_run_is_served_with_its_export(seeing: Run, photos: Path, tmp_path: Path) -> None:
    with small_backbone_known():
        index_pictures(photos, tmp_path / "index", str(seeing.folder))
    model = seeing.folder.parent / "exported"
    with serving(tmp_path / "index", "--model", model) as client:
        assert client.get("/about").json()["pictures"] == 12
        found = client.get("/search", params={"q": "dog", "language": "en", "k": 4}).json()
    same(found, Index.open(tmp_path / "index", model=str(model)).search("dog", k=4, language="en"))
