"""Evaluations and tables of indexes with something missing inside: one sentence, never a KeyError."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

from conftest import make_recipe, make_world
from groundling import checksums
from groundling.errors import UserError
from groundling.evaluation.compare import compare
from groundling.evaluation.saved import evaluate_run
from groundling.run import Run
from groundling.search.entries import SCHEMA, Entries
from groundling.training import train


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Run:
    world = make_world()
    folder = tmp_path_factory.mktemp("cut") / "run"
    run = train(make_recipe(training={"maximum_steps": 20}), world, folder, device="cpu")
    evaluate_run(run.folder, device="cpu", dataset=world)
    (run.folder / checksums.FILE).unlink()  # as in runs of an older version
    return run


@pytest.mark.parametrize("missing", ["weights", "corpus", "settings", "en"])
def test_what_an_evaluation_was_made_from_may_be_cut(evaluated: Run, missing: str) -> None:
    whole = evaluated.evaluation_file.read_text()
    cut = json.loads(whole)
    (cut["made_from"] if missing != "en" else cut["made_from"]["corpus"]).pop(missing)
    evaluated.evaluation_file.write_text(json.dumps(cut))
    try:
        with pytest.raises(UserError, match=r"damaged|not tested on the same en"):
            compare(evaluated, evaluated)
    finally:
        evaluated.evaluation_file.write_text(whole)
    compare(evaluated, evaluated)


def test_a_name_that_is_no_text_is_noticed_when_an_index_is_opened(tmp_path: Path) -> None:
    row = {"name": "a.jpg", "language": "", "size": 1, "modified": 1, "digest": "0" * 64, "taken": ""}
    table = pa.Table.from_pylist([row], schema=SCHEMA)
    Entries(table).save(tmp_path / "entries.parquet")
    assert len(Entries.load(tmp_path / "entries.parquet")) == 1
    broken = pa.array([b"\xff\xfe"], pa.binary()).view(pa.string())
    Entries(table.set_column(0, "name", broken)).save(tmp_path / "entries.parquet")
    with pytest.raises(UserError, match="damaged"):
        Entries.load(tmp_path / "entries.parquet")
