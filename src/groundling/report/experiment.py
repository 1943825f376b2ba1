"""A table of experiments for people: terminal, Markdown and JSON."""

from pathlib import Path
from typing import Any, Literal

from groundling.files import write_json, write_text
from groundling.report.languages import language_name
from groundling.report.numbers import Cell, Measured
from groundling.report.table import Column, Table
from groundling.report.tables import MANY, results_table

METRICS = {
    "mR": "mean recall mR (mean of R@1, R@5, R@10 in both directions)",
    "rsum": "sum of the six recalls",
    "text_to_image.R@10": "text→image R@10",
    "image_to_text.R@10": "image→text R@10",
}


def experiment_table(summary: dict[str, Any], languages: list[str]) -> Table:
    """Rows of the table, a column per language and their mean: mean ± deviation over seeds."""
    ours = {
        row["name"]: {code: Measured(cell["mean"], cell["deviation"]) for code, cell in row["columns"].items()}
        for row in summary["rows"]
    }
    published = {row["name"]: row["published"] for row in summary["rows"] if row["published"]}
    seeds = len(summary["seeds"])
    widest = max((cell["interval"] or 0.0 for row in summary["rows"] for cell in row["columns"].values()), default=0.0)
    notes = [f"{METRICS.get(summary['metric'], summary['metric'])}, test split; mean ± deviation over {seeds} seeds."]
    if seeds > 1:
        notes.append(
            f"The 95% interval of a mean over {seeds} seeds is at most ± {widest:.1f} here; all are in results.json."
        )
    columns = [*languages, "mean"]
    if len(columns) <= MANY or published:
        best: Literal["high", "low"] = "low" if summary["metric"].endswith(("median", "mean")) else "high"
        return results_table(summary["title"], columns, ours, published, best, notes)
    # More languages than fit a line: they become the rows.
    headings = [Column("language", text=True), *(Column(name) for name in ours)]
    rows: list[list[Cell]] = [[language_name(code), *(ours[name].get(code) for name in ours)] for code in languages]
    foot: list[list[Cell]] = [["mean", *(ours[name].get("mean") for name in ours)]]
    return Table(summary["title"], headings, rows, notes, foot)


def write_experiment(
    folder: Path, about: str, languages: list[str], summary: dict[str, Any], made: dict[str, Any]
) -> Path:
    """results.json and results.md in `folder`; `made` says how: command, commit, device, seconds."""
    write_json(folder / "results.json", {**summary, "made": made})
    lines = [
        f"# {summary['title']}",
        about.strip(),
        experiment_table(summary, languages).markdown(),
        "## How it was made",
    ]
    lines.append("\n".join(f"- {key}: `{value}`" for key, value in made.items()))
    write_text(folder / "results.md", "\n\n".join(line for line in lines if line) + "\n")
    return folder / "results.md"
