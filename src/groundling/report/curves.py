"""Learning curves from the rows of metrics.jsonl: loss, validation, validation by language."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from groundling.report.charts import Series, lines
from groundling.report.charts.scales import usable
from groundling.report.html import Block, Charts, Figure
from groundling.report.languages import language_name
from groundling.report.numbers import rounded

MOST_POINTS = 200  # more than a chart can show; neighbours are averaged
TOGETHER = 6  # up to so many languages share a chart, more get a small one each


def _by_step(metrics: Sequence[Mapping[str, Any]], key: str) -> list[tuple[float, Any]]:
    """(step, value) of the rows that hold `key`, in order; of a step that was run twice the later row counts."""
    found = {
        float(row["step"]): row[key] for row in metrics if row.get("step") is not None and row.get(key) is not None
    }
    return sorted(found.items())


def _thinned(name: str, points: list[tuple[float, float]]) -> Series:
    """A long curve as means of neighbouring points, with a band from their lowest to their highest value."""
    points = [point for point in points if usable(point[1])]
    if len(points) <= MOST_POINTS:
        return Series(name, points)
    size = -(-len(points) // MOST_POINTS)
    bins = [points[start : start + size] for start in range(0, len(points), size)]
    return Series(
        name,
        [(part[-1][0], sum(y for _, y in part) / len(part)) for part in bins],
        [min(y for _, y in part) for part in bins],
        [max(y for _, y in part) for part in bins],
    )


def best_validation(metrics: Sequence[Mapping[str, Any]]) -> tuple[float, float] | None:
    """Step and value of the highest validation score."""
    scores = [(step, float(value)) for step, value in _by_step(metrics, "validation") if usable(float(value))]
    return max(scores, key=lambda score: score[1], default=None)


def learning_curves(metrics: Sequence[Mapping[str, Any]]) -> list[Block]:
    """Figures for what was recorded; nothing where nothing was."""
    figures = []
    loss = _thinned("loss", [(step, float(value)) for step, value in _by_step(metrics, "loss")])
    unseen = [(step, float(value)) for step, value in _by_step(metrics, "validation_loss")]
    if loss.points:
        caption = "Training loss" + (" (mean and range of neighbouring steps)" if loss.low else "")
        series = [loss]
        if unseen:  # of models that judge statements
            caption += ", with dropout, and the loss of validation"
            series = [replace(loss, name="training"), Series("validation", unseen)]
        figures.append(Figure(lines("Loss by step", series, "step", "loss"), caption))
    best = best_validation(metrics)
    if best:
        scores = [(step, float(value)) for step, value in _by_step(metrics, "validation")]
        chart = lines("Validation score by step", [Series("validation", scores)], "step", "validation score")
        figures.append(Figure(chart, f"Validation score; best {rounded(best[1])} at step {best[0]:,.0f}"))
    learned = [(step, float(value)) for step, value in _by_step(metrics, "training_accuracy")]
    if learned:  # of models that judge statements
        new = [(step, float(value)) for step, value in _by_step(metrics, "accuracy")]
        chart = lines("Accuracy by step", [Series("training", learned), Series("validation", new)], "step", "accuracy")
        figures.append(Figure(chart, "Accuracy on training statements, without dropout, and of validation"))
    languages = _language_series(metrics)
    if 1 < len(languages) <= TOGETHER:
        chart = lines("Validation score by language", languages, "step", "validation score")
        figures.append(Figure(chart, "Validation score by language"))
    blocks: list[Block] = [Charts(figures)] if figures else []
    return [*blocks, _small_charts(languages)] if len(languages) > TOGETHER else blocks


def _language_series(metrics: Sequence[Mapping[str, Any]]) -> list[Series]:
    rows = _by_step(metrics, "languages")
    codes = dict.fromkeys(code for _, scores in rows for code in scores)
    series = []
    for code in codes:
        points = [(step, None if scores.get(code) is None else float(scores[code])) for step, scores in rows]
        if any(usable(value) for _, value in points):
            series.append(Series(language_name(code), points))
    return series


def _small_charts(languages: list[Series]) -> Charts:
    """One small chart per language over the same axes: a dozen lines in one chart cannot be told apart."""
    values = [y for series in languages for _, y in series.points if y is not None and usable(y)]
    span = (min(values), max(values))
    figures = []
    for series in languages:
        title = f"Validation score, {series.name}"
        figures.append(Figure(lines(title, [series], y_range=span, width=200, plot_height=110), series.name))
    return Charts(figures, "Validation score by language", small=True)
