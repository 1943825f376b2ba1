"""Charts are read back from their SVG: what is higher in the data is higher on the page, at the right place."""

import math
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import groundling.report
from groundling.report.charts import Bars, Series, bars, lines
from groundling.report.charts.canvas import COLOURS
from groundling.report.charts.named_line_chart import STRENGTH
from groundling.report.charts.scales import (
    Scale,
    text_width,
    tick_labels,
    ticks_around,
    ticks_at,
    ticks_inside,
    ticks_inside_log,
)

SVG = "{http://www.w3.org/2000/svg}"
NAN = float("nan")


class Drawing:
    """An SVG chart with its ticks and marks as numbers."""

    def __init__(self, text: str) -> None:
        self.root = ElementTree.fromstring(text)  # noqa: S314 (our own output)
        _, _, self.width, self.height = map(float, self.root.attrib["viewBox"].split())
        self.x_ticks = self._ticks("x tick", "x")
        self.y_ticks = self._ticks("y tick", "y")

    def _ticks(self, kind: str, axis: str) -> list[tuple[float, float]]:
        """(value, place), lowest value first; labels stand 4 units below their line on the y axis."""
        found = [node for node in self.root.iter(SVG + "text") if node.get("class") == kind]
        try:
            values = [float((node.text or "").replace(",", "")) for node in found]
        except ValueError:
            return []
        shift = 4 if axis == "y" else 0
        return sorted((value, float(node.attrib[axis]) - shift) for value, node in zip(values, found, strict=True))

    def series(self, index: int = 0) -> list[tuple[float, float]]:
        """All places of a series, from its lines and its dots, left to right."""
        group = [node for node in self.root.iter(SVG + "g") if node.get("class") == "series"][index]
        places = set()
        for node in group:
            if node.tag == SVG + "circle":
                places.add((float(node.attrib["cx"]), float(node.attrib["cy"])))
            elif node.get("class") == "line":
                places |= {(x, y) for x, y in numbers(node.attrib["d"])}
        return sorted(places)

    def runs(self) -> list[int]:
        return [len(numbers(node.attrib["d"])) for node in self.root.iter(SVG + "path") if node.get("class") == "line"]

    def value(self, y: float) -> float:
        """The value at height y, from the outermost ticks."""
        (low, bottom), (high, top) = self.y_ticks[0], self.y_ticks[-1]
        return low + (bottom - y) / (bottom - top) * (high - low)


def numbers(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"(-?[\d.]+) (-?[\d.]+)", path)]


def test_a_line_by_hand() -> None:
    drawing = Drawing(lines("loss", [Series("loss", [(0, 0), (50, 10), (100, 5)])]))
    assert [value for value, _ in drawing.y_ticks] == [0, 2, 4, 6, 8, 10]
    left, middle, right = drawing.series()
    assert middle[0] == pytest.approx((left[0] + right[0]) / 2, abs=0.02)
    assert left[1] == pytest.approx(drawing.y_ticks[0][1], abs=0.02)
    assert middle[1] == pytest.approx(drawing.y_ticks[-1][1], abs=0.02)
    assert right[1] == pytest.approx((left[1] + middle[1]) / 2, abs=0.02)


values = st.one_of(st.floats(-1e9, 1e9), st.just(NAN), st.none(), st.sampled_from([0.0, 1e-12, float("inf"), 7.0]))


@settings(max_examples=150, deadline=None)
@given(st.lists(values, min_size=1, max_size=40), st.booleans(), st.integers(0, 3))
def test_points_keep_their_order_and_value(ys: list[float | None], log_x: bool, copies: int) -> None:
    points = [(float(x + 1), y) for x, y in enumerate(ys)]
    drawing = Drawing(lines("t", [Series(f"s{n}", points) for n in range(copies + 1)], log_x=log_x))
    known = [y for y in ys if y is not None and math.isfinite(y)]
    places = drawing.series()
    assert len(places) == len(known)  # gaps are gaps, nothing is lost
    for (x, y), place in zip([p for p in points if p[1] is not None and math.isfinite(p[1])], places, strict=True):
        assert 0 <= place[0] <= drawing.width
        assert 0 <= place[1] <= drawing.height
        span = drawing.y_ticks[-1][0] - drawing.y_ticks[0][0]
        assert drawing.value(place[1]) == pytest.approx(y, abs=1e-3 * span), x
    for (_, higher), value in zip(places, known, strict=True):
        for (_, other), smaller in zip(places, known, strict=True):
            assert value <= smaller or higher <= other
    if known:
        span = max(known) - min(known)
        assert drawing.y_ticks[0][0] <= min(known) + 1e-6 * max(span, abs(min(known)))
        assert drawing.y_ticks[-1][0] >= max(known) - 1e-6 * max(span, abs(max(known)))


def test_a_missing_value_breaks_the_line() -> None:
    drawing = Drawing(lines("t", [Series("s", [(0, 1), (1, 2), (2, NAN), (3, 4), (4, None), (5, 2), (6, 3)])]))
    assert drawing.runs() == [2, 2]
    assert len(drawing.series()) == 5


def test_points_out_of_order_are_drawn_left_to_right() -> None:
    one = lines("t", [Series("s", [(3, 1), (1, 2), (2, 5)], [0, 1, 4], [2, 3, 6])])
    two = lines("t", [Series("s", [(1, 2), (2, 5), (3, 1)], [1, 4, 0], [3, 6, 2])])
    assert numbers(one.split('class="line" d="')[1]) == numbers(two.split('class="line" d="')[1])
    assert one.split('class="band" d="')[1].split('"')[0] == two.split('class="band" d="')[1].split('"')[0]


def test_a_log_axis_makes_equal_ratios_equal_steps_and_leaves_out_zero() -> None:
    drawing = Drawing(lines("t", [Series("s", [(0, 9), (1, 1), (10, 2), (100, 3), (1000, 4)])], log_x=True))
    places = [x for x, _ in drawing.series()]
    assert len(places) == 4
    steps = [b - a for a, b in pairwise(places)]
    assert max(steps) - min(steps) < 0.05
    assert [value for value, _ in drawing.x_ticks] == [1, 10, 100, 1000]


def test_a_band_lies_around_its_line() -> None:
    text = lines("t", [Series("s", [(0, 5), (1, 6)], low=[4, 4], high=[6, 9])])
    drawing = Drawing(text)
    band = next(node for node in drawing.root.iter(SVG + "path") if node.get("class") == "band")
    assert [round(drawing.value(y), 1) for _, y in numbers(band.attrib["d"])] == [6, 9, 4, 4]


@given(st.lists(st.text(min_size=1, max_size=60), min_size=2, max_size=14))
@settings(max_examples=60, deadline=None)
def test_no_word_is_clipped_or_touches_another(names: list[str]) -> None:
    series = [Series(name, [(0, 1e6 * n), (123456, -3.5)]) for n, name in enumerate(names)]
    drawing = Drawing(lines(names[0], series, "an x label", "a y label " * 20))
    boxes = []
    for node in drawing.root.iter(SVG + "text"):
        wide = text_width(node.text or "", 11.5)
        x, y = float(node.attrib["x"]), float(node.attrib["y"])
        x -= {"start": 0, "middle": wide / 2, "end": wide}[node.attrib["text-anchor"]]
        assert x >= -0.1
        assert x + wide <= drawing.width + 0.1
        assert 8 <= y <= drawing.height
        boxes.append((x, y, x + wide))
    assert len(boxes) == len(names) + len(drawing.x_ticks) + len(drawing.y_ticks) + 2
    for number, (left, y, right) in enumerate(boxes):
        for other_left, other_y, other_right in boxes[:number]:
            assert abs(y - other_y) > 11.5 or left > other_right or right < other_left


def test_words_are_escaped_and_told_to_screen_readers() -> None:
    text = lines('a <b> & "c" \x00\ud800', [Series("<i>", [(0, 1.0)]), Series("]]>", [(0, 2.0)])], "x<", "y&")
    root = Drawing(text).root
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == (root.findtext(SVG + "title") or "") == 'a <b> & "c" '
    assert "<i>: 1 at 0" in (root.findtext(SVG + "desc") or "")


@pytest.mark.parametrize("series", [[], [Series("s", [])], [Series("s", [(1, NAN)])]])
@pytest.mark.parametrize("log_x", [False, True])
def test_a_chart_without_data_says_so(series: list[Series], log_x: bool) -> None:
    assert "no data" in lines("t", series, log_x=log_x)


def test_bars_stand_on_zero_with_their_errors_around_the_end() -> None:
    series = [Bars("a", [10, -5, None], [2, 1, None]), Bars("b", [20, NAN, 4])]
    drawing = Drawing(bars("t", ["en", "de", "fr"], series))
    groups = [node for node in drawing.root.iter(SVG + "g") if node.get("class") == "bars"]
    rects = [[{k: float(v) for k, v in r.items() if k != "style"} for r in g.iter(SVG + "rect")] for g in groups]
    assert [len(each) for each in rects] == [2, 2]
    up, down = rects[0]
    assert drawing.value(up["y"]) == pytest.approx(10, abs=0.05)
    assert drawing.value(up["y"] + up["height"]) == pytest.approx(0, abs=0.05)
    assert drawing.value(down["y"]) == pytest.approx(0, abs=0.05)
    assert drawing.value(down["y"] + down["height"]) == pytest.approx(-5, abs=0.05)
    assert up["x"] + up["width"] <= rects[1][0]["x"]  # side by side
    errors = [node for node in drawing.root.iter(SVG + "line") if node.get("class") == "error"]
    ends = [[drawing.value(float(node.attrib[key])) for key in ("y1", "y2")] for node in errors]
    assert ends == [pytest.approx([8, 12], abs=0.05), pytest.approx([-6, -4], abs=0.05)]
    assert drawing.y_ticks[0][0] <= -6
    assert drawing.y_ticks[-1][0] >= 20


def test_long_group_names_lean_and_stay_inside() -> None:
    drawing = Drawing(bars("t", ["a rather long name"] * 9, [Bars("x", list(range(9)))]))
    labels = [node for node in drawing.root.iter(SVG + "text") if node.get("class") == "x tick"]
    lean = math.radians(35)
    for node in labels:
        assert "rotate(-35" in node.attrib["transform"]
        wide = text_width(node.text or "", 11.5)
        assert float(node.attrib["x"]) - wide * math.cos(lean) >= 0
        assert float(node.attrib["y"]) + wide * math.sin(lean) <= drawing.height


def test_ticks_by_hand() -> None:
    assert ticks_around(3, 97, 5) == [0, 20, 40, 60, 80, 100]
    assert tick_labels(ticks_around(0.3, 0.9, 6)) == ["0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"]
    assert ticks_inside(500, 8000, 4) == [2000, 4000, 6000, 8000]
    assert ticks_inside_log(1, 20, 5) == [1, 2, 5, 10, 20]
    assert ticks_inside_log(5, 80, 9) == [5, 10, 20, 50]
    assert ticks_inside_log(9.8, 82, 9) == [10, 15, 20, 30, 50, 70]
    assert ticks_inside_log(6.6, 26, 9) == [7, 10, 15, 20]
    assert tick_labels([1e-6, 1e-4, 1e-2]) == ["1e-6", "1e-4", "1e-2"]
    assert tick_labels([0, 2500, 5000]) == ["0", "2,500", "5,000"]
    assert tick_labels([0.0, 1e-6, 2e-6]) == ["0", "1e-6", "2e-6"]
    assert tick_labels([-0.5, 0.0, 0.5]) == ["-0.5", "0.0", "0.5"]


@pytest.mark.parametrize("log_x", [False, True])
def test_ticks_at_few_points(log_x: bool) -> None:
    """One at each; round ones instead where they would be too many, too close, or not exact."""
    series = [Series("a", [(1, 5), (2, 6), (7, 4)]), Series("b", [(4, 4)])]
    drawing = Drawing(lines("t", series, log_x=log_x, ticks_at_points=True))
    assert [value for value, _ in drawing.x_ticks] == [1, 2, 4, 7]
    assert {place for _, place in drawing.x_ticks} == {x for n in range(2) for x, _ in drawing.series(n)}
    assert [value for value, _ in Drawing(lines("t", series)).x_ticks] == [2, 4, 6]
    scale = Scale(1, 1000, 0, 400, log_x)
    assert ticks_at([50, 200, 1000], scale, 11) == [50, 200, 1000]
    assert ticks_at(range(1, 10), Scale(1, 9, 0, 400), 11) == []
    assert ticks_at([998, 999, 1000], scale, 11) == []
    assert ticks_at([1, 2.25, 900], scale, 11) == []
    assert ticks_at([7], scale, 11) == []


@given(st.floats(-1e12, 1e12), st.floats(1e-6, 1e12), st.integers(1, 9))
def test_tick_labels_are_all_different(low: float, span: float, count: int) -> None:
    span = max(span, 1e-7 * abs(low))
    for ticks in (ticks_around(low, low + span, count), ticks_inside(low, low + span, count)):
        assert 2 <= len(ticks) <= count + 3 or count < 4
        assert len(set(tick_labels(ticks))) == len(ticks)


def luminance(colour: str) -> float:
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def mixed(one: str, other: str, share: float) -> str:
    """What color-mix(in srgb, …) makes of two colours."""
    places = [slice(start, start + 2) for start in (1, 3, 5)]
    parts = [share * int(one[place], 16) + (1 - share) * int(other[place], 16) for place in places]
    return "#" + "".join(f"{round(part):02x}" for part in parts)


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_colours_can_be_read_in_light_and_dark() -> None:
    """4.5 : 1 for words, 3 : 1 for lines (WCAG 2, AA)."""
    style = (Path(groundling.report.__file__).parent / "templates" / "style.css").read_text(encoding="utf-8")
    light, dark = (dict(re.findall(r"(--[\w-]+): (#\w{6})", part)) for part in style.split("@media", 2)[:2])
    light |= {f"--series-{number}": colour for number, colour in enumerate(COLOURS, 1)}
    assert light.keys() == dark.keys()
    for colours in (light, dark):
        for name, colour in colours.items():
            least = 4.5 if name in ("--ink", "--soft", "--accent", "--right", "--wrong") else 3.0
            if name not in ("--paper", "--raised", "--line", "--tile"):
                assert contrast(colour, colours["--paper"]) >= least, name
            if name.startswith("--series"):
                written = mixed(colour, colours["--ink"], STRENGTH / 100)
                assert contrast(written, colours["--paper"]) >= 4.5, name
