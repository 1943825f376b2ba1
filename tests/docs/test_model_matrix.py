"""The table of commands and types of models is what its JSON says, and nothing in it fails."""

import importlib
import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("transformers")
ROOT = Path(__file__).parents[2]
sys.path.append(str(ROOT / "benchmarks"))
model_matrix = importlib.import_module("model_matrix")
FOUND = json.loads((ROOT / "docs" / "model-matrix.json").read_text(encoding="utf-8"))


def test_the_page_is_made_of_its_json() -> None:
    assert (ROOT / "docs" / "model-matrix.md").read_text(encoding="utf-8") == model_matrix.page(FOUND)


def test_every_command_ran_or_was_refused_in_a_sentence() -> None:
    wanted = {*model_matrix.makers(), "open_clip"}
    assert {column["name"] for column in FOUND["models"]} == wanted
    for column in FOUND["models"]:
        assert len(column["cells"]) == 14
        for cell in column["cells"]:
            assert not cell["failed"], (column["name"], cell)
            of_any_shape = column["name"] == "siglip2_naflex" and cell["command"] in (
                "export --onnx",
                "export --immich",
            )
            assert bool(cell["refused"]) is of_any_shape, (column["name"], cell)


def test_what_fails_is_told_from_what_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert model_matrix.run("parameters", ["parameters", "no/such/model"]).refused.startswith("no/such/model: neither")
    monkeypatch.setattr(model_matrix, "called", lambda _: (1, "KeyError: 'name'"))
    assert model_matrix.run("parameters", []).failed == "exit code 1: KeyError: 'name'"
