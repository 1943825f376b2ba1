"""The figures of a table of experiments: bars for its rows, or lines where its rows are points of lines."""

from collections.abc import Mapping

from groundling.evaluation.metrics import find
from groundling.experiments.summary import Statistics, TableSummary
from groundling.report.charts import Bars, Mark, NamedLine, Series, bars, lines, named_lines
from groundling.report.languages import language_name, listed_languages

FEW_BARS = 16  # fit half the width of a page

Figure = tuple[str, str]  # caption, SVG


def experiment_figures(summary: TableSummary) -> list[Figure]:
    if summary.x.kind == "parameters":
        return _against_parameters(summary)
    return _lines(summary) if any(row.at is not None for row in summary.rows) else _bars(summary)


def _bars(summary: TableSummary) -> list[Figure]:
    """Every row with its deviation: by language for one or two metrics, by metric where there are more."""
    columns, metrics = summary.columns, summary.metrics
    if len(metrics) <= 2:
        charts = [(find(metric).heading, [c for c in columns if c.metric == metric]) for metric in metrics]
    else:
        codes = summary.languages
        charts = [(language_name(code), [c for c in columns if c.language == code]) for code in codes]
    figures = []
    for name, inside in charts:
        groups = [find(c.metric).heading if len(metrics) > 2 else _title(summary, c.language) for c in inside]
        series = []
        for row in summary.rows:
            cells = [row.columns.get(column.name) for column in inside]
            if any(cells):
                means = [None if cell is None else cell.mean for cell in cells]
                series.append(Bars(row.name, means, [None if cell is None else cell.deviation for cell in cells]))
        if series:
            units = {find(column.metric).unit for column in inside}
            unit = units.pop() if len(units) == 1 else ""
            figures.append((name, bars(f"{summary.title}: {name}", groups, series, unit, _width(groups, series))))
    return figures


def _width(groups: list[str], series: list[Bars]) -> float:
    """Of the drawing, which fills the width it is given: the more bars, the wider, or they would be too thin."""
    return 400 if len(groups) * len(series) <= FEW_BARS else 860


def _lines(summary: TableSummary) -> list[Figure]:
    """One chart for each column, and one for the mean over languages."""
    figures: list[Figure | None] = []
    for column in summary.columns:
        if column.language not in summary.means:
            name = language_name(column.language)
            several = len(summary.metrics) > 1
            caption = f"{name}, {find(column.metric).heading}" if several else name
            cells = {row.name: row.columns.get(column.name) for row in summary.rows}
            figures.append(_line_chart(summary, caption, column.metric, cells))
    return [figure for figure in [*figures, *_means(summary)] if figure]


def _means(summary: TableSummary) -> list[Figure | None]:
    """Lines of the mean over languages: only over those that all rows have, or lines would compare languages."""
    common = summary.common_languages
    if len(summary.languages if common is None else common) < 2:
        return []
    figures = []
    for metric in summary.metrics:
        caption = f"Mean over the languages that a model was trained on, {find(metric).heading}"
        if common is not None:
            several = f"{find(metric).heading}, mean" if len(summary.metrics) > 1 else "Mean"
            caption = f"{several} of {listed_languages(common)}, which all rows have"
        cells = {row.name: (row.common_mean or row.own_mean)[metric] for row in summary.rows}
        figures.append(_line_chart(summary, caption, metric, cells))
    return figures


def _against_parameters(summary: TableSummary) -> list[Figure]:
    """One chart for each mean over languages; rows of one line are joined, others are points."""
    means = [column for column in summary.columns if column.language in summary.means]
    figures = []
    for column in means or summary.columns:
        several, metric = len(summary.metrics) > 1, column.metric
        title = _title(summary, column.language)
        caption = f"{title}, {find(metric).heading}" if several else title
        lines = _named_lines(summary, column.name)
        if lines:
            name, about = f"{summary.title}: {caption}", summary.x
            words = about.label, find(metric).heading
            figures.append((caption, named_lines(name, lines, *words, about.log, decimals=find(metric).decimals)))
    return figures


def _named_lines(summary: TableSummary, column: str) -> list[NamedLine]:
    """Rows of one line in their order along x; those beside the row that the line is called by are of another kind."""
    marks: dict[str, list[Mark]] = {}
    names = {row.name for row in summary.rows}
    for row in summary.rows:
        cell, line = row.columns.get(column), row.line
        if row.at is not None and cell is not None:
            kind = row.name.removeprefix(line).lstrip(" -,") if line in names else ""
            marks.setdefault(line, []).append(Mark(row.name, row.at, cell.mean, cell.deviation, kind))
    return [NamedLine(line, sorted(found, key=lambda mark: mark.x)) for line, found in marks.items()]


def _title(summary: TableSummary, column: str) -> str:
    return column if column in summary.means else language_name(column)


def _line_chart(
    summary: TableSummary, caption: str, metric: str, cells: Mapping[str, Statistics | None]
) -> Figure | None:
    """Means over seeds with a band of ± one deviation; None where no line has two points."""
    points: dict[str, list[tuple[float, float, float]]] = {}
    for row in summary.rows:
        cell = cells[row.name]
        if row.at is not None and cell is not None:
            points.setdefault(row.line, []).append((row.at, cell.mean, cell.deviation or 0.0))
    if all(len(line) < 2 for line in points.values()):
        return None
    series = []
    for line, found in points.items():
        found.sort()
        low, high = [mean - spread for _, mean, spread in found], [mean + spread for _, mean, spread in found]
        series.append(Series(line, [(x, mean) for x, mean, _ in found], low, high))
    about = summary.x
    name, words = f"{summary.title}: {caption}", (about.label, find(metric).heading)
    return caption, lines(name, series, *words, about.log, ticks_at_points=True)
