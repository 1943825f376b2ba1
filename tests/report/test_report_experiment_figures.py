"""Figures of an experiment: bars by language or by metric, lines where rows are points."""

from experiment_summaries import ROWS, Page, summary_of

from groundling.report.experiment_figures import experiment_figures


def test_figures_are_of_metrics_or_of_languages() -> None:
    """One or two metrics: a figure each, bars by language. More: a figure for each language, bars by metric."""
    assert [name for name, _ in experiment_figures(summary_of(ROWS))] == ["mR"]
    metrics = ("image_to_text.R@1", "image_to_text.R@5", "image_to_text.R@10")
    many = experiment_figures(summary_of({"One": {"en": (3.0, 5.0), "de": (3.0, 5.0)}}, metrics=metrics))
    assert [name for name, _ in many] == ["English (en)", "German (de)"]
    for _, svg in many:
        assert Page(svg).wrong == []
        assert "I→T R@5" in svg
        assert "NaN" not in svg


def test_rows_that_are_points_become_lines() -> None:
    """A chart for each language, and one for the mean; a line needs two points."""
    numbers = {
        "1": {"en": (3.0, 4.0), "de": (5.0, 6.0)},
        "2": {"en": (5.0, 6.0), "de": (7.0, 8.0)},
        "3": {"de": (9.0,)},
    }
    rows = [
        {"name": name, "each": "language", "set": {"training.batch_size": 2 + at}, "line": "model", "at": 10.0**at}
        for at, name in enumerate(numbers)
    ]
    summary = summary_of(numbers, rows=rows, x_label="captions", log_x=True)
    figures = dict(experiment_figures(summary))
    assert list(figures) == ["English (en)", "German (de)", "Mean over the languages that a model was trained on, mR"]
    for svg in figures.values():
        assert Page(svg).wrong == []
        assert "captions" in svg
        assert "nan" not in svg.lower()
    alone = summary_of({"1": numbers["1"], "2": {}, "3": {}}, rows=rows)
    assert experiment_figures(alone) == []


def test_figures_of_an_unfinished_table() -> None:
    assert experiment_figures(summary_of({"None": {}})) == []
    ((_, svg),) = experiment_figures(summary_of({"None": {}, "Half": {"en": (3.0,)}}))
    assert "Half" in svg
    assert "None" not in Page(svg).text
    assert "nan" not in svg.lower()
