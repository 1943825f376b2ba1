"""The finished table: mean ± deviation over seeds for each row and language, published numbers beside."""

from typing import Any

from groundling.evaluation.significance import mean_interval
from groundling.experiments.runner import Results
from groundling.experiments.table import TableSettings, cells


def summarise(table: TableSettings, results: Results, seeds: list[int] | None = None) -> dict[str, Any]:
    """Plain data: for each row and column the values by seed, their mean, deviation and 95% interval.

    The column `mean` averages the row's languages seed by seed first, so that its interval is one over seeds. Cells
    without a result are left out.
    """
    chosen = list(dict.fromkeys(seeds or table.seeds))
    by_row: dict[str, dict[str, dict[int, float]]] = {row.name: {} for row in table.cells}
    for cell in cells(table, chosen):
        if cell.folder not in results:
            continue
        languages = results[cell.folder]["languages"]
        for code in cell.group:
            value = pick(languages[code], table.metric)
            by_row[cell.row].setdefault(code, {})[cell.recipe.training.seed] = value
    rows = []
    for row in table.cells:
        columns = {code: _statistics(list(values.values())) for code, values in by_row[row.name].items()}
        whole = [seed for seed in chosen if all(seed in by_row[row.name].get(code, {}) for code in table.languages)]
        if whole:
            per_seed = [[by_row[row.name][code][seed] for code in table.languages] for seed in whole]
            columns["mean"] = _statistics([sum(values) / len(values) for values in per_seed])
        rows.append({"name": row.name, "columns": columns, "published": row.published})
    return {"title": table.title, "metric": table.metric, "seeds": chosen, "rows": rows}


def pick(result: dict[str, Any], metric: str) -> float:
    """`mR`, `rsum`, or a direction and recall such as `text_to_image.R@10`."""
    for key in metric.split(".", 1):
        result = result[key]
    return float(result)  # type: ignore[arg-type]


def how_it_was_made(command: str, results: Results, wanted: int) -> dict[str, Any]:
    """Command, commits, devices and time of the trainings behind a table."""
    runs = [result["run"] for result in results.values()]

    def all_of(key: str) -> str:
        return ", ".join(sorted({str(run[key]) for run in runs}))

    return {
        "command": command,
        "commit": all_of("commit"),
        "device": all_of("device"),
        "precision": all_of("precision"),
        "trainings": len(runs) if len(runs) == wanted else f"{len(runs)} of {wanted}; the others were not finished",
        "seconds of training": round(sum(run["seconds"] for run in runs)),
    }


def _statistics(values: list[float]) -> dict[str, Any]:
    mean, deviation, half_width = mean_interval(values)
    return {"values": values, "mean": mean, "deviation": deviation, "interval": half_width}
