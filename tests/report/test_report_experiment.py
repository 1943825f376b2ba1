"""Tables of experiments as people see them: terminal, Markdown, HTML; published numbers beside or below."""

import io
import json
from collections.abc import Mapping, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from groundling.experiments.results import summarise
from groundling.experiments.runner import Results
from groundling.experiments.table import TableSettings, cells
from groundling.report.experiment import (
    claims_table,
    experiment_table,
    experiment_tables,
    heading,
    interval_table,
    write_experiment,
)
from groundling.report.experiment_figures import experiment_figures
from groundling.report.languages import metric_name
from groundling.report.table import Table
from groundling.settings import check

NASTY = "<script>alert('1')</script> | a & b \\ **c** `d` \"e\" <!-- ]]>"


def summary_of(
    rows: Mapping[str, Mapping[str, Sequence[float]]],
    /,
    published: dict[str, dict[str, Any]] | None = None,
    metrics: tuple[str, ...] = ("mR",),
    languages: tuple[str, ...] = ("en", "de"),
    claims: list[dict[str, Any]] | None = None,
    **changes: Any,
) -> dict[str, Any]:
    """The summary of a table whose rows have these numbers by language, one for each seed; the same in every metric."""
    listed = [
        {
            "name": name,
            "each": "language",
            "set": {"training.batch_size": 2 + at},
            "published": (published or {}).get(name, {}),
        }
        for at, name in enumerate(rows)
    ]
    values = {"title": "Two rows", "languages": list(languages), "metrics": list(metrics), "seeds": [0, 1]}
    table = check(TableSettings, {**values, "base": {"corpus": {"name": "x"}}, "rows": listed, **changes}, "table")
    results: Results = {}
    for cell in cells(table):
        (code,), seed = cell.group, cell.recipe.training.seed
        numbers = rows[cell.row].get(code, ())
        if seed < len(numbers):
            recalls = dict.fromkeys(("R@1", "R@5", "R@10", "median", "mean"), numbers[seed])
            both = {"text_to_image": recalls, "image_to_text": recalls}
            results[cell.folder] = {"languages": {code: {"mR": numbers[seed], "rsum": numbers[seed], **both}}}
    return summarise(table, results) | ({} if claims is None else {"claims": claims})


ROWS: dict[str, dict[str, tuple[float, ...]]] = {
    "Alone": {"en": (10, 14), "de": (20, 30)},
    "Both": {"en": (11, 13), "de": (25, 15)},
}


def markdown_rows(text: str) -> list[list[str]]:
    """The cells of every line of a table, without its bold marks and its rule."""
    lines = [line for line in text.splitlines() if line.startswith("|") and set(line) - set("|-: ")]
    return [[cell.strip(" *") for cell in line.split("|")[1:-1]] for line in lines]


def printed(table: Table, width: int = 160) -> str:
    console = Console(file=io.StringIO(), width=width)
    console.print(table.terminal())
    return console.file.getvalue()  # type: ignore[attr-defined]


class Page(HTMLParser):
    """Whether every tag is closed in its turn; the text of cells; tags and attributes that were there."""

    VOID = ("meta", "br", "img", "link", "hr", "col", "input")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.wrong: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]
        if tag not in self.VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        self.text += data
        if self.open and self.open[-1] in ("th", "td", "strong") and self.rows:
            self.rows[-1][-1] += data


# --- headings


@pytest.mark.parametrize(
    ("metric", "name"), [("mR", "mR"), ("image_to_text.R@1", "I→T R@1"), ("text_to_image.median", "T→I median")]
)
def test_names_of_metrics(metric: str, name: str) -> None:
    assert metric_name(metric) == name


@pytest.mark.parametrize(
    ("languages", "metrics", "names"),
    [
        (("en", "de"), ("mR",), ["English (en)", "German (de)", "mean"]),
        (("en",), ("mR", "text_to_image.R@10"), ["mR", "T→I R@10"]),
        (("de",), ("mR",), ["German (de)"]),
    ],
)
def test_a_heading_says_what_differs_between_columns(
    languages: tuple[str, ...], metrics: tuple[str, ...], names: list[str]
) -> None:
    summary = summary_of({"One": {}}, metrics=metrics, languages=languages)
    assert [heading(summary, column) for column in summary["columns"]] == names


def test_two_languages_and_two_metrics_say_both() -> None:
    summary = summary_of({"One": {}}, metrics=("image_to_text.R@10", "text_to_image.R@10"))
    assert [heading(summary, column) for column in summary["columns"]] == [
        "English (en) I→T R@10",
        "English (en) T→I R@10",
        "German (de) I→T R@10",
        "German (de) T→I R@10",
    ]


# --- published numbers


def test_published_numbers_stand_beside_ours_in_up_to_four_columns() -> None:
    summary = summary_of(ROWS, {"Alone": {"en": 12.5, "mean": 99.0}})
    rows = markdown_rows(experiment_table(summary).markdown())
    names = ["English (en)", "German (de)", "mean"]
    assert rows[0] == ["", *(f"{name} {who}" for name in names for who in ("ours", "published"))]
    assert rows[1] == ["Alone", "12.0 ± 2.8", "12.5", "25.0 ± 7.1", "–", "18.5 ± 4.9", "99.0"]
    assert rows[2] == ["Both", "12.0 ± 1.4", "–", "20.0 ± 7.1", "–", "16.0 ± 2.8", "–"]
    text = printed(experiment_table(summary))
    for part in ("English (en)", "ours", "published", "12.0 ± 2.8", "12.5", "99.0"):
        assert part in text
    assert "**99.0**" not in experiment_table(summary).markdown()  # a published number does not win
    assert "**18.5 ± 4.9**" in experiment_table(summary).markdown()


def test_published_numbers_stand_below_ours_in_more_columns() -> None:
    codes = ("en", "de", "fr", "cs", "zh")
    one = {code: (10.0 + at,) for at, code in enumerate(codes)}
    rows = {"One": one, "Two": dict.fromkeys(codes, (3.0,))}
    summary = summary_of(rows, {"One": {"de": 98.0, "cs": 13.4}}, languages=codes, mean=False, seeds=[0])
    text = experiment_table(summary).markdown()
    found = markdown_rows(text)
    assert found[0] == ["", "English (en)", "German (de)", "French (fr)", "Czech (cs)", "Chinese (zh)"]
    assert found[1:] == [
        ["One", "10.0", "11.0", "12.0", "13.0", "14.0"],
        ["published", "", "98.0", "", "13.4", ""],
        ["Two", "3.0", "3.0", "3.0", "3.0", "3.0"],  # nothing published, no line for it
    ]
    assert "**11.0**" in text
    assert "**98.0**" not in text
    assert "98.0" in printed(experiment_table(summary))
    assert Page(experiment_table(summary).html()).rows[2][1:] == ["", "98.0", "", "13.4", ""]


@pytest.mark.parametrize("columns", [4, 5])
def test_four_columns_are_the_most_that_have_them_beside(columns: int) -> None:
    codes = ("en", "de", "fr", "cs", "zh")[:columns]
    summary = summary_of({"One": dict.fromkeys(codes, (1.0,))}, {"One": {"en": 2.0}}, languages=codes, mean=False)
    rows = markdown_rows(experiment_table(summary).markdown())
    assert (len(rows), len(rows[0])) == ((2, 9) if columns == 4 else (3, 6))


def test_where_published_numbers_were_measured_is_said_where_there_are_any() -> None:
    words = "on Multi30K; compare orders and differences"
    assert words in experiment_table(summary_of(ROWS, {"Both": {"en": 3.0}}, published_on="Multi30K")).markdown()
    assert words not in experiment_table(summary_of(ROWS, published_on="Multi30K")).markdown()


# --- what is there and what is not


def test_without_published_numbers_there_are_only_ours() -> None:
    rows = markdown_rows(experiment_table(summary_of(ROWS)).markdown())
    assert rows == [
        ["", "English (en)", "German (de)", "mean"],
        ["Alone", "12.0 ± 2.8", "25.0 ± 7.1", "18.5 ± 4.9"],
        ["Both", "12.0 ± 1.4", "20.0 ± 7.1", "16.0 ± 2.8"],
    ]


def test_missing_cells_are_dashes_everywhere() -> None:
    rows: dict[str, dict[str, tuple[float, ...]]] = {"Alone": {"en": (10, 14)}, "Both": {"de": (25,)}, "None": {}}
    summary = summary_of(rows)
    for table in experiment_tables(summary):
        assert "None" in printed(table)
        assert Page(table.html()).wrong == []
    assert markdown_rows(experiment_table(summary).markdown())[1:] == [
        ["Alone", "12.0 ± 2.8", "–", "–"],
        ["Both", "–", "25.0", "–"],
        ["None", "–", "–", "–"],
    ]
    assert markdown_rows(interval_table(summary).markdown())[1:] == [
        ["Alone", "-13.4 … 37.4", "–", "–"],  # 12 ± 12.706 · 4 / √2 / √2
        ["Both", "–", "–", "–"],
        ["None", "–", "–", "–"],
    ]


def test_a_table_of_one_seed_has_no_deviations_and_no_intervals() -> None:
    summary = summary_of({"Alone": {"en": (10,), "de": (20,)}}, seeds=[0])
    (table,) = experiment_tables(summary)
    text = table.markdown()
    assert markdown_rows(text)[1] == ["Alone", "10.0", "20.0", "15.0"]
    assert "±" not in text
    assert "one seed" in text
    assert "over 2 seeds" in experiment_table(summary_of(ROWS)).markdown()


def test_many_languages_become_the_rows() -> None:
    codes = ("af", "ar", "cs", "de", "en", "es", "fr", "it", "ja")
    rows = {"all": {code: (10.0 + at,) for at, code in enumerate(codes)}, "none": {}}
    summary = summary_of(rows, languages=codes, seeds=[0])
    found = markdown_rows(experiment_table(summary).markdown())
    assert found[0] == ["language", "all", "none"]
    assert found[4] == ["German (de)", "13.0", "–"]
    assert found[-1] == ["mean", "14.0", "–"]
    assert len(found) == 1 + 9 + 1
    without = summary_of(rows, languages=codes, seeds=[0], mean=False)
    assert markdown_rows(experiment_table(without).markdown())[-1] == ["Japanese (ja)", "18.0", "–"]


def test_the_best_rank_is_the_lowest() -> None:
    """The best of each column stands out; of recalls it is the highest, of ranks the lowest."""
    rows = {"near": {"en": (2.0,)}, "far": {"en": (7.0,)}}
    bests = {"text_to_image.median": "2.0", "image_to_text.mean": "2.0", "text_to_image.R@10": "7.0", "mR": "7.0"}
    for metric, best in bests.items():
        summary = summary_of(rows, metrics=(metric,), languages=("en",), mean=False)
        text = experiment_table(summary).markdown()
        assert [part for part in ("2.0", "7.0") if f"**{part}**" in text] == [best]


def test_what_is_measured_is_said_below_the_table() -> None:
    assert "mean of R@1, R@5, R@10 in both directions" in experiment_table(summary_of(ROWS)).markdown()
    one = summary_of({"One": {}}, metrics=("text_to_image.R@10",))
    assert "T→I R@10, test split; mean ± deviation over 2 seeds." in experiment_table(one).markdown()


def test_folds_are_said_below_the_table() -> None:
    base = {"corpus": {"name": "x"}, "evaluation": {"folds": 5}}
    assert "test split, mean over 5 folds; mean ±" in experiment_table(summary_of(ROWS, base=base)).markdown()
    assert "folds" not in experiment_table(summary_of(ROWS)).markdown()


# --- claims

CLAIM = {
    "says": "Two are better",
    "better": "Both",
    "than": "Alone",
    "languages": {
        "en": {"published": 2.5, "difference": 9.04, "interval": 5.55, "verdict": "holds"},
        "de": {"published": -0.3, "difference": -0.04, "interval": 1.2, "verdict": "not resolved"},
        "fr": {"published": None, "difference": -2.0, "interval": None, "verdict": "one seed"},
        "cs": {"published": None},
    },
}


def test_claims_by_language_with_signs() -> None:
    summary = summary_of(ROWS, claims=[CLAIM])
    _, intervals, claims = experiment_tables(summary)
    assert intervals == interval_table(summary)
    assert claims == claims_table(summary)
    assert markdown_rows(claims.markdown()) == [
        ["claim", "language", "difference", "published", "here"],
        ["Two are better", "English (en)", "+9.0 ± 5.6", "+2.5", "holds"],
        ["", "German (de)", "0.0 ± 1.2", "-0.3", "not resolved"],
        ["", "French (fr)", "-2.0", "–", "one seed"],
        ["", "Czech (cs)", "–", "–", "–"],
    ]
    assert "Difference of mR" in claims.markdown()
    assert "holds" in printed(claims, width=100)


def test_claims_are_left_out_until_there_is_something_to_say() -> None:
    empty = {**CLAIM, "languages": {"en": {"published": 2.5}}}
    assert len(experiment_tables(summary_of(ROWS, claims=[empty]))) == 2
    assert len(experiment_tables(summary_of(ROWS, claims=[empty, CLAIM], seeds=[0]))) == 2


# --- files

MADE = {"command": "groundling reproduce x", "commit": "abc", "trainings": 6}


def test_the_files_of_an_experiment(tmp_path: Path) -> None:
    summary = summary_of(ROWS, {"Alone": {"en": 12.5}}, claims=[CLAIM])
    page = write_experiment(tmp_path / "new", " Why we did it.\n", summary, MADE)
    assert page == tmp_path / "new/results.html"
    assert json.loads((tmp_path / "new/results.json").read_text()) == {**summary, "made": MADE}
    text = (tmp_path / "new/results.md").read_text()
    assert text.startswith("# Two rows\n\nWhy we did it.\n")
    assert "- command: `groundling reproduce x`" in text
    assert ["Alone", "12.0 ± 2.8", "12.5", "25.0 ± 7.1", "–", "18.5 ± 4.9", "–"] in markdown_rows(text)
    assert "+9.0 ± 5.6" in text
    html = Page(page.read_text())
    assert (html.wrong, html.open) == ([], [])
    assert ["Alone", "12.0 ± 2.8", "12.5", "25.0 ± 7.1", "–", "18.5 ± 4.9", "–"] in html.rows
    assert html.tags.count("table") == 3
    for words in ("Why we did it.", "groundling reproduce x", "+9.0 ± 5.6", "Results", "How it was made"):
        assert words in html.text
    assert sorted(path.name for path in (tmp_path / "new").iterdir()) == [
        "figure-1.svg",
        "results.html",
        "results.json",
        "results.md",
    ]


def test_words_from_outside_are_words_on_the_page(tmp_path: Path) -> None:
    """Names of rows, titles, claims and commands come from a file that anybody may have written."""
    rows = {NASTY: ROWS["Alone"], "Both": ROWS["Both"]}
    claim = {**CLAIM, "says": NASTY}
    changes: dict[str, Any] = {"title": NASTY, "claims": [claim], "published_on": NASTY}
    summary = summary_of(rows, {NASTY: {"en": 1.0}}, **changes)
    page = write_experiment(tmp_path, NASTY, summary, {"command": NASTY, NASTY: 3})
    html = Page(page.read_text())
    assert (html.wrong, html.open) == ([], [])
    assert "script" not in html.tags
    assert not [name for name in html.attributes if name.startswith("on")]
    assert [row for row in html.rows if row and row[0] == NASTY]
    assert json.loads((tmp_path / "results.json").read_text())["rows"][0]["name"] == NASTY
    for line in (tmp_path / "results.md").read_text().splitlines():
        assert not line.startswith("|") or "<script>" not in line
    for table in experiment_tables(summary):
        assert "<script>" in printed(table, width=400)  # a terminal shows it as it is


def test_codes_of_languages_are_words_too(tmp_path: Path) -> None:
    code, metrics = "<i>x", ("image_to_text.R@1", "image_to_text.R@5", "image_to_text.R@10")
    summary = summary_of({"One": {code: (3.0, 5.0)}}, metrics=metrics, languages=(code,))
    html = Page(write_experiment(tmp_path, "", summary, MADE).read_text())
    assert html.wrong == []
    assert "figcaption" in html.tags
    assert "i" not in html.tags


def test_words_from_outside_are_words_in_markdown_too(tmp_path: Path) -> None:
    write_experiment(tmp_path, NASTY, summary_of(ROWS, title=NASTY), {"command": "a `b` c"})
    text = (tmp_path / "results.md").read_text()
    assert "<script>" not in text
    assert "`a `b` c`" not in text


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


def test_a_page_without_results_is_a_page(tmp_path: Path) -> None:
    page = Page(write_experiment(tmp_path, "", summary_of({"None": {}}), MADE).read_text())
    assert (page.wrong, page.open) == ([], [])
    assert "Figures" not in page.text
