"""Lines over a common x axis, with bands where there are several values at a place."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from groundling.report.charts.canvas import (
    FONT,
    Canvas,
    dash,
    draw_legend,
    draw_x_axis,
    draw_y_axis,
    legend_height,
    paint,
)
from groundling.report.charts.scales import (
    Scale,
    extent,
    text_width,
    tick_labels,
    ticks_around,
    ticks_at,
    ticks_inside,
    ticks_inside_log,
    usable,
)
from groundling.report.escape import escape

MARKED = 15  # series of up to this many points show each as a dot


@dataclass(frozen=True)
class Series:
    """A named line. `low` and `high` (one value per point) draw a band behind it."""

    name: str
    points: Sequence[tuple[float, float | None]]
    low: Sequence[float | None] = ()
    high: Sequence[float | None] = ()


def _path(points: Sequence[tuple[float, ...]]) -> str:
    return "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in points)


def _unbroken(places: Iterable[tuple[float, ...] | None]) -> list[list[tuple[float, ...]]]:
    """Runs of neighbours that are all there; None separates them."""
    return [[place for place in run if place] for there, run in groupby(places, key=lambda place: bool(place)) if there]


def _draw_series(canvas: Canvas, index: int, series: Series, x_scale: Scale, y_scale: Scale) -> None:
    """Bands, then lines broken where a value is missing, then dots where a line alone would show nothing."""
    banded = bool(series.low and series.high)
    drawable = [number for number, (x, _) in enumerate(series.points) if usable(x) and (x > 0 or not x_scale.log)]
    drawable.sort(key=lambda number: series.points[number][0])

    def place(number: int, *values: float | None) -> tuple[float, ...] | None:
        """x and one y for each value; None where a value is missing."""
        known = [value for value in values if value is not None and usable(value)]
        return (x_scale(series.points[number][0]), *map(y_scale, known)) if len(known) == len(values) else None

    canvas.parts.append(f'<g class="series"><title>{escape(series.name)}</title>')
    bands = [place(number, series.low[number], series.high[number]) for number in drawable] if banded else []
    for band in _unbroken(bands):
        outline = [(x, high) for x, _, high in band] + [(x, low) for x, low, _ in reversed(band)]
        canvas.parts.append(
            f'<path class="band" d="{_path(outline)}Z" style="fill:{paint(index)}" fill-opacity="0.16"/>'
        )
    for run in _unbroken(place(number, series.points[number][1]) for number in drawable):
        if len(run) > 1:
            style = f'style="stroke:{paint(index)}" stroke-width="1.8" stroke-linejoin="round"{dash(index)}'
            canvas.parts.append(f'<path class="line" d="{_path(run)}" fill="none" {style}/>')
        if len(run) == 1 or len(drawable) <= MARKED:
            circle = f'r="2.4" style="fill:{paint(index)}"'
            canvas.parts += [f'<circle cx="{x:.2f}" cy="{y:.2f}" {circle}/>' for x, y in run]
    canvas.parts.append("</g>")


def _in_words(series: Series) -> str:
    known = [(x, y) for x, y in series.points if y is not None and usable(y)]
    if not known:
        return f"{series.name}: no values."
    (first_x, first), (last_x, last) = known[0], known[-1]
    return f"{series.name}: {first:g} at {first_x:g}, {last:g} at {last_x:g}."


def lines(
    title: str,
    series: Sequence[Series],
    x_label: str = "",
    y_label: str = "",
    log_x: bool = False,
    y_range: tuple[float, float] | None = None,
    width: float = 400,
    plot_height: float = 200,
    ticks_at_points: bool = False,
) -> str:
    """Lines over a common x, with bands where series have them; missing values are gaps.

    Sizes are units of the drawing, which fills the width it is given. `log_x` leaves out points at x ≤ 0; `y_range`
    makes several charts comparable. The y axis ends on ticks, the x axis where the data end; `ticks_at_points` has its
    ticks where the points are, if these are few.
    """
    xs = [x for each in series for x, _ in each.points if usable(x) and (x > 0 or not log_x)]
    ys: list[float | None] = [*(y_range or ())]
    for each in series:
        ys += [*(y for _, y in each.points), *each.low, *each.high]
    y_ticks = ticks_around(*extent(ys), count=max(4, int(plot_height // 36)))
    y_labels = tick_labels(y_ticks)
    left = max(text_width(label, FONT) for label in y_labels) + 10
    low, high = extent(xs)
    if log_x and not xs:
        low, high = 1.0, 10.0
    room = int((width - left) // 70)
    x_ticks = ticks_at(xs, Scale(low, high, left, width, log_x), FONT) if ticks_at_points else []
    x_ticks = x_ticks or (ticks_inside_log if log_x else ticks_inside)(low, high, max(2, room))
    x_labels = tick_labels(x_ticks)
    right = width - max((text_width(label, FONT) / 2 for label in x_labels), default=0) - 4
    top = FONT + 14 if y_label else FONT
    bottom = top + plot_height
    names = [each.name for each in series]
    height = bottom + 22 + (16 if x_label else 0) + legend_height(names, right - left)
    canvas = Canvas(title, width, height, left, right, top, bottom)
    x_scale = Scale(low, high, left, right, log_x)
    y_scale = Scale(y_ticks[0], y_ticks[-1], bottom, top)
    draw_y_axis(canvas, y_scale, y_ticks, y_labels, y_label)
    draw_x_axis(canvas, x_scale, x_ticks, x_labels, x_label)
    for index, each in enumerate(series):
        _draw_series(canvas, index, each, x_scale, y_scale)
    if not any(usable(y) for each in series for _, y in each.points):
        canvas.text((left + right) / 2, (top + bottom) / 2, "no data", "middle")
    draw_legend(canvas, names, right - left, "line")
    return canvas.svg(" ".join(_in_words(each) for each in series))
