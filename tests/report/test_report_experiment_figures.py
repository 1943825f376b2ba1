"""Figures of an experiment: bars by language or by metric, lines where rows are points."""

from dataclasses import replace
from xml.etree import ElementTree

from experiment_summaries import ROWS, Page, summary_of

from groundling.experiments.summary import Axis, Statistics, TableSummary
from groundling.report.experiment_figures import experiment_figures

SVG = "{http://www.w3.org/2000/svg}"


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


def test_a_mean_is_drawn_over_languages_that_all_rows_have() -> None:
    """French is there in one row: its mean over three languages does not stand beside means over two."""
    three, two = {"en": (3.0, 5.0), "de": (5.0, 7.0), "fr": (90.0, 90.0)}, {"en": (3.0, 5.0), "de": (7.0, 9.0)}
    each = {"1": "language", "2": [["en"], ["de"]]}
    rows = [
        {"name": name, "each": groups, "line": "model", "at": at, "set": {"training.batch_size": 2 + at}}
        for at, (name, groups) in enumerate(each.items(), start=1)
    ]
    numbers, languages = {"1": three, "2": two}, ("en", "de", "fr")
    summary = summary_of(numbers, rows=rows, languages=languages)
    name, svg = experiment_figures(summary)[-1]
    assert name == "Mean of English and German, which all rows have"
    assert "model: 5 at 1, 6 at 2." in svg
    several = experiment_figures(summary_of(numbers, rows=rows, languages=languages, metrics=("mR", "rsum")))
    assert several[-1][0] == "rsum, mean of English and German, which all rows have"
    rows[1]["each"] = [["en"]]
    alone = experiment_figures(summary_of(numbers, rows=rows, languages=languages))
    assert [name for name, _ in alone] == ["English (en)"]  # the only one that both have is drawn already


def against_parameters(deviation: float | None = 0.5) -> TableSummary:
    summary = summary_of({name: {"en": (3.0 + at, 4.0)} for at, name in enumerate(("A", "A-X", "A-Y", "B"))})
    places = {"A": ("A", 10.0, 4.0), "A-X": ("A", 10.0, 6.0), "A-Y": ("A", 10.1, 6.2), "B": ("B", 40.0, 5.0)}
    rows = []
    for row in summary.rows:
        line, at, mean = places[row.name]
        rows.append(replace(row, line=line, at=at, columns={"mean": Statistics([], mean, deviation, None)}))
    return replace(summary, rows=rows, x=Axis("millions", True, "parameters"))


def test_rows_over_parameters_have_their_names_beside_them() -> None:
    ((name, svg),) = experiment_figures(against_parameters())
    assert name == "mean"
    root = ElementTree.fromstring(svg)  # noqa: S314 (our own output)
    names = [node.text for node in root.iter(SVG + "text") if node.get("class") == "name"]
    assert names == ["A", "B"]
    told = [node.findtext(SVG + "title") for node in root.iter() if node.tag in (SVG + "circle", SVG + "rect")]
    assert told == [
        "A: 4.0 ± 0.5 at 10",
        "A-X: 6.0 ± 0.5 at 10",
        "A-Y: 6.2 ± 0.5 at 10.1",
        "B: 5.0 ± 0.5 at 40",
        None,
        None,
    ]
    assert [node.text for node in root.iter(SVG + "text")][-2:] == ["X", "Y"]
    assert svg.count('class="whisker"') == 4
    assert 'class="whisker"' not in experiment_figures(against_parameters(None))[0][1]


def test_figures_of_an_unfinished_table() -> None:
    assert experiment_figures(summary_of({"None": {}})) == []
    ((_, svg),) = experiment_figures(summary_of({"None": {}, "Half": {"en": (3.0,)}}))
    assert "Half" in svg
    assert "None" not in Page(svg).text
    assert "nan" not in svg.lower()
