"""groundling models: a table for people, JSON for programs, and nothing fetched."""

import json
from pathlib import Path

import commands
import pytest
from commands import call

from groundling.files import write_json
from groundling.model.catalogue import CATALOGUE

own_ground = commands.own_ground


def test_the_table_names_every_model(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundling.hub.download", None)  # called, it would be an error
    said = call("models")
    assert said.code == 0
    for known in CATALOGUE:
        assert f"{known.name}: {known.pictures}" in said.out
    assert "jina-clip-v2: cannot be loaded, for it comes with code of its own" in said.out
    rows = json.loads(call("models", "--json").out)
    assert [row["name"] for row in rows] == [known.name for known in CATALOGUE]
    assert rows[0]["source"] == "https://huggingface.co/google/siglip2-base-patch16-224"


def test_models_that_are_here_come_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "cache"))
    place = tmp_path / "cache" / "models" / "photos.onnx"
    assert call("models").out.startswith("No model of photographs is here yet. One that needs no hub: unpack the photo")
    place.mkdir(parents=True)
    facts = {"kind": "groundling-onnx", "languages": ["en", "de"], "dimensions": 8, "picture_dimensions": 8}
    write_json(place / "manifest.json", {**facts, "similarity": "cosine", "backbone": {}})
    said = call("models").out
    assert said.startswith("Here, the best for photographs first")
    assert f"{place} (2 languages)" in said
