"""Charts with names beside dots, read back from their SVG."""

import math
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.report.charts.named_line_chart import Mark, NamedLine, named_lines
from groundling.report.html import Charts, Figure

SVG = "{http://www.w3.org/2000/svg}"


def nodes(svg: str, tag: str, kind: str | None = None) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(svg)  # noqa: S314 (our own output)
    return [node for node in root.iter(SVG + tag) if kind is None or node.get("class") == kind]


@given(st.lists(st.tuples(st.floats(0.5, 80), st.floats(0, 100)), min_size=1, max_size=17), st.booleans())
@settings(deadline=None, max_examples=25)
def test_every_line_is_named_in_the_chart_or_below(points: list[tuple[float, float]], log_x: bool) -> None:
    lines = [NamedLine(f"system {n}", [Mark(f"system {n}", x, y, 1.0)]) for n, (x, y) in enumerate(points)]
    svg = named_lines("t", lines, "x", "y", log_x)
    texts = [node.text for node in nodes(svg, "text")]
    assert sorted(text for text in texts if text and text.startswith("system")) == sorted(line.name for line in lines)
    dots = [(float(node.attrib["cx"]), float(node.attrib["cy"])) for node in nodes(svg, "circle")][: len(points)]
    for (x, y), (a, b) in zip(points, dots, strict=True):
        assert all((x < other_x) <= (a <= other_a) for (other_x, _), (other_a, _) in zip(points, dots, strict=True))
        assert all((y < other_y) <= (b >= other_b) for (_, other_y), (_, other_b) in zip(points, dots, strict=True))
    width, height = map(float, nodes(svg, "svg")[0].attrib["viewBox"].split()[2:])
    for node in nodes(svg, "text"):
        assert 0 <= float(node.attrib["x"]) <= width
        assert 0 <= float(node.attrib["y"]) <= height


def test_names_have_their_line_s_colour_and_words_are_escaped() -> None:
    lines = [NamedLine(name, [Mark(name, x, 1.0)]) for x, name in enumerate(("a < b", "c"), start=1)]
    svg = named_lines("t", lines)
    for number, node in enumerate(nodes(svg, "text", "name"), start=1):
        assert f"--series-{number}," in node.attrib["style"]
    assert [node.text for node in nodes(svg, "text", "name")] == ["a < b", "c"]


def test_a_line_s_name_stands_at_its_own_dot() -> None:
    """Where other kinds of dots are above it."""
    marks = [Mark("a", 5, 1.0), Mark("a-X", 5, 9.0, kind="X")]
    svg = named_lines("t", [NamedLine("a", marks), NamedLine("b", [Mark("b", 9, 5.0)])])
    own, hollow = nodes(svg, "circle")[:2]
    (name, _) = nodes(svg, "text", "name")
    distances = [abs(float(dot.attrib["cy"]) - float(name.attrib["y"])) for dot in (own, hollow)]
    assert distances[0] < 12 < distances[1]
    assert "fill:" in own.attrib["style"]
    assert hollow.get("fill") == "none"


@pytest.mark.parametrize("log_x", [False, True])
def test_no_dots_and_dots_without_a_place(log_x: bool) -> None:
    assert "no data" in named_lines("t", [], log_x=log_x)
    odd = [
        NamedLine("a", [Mark("a", math.nan, 1.0), Mark("b", 2.0, math.inf)]),
        NamedLine("c", [Mark("c", 1, 1, math.inf)]),
    ]
    svg = named_lines("t", odd, log_x=log_x)
    assert len(nodes(svg, "circle")) == 1
    assert not re.search(r"nan|inf", svg.replace("inherit", ""))
    assert ("no data" in named_lines("t", [NamedLine("a", [Mark("a", 0.0, 1.0)])], log_x=log_x)) == log_x


def test_it_has_the_whole_width_of_a_page() -> None:
    assert '<figure class="wide">' in Charts([Figure(named_lines("t", []), "words")]).html()
    assert "<figure>" in Charts([Figure(named_lines("t", [], width=400), "words")]).html()
