"""Tables keep their cells whatever the cells hold, in every rendering."""

import io
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from groundling.report.formatted_table import Column, Table
from groundling.report.numbers import Measured, duration, mean_and_deviation, rounded

NASTY = "<script>alert('1')</script> | a & b \\ **c** `d` [e](f) <!-- g _h_ snake_case"


def markdown_cells(line: str) -> list[str]:
    """The cells of one table row as a Markdown reader sees them: split at bare bars, then unescaped."""
    cells = re.split(r"(?<!\\)(?:\\\\)*\|", line.strip())[1:-1]
    texts = [re.sub(r"\\([\\`*_\[\]|~])", r"\1", cell.strip()) for cell in cells]
    return [text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") for text in texts]


class Cells(HTMLParser):
    """Collects the text of every th and td, and the strong ones among them."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.strong: list[str] = []
        self.tags: set[str] = set()
        self.bold = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append("")
        self.bold = tag == "strong"

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip("\n")
        if self.bold:
            self.strong.append(data)


def parse(html: str) -> Cells:
    cells = Cells()
    cells.feed(html)
    return cells


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (41.25, "41.3"),
        (41.24, "41.2"),
        (0.05, "0.1"),
        (-0.04, "0.0"),
        (99.96, "100.0"),
        (float("nan"), "–"),
        (None, "–"),
    ],
)
def test_numbers_round_half_up(value: float | None, shown: str) -> None:
    assert rounded(value) == shown


def test_mean_and_deviation() -> None:
    assert mean_and_deviation(41.23, 0.649) == "41.2 ± 0.6"
    assert mean_and_deviation(41.23) == "41.2"
    assert mean_and_deviation(41.23, float("nan")) == "41.2"
    assert mean_and_deviation(0.12345, 0.01, decimals=3) == "0.123 ± 0.010"


def test_durations() -> None:
    assert [duration(x) for x in (41.6, 119, 720, 3599, 3661, 7500)] == [
        "42 s", "119 s", "12 min", "1 h 00 min", "1 h 01 min", "2 h 05 min",
    ]  # fmt: skip


@given(st.lists(st.tuples(st.text(max_size=30), st.floats(-1e6, 1e6)), min_size=1, max_size=5))
def test_markdown_reads_back(rows: list[tuple[str, float]]) -> None:
    table = Table("", [Column("what", text=True), Column("R@1")], [(NASTY, 1.0), *rows])
    lines = table.markdown().splitlines()
    assert len(lines) == len(rows) + 3
    assert markdown_cells(lines[2])[0] == NASTY
    for line, (text, number) in zip(lines[3:], rows, strict=True):
        got = markdown_cells(line)
        cleaned = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", "", text)
        assert got == [" ".join(cleaned.split()), rounded(number)]


def test_markdown_is_aligned_also_with_wide_letters() -> None:
    from rich.cells import cell_len

    table = Table("", [Column("query", text=True), Column("n")], [("喜笑颜开", 1.0), ("abc", 123.4)])
    assert len({cell_len(line) for line in table.markdown().splitlines()}) == 1


def test_html_escapes_and_keeps_every_cell() -> None:
    table = Table(NASTY, [Column(NASTY, NASTY, text=True), Column("n", "g")], [(NASTY, 3)], [NASTY], [(NASTY, None)])
    found = parse(table.html())
    assert found.tags == {"div", "table", "caption", "thead", "tbody", "tfoot", "tr", "th", "td", "p"}
    assert found.rows[2] == [NASTY, "3"]
    assert found.rows[3][0] == NASTY
    assert 'scope="row"' in table.html()
    assert 'scope="col"' in table.html()


def test_group_headings_span_their_columns() -> None:
    columns = [Column("a", text=True), Column("b", "g"), Column("c", "g"), Column("d")]
    html = Table("t", columns, [("x", 1.0, 2.0, 3.0)]).html()
    assert '<td></td><th scope="colgroup" colspan="2">g</th><td></td>' in html


def test_best_is_bold_by_what_is_shown_and_the_foot_does_not_compete() -> None:
    columns = [Column("s", text=True), Column("high", best="high"), Column("low", best="low"), Column("none")]
    rows = [("a", 40.04, 3.0, 9.0), ("b", Measured(39.96, 0.5), 2.0, 1.0), ("c", 12.0, None, 4.0)]
    table = Table("t", columns, rows, foot=[("mean", 99.0, 0.0, 99.0)])
    assert parse(table.html()).strong == ["40.0", "40.0 ± 0.5", "2.0"]
    assert re.findall(r"\*\*(.+?)\*\*", table.markdown().split("\n", 2)[2]) == ["40.0", "40.0 ± 0.5", "2.0"]


def test_a_single_number_is_not_the_best() -> None:
    table = Table("", [Column("s", text=True), Column("n", best="high")], [("a", 4.0), ("b", None)])
    assert "<strong>" not in table.html()


def test_terminal_shows_text_as_it_is() -> None:
    table = Table("[red]title", [Column("[b]x", text=True), Column("n", "g")], [("[link]y[/link]", 1.25)])
    console = Console(file=io.StringIO(), width=80)
    console.print(table.terminal())
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert all(word in shown for word in ("[red]title", "[b]x", "[link]y[/link]", "1.3"))


def test_a_row_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(ValueError, match="2 cells under 1 columns"):
        Table("", [Column("a")], [(1, 2)])
