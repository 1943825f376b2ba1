"""Runs that `groundling compact` has made smaller, exported: still the vectors of the run they came from."""

from pathlib import Path

import numpy as np
import pytest
from exported import ASKED, KINDS, languages_for, make_model, save

from conftest import make_recipe, make_world
from groundling.export import OnnxModel
from groundling.export.write import export_run
from groundling.model import Model
from groundling.training.compact import compact

pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")


@pytest.mark.parametrize("kind", ["a branch for each language", "the same, with masks"])
def test_a_compact_run_keeps_its_vectors(kind: str, tmp_path: Path) -> None:
    world = make_world()
    recipe = make_recipe(features={"array": "features.npy", "names": "names.txt"})
    run = save(make_model(KINDS[kind], world.corpus, recipe), tmp_path / "run", ["de", "en"])
    compact(run.folder, tmp_path / "small")
    export_run(tmp_path / "small", tmp_path / "exported")
    whole, small = Model.load(run.folder, "cpu"), OnnxModel.load(tmp_path / "exported")
    codes = languages_for(ASKED)
    assert np.abs(small.encode_text(ASKED, codes) - whole.encode_text(ASKED, codes)).max() < 1e-5
    assert np.abs(small.encode_features(world.features) - whole.encode_features(world.features)).max() < 1e-5
