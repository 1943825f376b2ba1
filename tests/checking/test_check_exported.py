"""A run that judges pictures cell by cell, and its export: the same predictions, one by one and in a table."""

import csv
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

sys.path.append(str(Path(__file__).parent.parent / "export"))

import exported
from exported import ASKED, CELLS, run_that_sees, small_backbone_known

from groundling.checking.caption_table import check_table
from groundling.checking.checker import Checker
from groundling.errors import UserError
from groundling.evaluation.entailment_scores import measure_entailment
from groundling.export import OnnxModel
from groundling.export.write import export_run
from groundling.files import write_json
from groundling.model import Model
from groundling.search import index_pictures

pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

photos = exported.photos


@pytest.fixture(scope="module", autouse=True)
def backbone() -> Iterator[None]:
    with small_backbone_known():
        yield


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The run, and what was exported from it."""
    folder = tmp_path_factory.mktemp("cells")
    run = run_that_sees(folder / "run", CELLS, grid=3)
    tested = measure_entailment([0, 1, 2, 2], np.eye(3)[[0, 1, 2, 0]], ["en", "en", "de", "de"])
    write_json(run.evaluation_file, tested.to_json())
    export_run(run.folder, folder / "exported")
    return run.folder, folder / "exported"


def test_one_picture_and_one_text(both: tuple[Path, Path], photos: Path) -> None:
    theirs, ours = (Checker.load(folder, "cpu") for folder in both)
    assert ours.languages == theirs.languages == ["de", "en"]
    assert ours.accuracy == theirs.accuracy == {"de": 50, "en": 100}
    found = []
    for path in sorted(photos.iterdir())[:6]:
        for text in ("dog", "hund katze", "boat sun fish"):
            expected, said = (checker.check(path, text, "en") for checker in (theirs, ours))
            assert said.label == expected.label
            assert said.probabilities == pytest.approx(expected.probabilities, abs=1e-4)
            found.append(list(said.probabilities.values()))
    assert np.std(found, axis=0).max() > 1e-3  # or equality would mean nothing


def test_cells_and_what_is_seen_in_them(both: tuple[Path, Path]) -> None:
    model, ours = Model.load(both[0], "cpu"), OnnxModel.load(both[1])
    features = np.random.default_rng(0).standard_normal((5, model.features)).astype(np.float32)
    owners = np.arange(len(ASKED)) % 5
    said, expected = (one.judge_features(ASKED, features, "en", owners) for one in (ours, model))
    assert np.abs(said - expected).max() < 1e-5
    assert ours.manifest.picture_dimensions == 9 * 5 != ours.manifest.dimensions


def test_a_table(both: tuple[Path, Path], photos: Path, tmp_path: Path) -> None:
    """Several texts about one picture, which is looked at once."""
    with (tmp_path / "table.csv").open("w", newline="") as file:
        rows = [(f"{number % 4}.png", text, "en") for number, text in enumerate(ASKED)]
        csv.writer(file).writerows([("picture", "text", "language"), *rows])
    theirs, ours = (check_table(Checker.load(one, "cpu"), tmp_path / "table.csv", photos) for one in both)
    assert ours.counts() == theirs.counts()
    expected = {row.line: row for row in theirs.rows}
    for row in ours.rows:
        other = expected[row.line]
        assert row.problem == other.problem
        if row.answer is not None and other.answer is not None:
            assert row.answer.probabilities == pytest.approx(other.answer.probabilities, abs=1e-4)


def test_what_cannot_judge_or_find_says_so(both: tuple[Path, Path], photos: Path, tmp_path: Path) -> None:
    finder = Path(shutil.copytree(both[1], tmp_path / "finder"))
    facts = json.loads((finder / "manifest.json").read_text())
    del facts["checksum"]
    (finder / "manifest.json").write_text(json.dumps({**facts, "verdict": None}))
    with pytest.raises(UserError, match=r"finder: finds pictures and captions, but cannot judge"):
        Checker.load(finder)
    for folder in both:
        with pytest.raises(UserError, match="cell by cell"):
            index_pictures(photos, tmp_path / "index", str(folder))
    with pytest.raises(UserError, match=r"no model is there"):
        Checker.load(tmp_path)
