"""What the systems of F8K-7 cost and what they find: recall against parameters, and against seconds of training.

    python scripts/documentation/cost_figure.py --data DIR

Points are rows of docs/results that read all seven languages with one model. Parameters are those that a result notes;
where it notes none, the model is set up from its recipe (DIR holds f8k7/ and flickr8k/) and counted. Seconds are those
of a row's trainings, or, where only a sum was noted, the mean over all trainings of its table. Writes costs.json and
the two figures to docs/results.
"""

import argparse
from pathlib import Path
from typing import Any

from groundling.experiments.entry_data import entry_dataset
from groundling.experiments.table_entries import TableEntry, table_entries
from groundling.experiments.table_settings import TableSettings
from groundling.files import read_json, write_json, write_text
from groundling.recipes import read_table
from groundling.report.charts.named_line_chart import Mark, NamedLine, named_lines
from groundling.settings import check
from groundling.training.checkpoint import Progress
from groundling.training.facts import commit, facts
from groundling.training.planned import context_of, planned

RESULTS = Path(__file__).resolve().parents[2] / "docs" / "results"
#: How a system is called in the figure: the table and the row that it is.
POINTS = {
    "polyglot, tuned network": ("polyglot-f8k7/table", "picture network trained along"),
    "polyglot, twelve crops": ("polyglot-f8k7/table", "cached features of twelve crops"),
    "polyglot, cached features": ("polyglot-f8k7/table", "cached features"),
    "lessons + c2c": ("lessons-f8k7/seven", "seven languages + caption–caption"),
    "lessons": ("lessons-f8k7/seven", "one model, seven languages"),
    "S-LIWE": ("liwe-f8k7/every-other", "(7) S-LIWE"),
    "S-LIWE, all with pictures": ("liwe-f8k7/one-drawn/languages", "(7) S-LIWE, lessons"),
    "L-LIWE, one drawn": ("liwe-f8k7/one-drawn/languages", "(7) L-LIWE"),
    "CLMR": ("liwe-f8k7/every-other", "(7) CLMR"),
    "EmbN": ("smalr-f8k7/table", "EmbN"),
    "PAR. EmbN": ("smalr-f8k7/table", "PAR. EmbN"),
    "PAR. EmbN + CLC-C": ("smalr-f8k7/table", "PAR. EmbN-CLC-C"),
    "MULE": ("smalr-f8k7/table", "MULE"),
    "LA": ("smalr-f8k7/table", "LA"),
    "HEM": ("smalr-f8k7/table", "HEM"),
    "SMALR": ("smalr-f8k7/table", "SMALR"),
    "SMALR + CLC-C": ("smalr-f8k7/table", "SMALR-CLC-C"),
}


def counted(table: str, row: str, data: Path | None) -> int:
    """Parameters of a row's model, set up and not trained."""
    entry: TableEntry = next(
        one for one in table_entries(check(TableSettings, read_table(table), table)) if one.row == row
    )
    train = entry_dataset(entry, data).split("train")
    return facts(planned(entry.recipe, train), context_of(entry.recipe, train), Progress()).parameters


def point(name: str, table: str, row: str, data: Path | None) -> dict[str, Any] | None:
    told = read_json(RESULTS / f"{table}.json")
    found = next(one for one in told["rows"] if one["name"] == row)
    mean = found["columns"].get("mean") or found["columns"].get("A")
    if mean is None:
        return None
    trainings = int(str(told["made"]["trainings"]).split()[0])
    own = found.get("seconds")
    return {
        "name": name,
        "table": table,
        "row": row,
        "mR": mean["mean"],
        "deviation": mean["deviation"],
        "parameters": found["parameters"]["all"] if found["parameters"] else counted(table, row, data),
        "seconds": own if own is not None else told["made"]["seconds of training"] / trainings,
        "seconds_of": "its trainings" if own is not None else "all trainings of its table",
    }


def drawn(points: list[dict[str, Any]], key: str, scale: float, title: str, label: str) -> str:
    lines = [
        NamedLine(one["name"], [Mark(one["name"], one[key] / scale, one["mR"], one["deviation"])]) for one in points
    ]
    return named_lines(title, lines, label, "mean recall, seven languages", log_x=True)


def made(tables: list[str]) -> dict[str, str]:
    """This command with its commit, and the devices of the tables that recall and seconds are taken from."""
    devices = {read_json(RESULTS / f"{table}.json")["made"]["device"] for table in tables}
    return {
        "command": "python scripts/documentation/cost_figure.py --data DIR",
        "commit": str(commit()),
        "device": ", ".join(sorted(devices)),
        "tables": ", ".join(tables),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=None)
    told = parser.parse_args()
    points = [found for name, where in POINTS.items() if (found := point(name, *where, told.data)) is not None]
    write_json(RESULTS / "costs.json", {"points": points, "made": made(sorted({one["table"] for one in points}))})
    for key, scale, title, label in (
        ("parameters", 1e6, "Recall against parameters", "parameters beside the picture network (millions)"),
        ("seconds", 1, "Recall against seconds of training", "seconds of one training, several at once on one H200"),
    ):
        write_text(RESULTS / f"costs-{key}.svg", drawn(points, key, scale, title, label))


if __name__ == "__main__":
    main()
