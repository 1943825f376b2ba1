"""The figure of what systems cost shows what their tables have."""

import json
from pathlib import Path

import pytest

RESULTS = Path(__file__).parents[2] / "docs" / "results"
POINTS = json.loads((RESULTS / "costs.json").read_text(encoding="utf-8"))["points"]


@pytest.mark.parametrize("point", POINTS, ids=lambda point: point["name"])
def test_a_point_is_that_of_its_table(point: dict[str, float | str]) -> None:
    told = json.loads((RESULTS / f"{point['table']}.json").read_text(encoding="utf-8"))
    row = next(one for one in told["rows"] if one["name"] == point["row"])
    mean = row["columns"].get("mean") or row["columns"]["A"]
    assert point["mR"] == mean["mean"]
    if row["parameters"]:
        assert point["parameters"] == row["parameters"]["all"]
    if row.get("seconds") is not None:
        assert point["seconds"] == row["seconds"]
    for figure in ("parameters", "seconds"):
        assert str(point["name"]) in (RESULTS / f"costs-{figure}.svg").read_text(encoding="utf-8")
