"""What all tests of an experiment's report share: summaries made from numbers, and readers of what was written."""

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

from rich.console import Console

from groundling.experiments.finished import Results
from groundling.experiments.results import summarise
from groundling.experiments.summary import ClaimResult, Finding, TableSummary
from groundling.experiments.table_entries import table_entries
from groundling.experiments.table_settings import TableSettings
from groundling.report.formatted_table import Table
from groundling.settings import check
from made_results import entry_result, scores


def summary_of(
    rows: Mapping[str, Mapping[str, Sequence[float]]],
    /,
    published: dict[str, dict[str, Any]] | None = None,
    metrics: tuple[str, ...] = ("mR",),
    languages: tuple[str, ...] = ("en", "de"),
    claims: list[ClaimResult] | None = None,
    **changes: Any,
) -> TableSummary:
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
    for entry in table_entries(table):
        (code,), seed = entry.group, entry.recipe.training.seed
        numbers = rows[entry.row].get(code, ())
        if seed < len(numbers):
            recalls = dict.fromkeys(("R@1", "R@5", "R@10", "median", "mean"), numbers[seed])
            both = {"mR": numbers[seed], "rsum": numbers[seed]}
            results[entry.folder] = entry_result({code: scores(both, recalls, recalls)})
    summary = summarise(table, results)
    return summary if claims is None else replace(summary, claims=claims)


ROWS: dict[str, dict[str, tuple[float, ...]]] = {
    "Alone": {"en": (10, 14), "de": (20, 30)},
    "Both": {"en": (11, 13), "de": (25, 15)},
}
CLAIM = ClaimResult(
    "Two are better",
    "Both",
    "Alone",
    None,
    {
        "en": Finding(2.5, 9.04, 5.55, "holds"),
        "de": Finding(-0.3, -0.04, 1.2, "not resolved"),
        "fr": Finding(None, -2.0, None, "one seed"),
        "cs": Finding(None),
    },
)
MADE = {"command": "groundling reproduce x", "commit": "abc", "trainings": 6}


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
