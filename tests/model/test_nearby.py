"""Models that are there, for who does not name one."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from groundling import recipes
from groundling.errors import UserError
from groundling.files import write_json
from groundling.model import nearby
from groundling.model.nearby import best_model, nearby_models


@pytest.fixture(autouse=True)
def empty_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path


def run(folder: Path, corpus: str, languages: list[str], made: int = 1, **features: Any) -> None:
    folder.mkdir(parents=True)
    write_json(folder / "recipe.json", {"corpus": {"name": corpus}, "features": features, "system": {"name": "vse"}})
    write_json(folder / "run.json", {"languages": languages})
    (folder / "best.safetensors").write_bytes(b"")
    os.utime(folder / "best.safetensors", (made, made))


def exported(folder: Path, languages: list[str], **more: Any) -> None:
    folder.mkdir(parents=True)
    facts = {"kind": "groundling-onnx", "languages": languages, "dimensions": 8, "picture_dimensions": 8}
    write_json(folder / "manifest.json", {**facts, "similarity": "cosine", "backbone": {}, **more})


def test_photographs_before_drawings_then_more_languages_then_what_starts_faster(empty_place: Path) -> None:
    run(Path("runs/demo"), "emoji", ["en", "de", "fr", "cs"], made=9)
    run(Path("runs/old"), "f8k7", ["en", "de"], made=1)
    run(Path("runs/new"), "f8k7", ["en", "de"], made=2)
    exported(Path("runs/old.onnx"), ["en", "de"])
    run(empty_place / "cache" / "models" / "photos", "photos", ["en", "de", "it"])
    order = [Path(model.name).name for model in nearby_models()]
    assert order == ["photos", "old.onnx", "new", "old", "demo"]
    assert best_model().about.endswith("photos (3 languages)")
    assert nearby_models()[-1].about.endswith("demo (4 languages, trained on drawings)")


def test_what_cannot_look_at_files_or_is_not_whole_is_left_out() -> None:
    run(Path("runs/blind"), "f8k7", ["en"], array="features.npy")
    run(Path("runs/broken"), "f8k7", ["en"])
    Path("runs/broken/recipe.json").write_text("{")
    Path("runs/unfinished").mkdir()
    exported(Path("blind.onnx"), ["en"], backbone=None)
    exported(Path("judge.onnx"), ["en"], picture_dimensions=72)
    assert nearby_models() == []


def test_what_was_fetched_from_the_hub_counts_once_all_of_it_is_there(empty_place: Path) -> None:
    known = next(one for one in nearby.CATALOGUE if one.name == "clip-multilingual")
    for name in (known.pictures, str(known.text)):
        assert nearby_models() == []
        place = empty_place / "hub" / f"models--{name.replace('/', '--')}" / "snapshots" / "abc"
        place.mkdir(parents=True)
        (place / "config.json").write_text("{}")
    run(Path("runs/demo"), "emoji", ["en"])
    assert [model.name for model in nearby_models()] == ["clip-multilingual", "runs/demo"]


def test_where_nothing_is_the_sentence_names_what_there_could_be() -> None:
    with pytest.raises(UserError) as caught:
        best_model()
    said = str(caught.value)
    assert said.startswith("which model? None is in runs/ ")
    assert "--model clip-multilingual" in said
    assert "unpack the photo model of a release in" in said
    (named,) = re.findall(r"`groundling train (\S+) --data DIR`", said)
    assert named in recipes.builtin()  # it can be trained
    assert "`groundling demo`" in said
