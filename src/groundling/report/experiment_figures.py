"""The figures of a table of experiments: bars for its rows, or lines where its rows are points of lines."""

from typing import Any

from groundling.report.languages import language_name, metric_name
from groundling.report.plots import Bars, Series, bar_chart, line_chart

FEW_BARS = 16  # fit half the width of a page

Summary = dict[str, Any]
Figure = tuple[str, str]  # caption, SVG


def experiment_figures(summary: Summary) -> list[Figure]:
    if summary["x"]["is"] == "parameters":
        return _against_parameters(summary)
    return _lines(summary) if any(row["at"] is not None for row in summary["rows"]) else _bars(summary)


def _bars(summary: Summary) -> list[Figure]:
    """Every row with its deviation: by language for one or two metrics, by metric where there are more."""
    columns, metrics = summary["columns"], summary["metrics"]
    if len(metrics) <= 2:
        charts = [(metric_name(metric), [c for c in columns if c["metric"] == metric]) for metric in metrics]
    else:
        codes = summary["languages"]
        charts = [(language_name(code), [c for c in columns if c["language"] == code]) for code in codes]
    figures = []
    for name, inside in charts:
        groups = [metric_name(c["metric"]) if len(metrics) > 2 else _title(summary, c["language"]) for c in inside]
        bars = []
        for row in summary["rows"]:
            cells = [row["columns"].get(column["name"]) for column in inside]
            if any(cells):
                means = [None if cell is None else cell["mean"] for cell in cells]
                bars.append(Bars(row["name"], means, [None if cell is None else cell["deviation"] for cell in cells]))
        if bars:
            unit = "" if {column["metric"] for column in inside} == {"log_loss"} else "%"
            figures.append((name, bar_chart(f"{summary['title']}: {name}", groups, bars, unit, _width(groups, bars))))
    return figures


def _width(groups: list[str], bars: list[Bars]) -> float:
    """Of the drawing, which fills the width it is given: the more bars, the wider, or they would be too thin."""
    return 400 if len(groups) * len(bars) <= FEW_BARS else 860


def _lines(summary: Summary) -> list[Figure]:
    """One chart for each column, and one for the mean over the languages that a row was trained on."""
    figures = []
    for column in summary["columns"]:
        if column["language"] not in summary["means"]:
            name = language_name(column["language"])
            several = len(summary["metrics"]) > 1
            caption = f"{name}, {metric_name(column['metric'])}" if several else name
            cells = {row["name"]: row["columns"].get(column["name"]) for row in summary["rows"]}
            figures.append(_line_chart(summary, caption, column["metric"], cells))
    if len(summary["languages"]) > 1:
        for metric in summary["metrics"]:
            cells = {row["name"]: row["own_mean"][metric] for row in summary["rows"]}
            caption = f"Mean over the languages that a model was trained on, {metric_name(metric)}"
            figures.append(_line_chart(summary, caption, metric, cells))
    return [figure for figure in figures if figure]


def _against_parameters(summary: Summary) -> list[Figure]:
    """One chart for each mean over languages; rows of one line are joined, others are points."""
    means = [column for column in summary["columns"] if column["language"] in summary["means"]]
    figures = []
    for column in means or summary["columns"]:
        several = len(summary["metrics"]) > 1
        title = _title(summary, column["language"])
        caption = f"{title}, {metric_name(column['metric'])}" if several else title
        cells = {row["name"]: row["columns"].get(column["name"]) for row in summary["rows"]}
        figures.append(_line_chart(summary, caption, column["metric"], cells, fewest=1))
    return [figure for figure in figures if figure]


def _title(summary: Summary, column: str) -> str:
    return column if column in summary["means"] else language_name(column)


def _line_chart(summary: Summary, caption: str, metric: str, cells: dict[str, Any], fewest: int = 2) -> Figure | None:
    """Means over seeds with a band of ± one deviation; None where no line has so many points.

    Where single points are meant (`fewest` is 1) there are no bands: they would be of no width.
    """
    points: dict[str, list[tuple[float, float, float]]] = {}
    for row in summary["rows"]:
        cell = cells[row["name"]]
        if row["at"] is not None and cell is not None:
            points.setdefault(row["line"], []).append((row["at"], cell["mean"], cell["deviation"] or 0.0))
    if all(len(line) < fewest for line in points.values()):
        return None
    series = []
    for line, found in points.items():
        found.sort()
        low, high = [mean - spread for _, mean, spread in found], [mean + spread for _, mean, spread in found]
        bands = (low, high) if fewest > 1 else ()
        series.append(Series(line, [(x, mean) for x, mean, _ in found], *bands))
    about = summary["x"]
    svg = line_chart(f"{summary['title']}: {caption}", series, about["label"], metric_name(metric), about["log"])
    return caption, svg
