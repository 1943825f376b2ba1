"""Pairs of open_clip, and pairs whose text encoder is M-CLIP's, are teachers like any other."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import groundling
from conftest import ENGLISH, GERMAN
from groundling.files import read_json
from groundling.model import Model
from open_clip_folders import save_open_clip
from pretrained_folders import save_m_clip, save_pair

pytest.importorskip("transformers")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDLING_CACHE", str(tmp_path / "cache"))


def write_pairs(path: Path) -> Path:
    draw, lines = np.random.default_rng(1), ["en\tde"]
    for _ in range(400):
        chosen = draw.choice(len(ENGLISH), 3, replace=False)
        lines.append(f"{' '.join(ENGLISH[at] for at in chosen)}\t{' '.join(GERMAN[at] for at in chosen)}")
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("student", ["encoder", "own", "own:full"])
@pytest.mark.parametrize("kind", ["open_clip", "M-CLIP"])
def test_held_out_agreement_rises_and_the_run_needs_the_pair_no_more(kind: str, student: str, tmp_path: Path) -> None:
    texts, options = [" ".join(ENGLISH[:3]), "dog"], dict[str, Any]()
    if kind == "open_clip":
        pair = save_open_clip(tmp_path / "pair")
    else:
        pair = save_pair(tmp_path / "pair", "CLIP", ENGLISH)
        options["text"] = str(save_m_clip(tmp_path / "text", [*ENGLISH, *GERMAN]))
    old = Model.load(pair, "cpu", options.get("text")).encode_text(texts, "en")
    options |= {"steps": 150, "learning_rate": 5e-3, "device": "cpu", "show_progress": False, "student": student}
    run = groundling.teach(pair, "de", write_pairs(tmp_path / "pairs.tsv"), tmp_path / "run", **options)
    shutil.rmtree(pair)
    shutil.rmtree(tmp_path / "text", ignore_errors=True)
    told = read_json(run.folder / "taught.json")
    assert told["after"]["matching"]["to_known"] > told["before"]["matching"]["to_known"] + 15
    model = Model.load(run, "cpu")
    now = model.encode_text(texts, "en")
    if student == "encoder":
        np.testing.assert_array_equal(now, old)
    else:
        assert told["old_languages_cosine"] > 0.8
    seen = model.encode_pictures([np.full((40, 50, 3), 200, dtype=np.uint8)])
    assert seen.shape == (1, 8)
