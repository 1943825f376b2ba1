"""Named points over two axes."""

from collections.abc import Mapping

from groundling.report.charts.canvas import FONT, Canvas, draw_x_axis, draw_y_axis, paint
from groundling.report.charts.scales import Scale, extent, text_width, tick_labels, ticks_around

LABEL_HEIGHT, NEAR = FONT + 1, 40  # names nearer than this would be set on each other


def scatter(
    title: str,
    points: Mapping[str, tuple[float, float]],
    x_label: str = "",
    y_label: str = "",
    intervals: Mapping[str, tuple[float, float]] | None = None,
    y_range: tuple[float, float] | None = None,
    width: float = 400,
    plot_height: float = 180,
) -> str:
    """A dot and a name for each point (x, y), with a whisker from low to high where `intervals` has one.

    Names of points that lie on each other are moved apart, downwards.
    """
    intervals = intervals or {}
    ys = [y for _, y in points.values()] + [end for pair in intervals.values() for end in pair] + [*(y_range or ())]
    y_ticks = ticks_around(*extent(ys), count=4)
    x_ticks = ticks_around(*extent([x for x, _ in points.values()]), count=max(2, int(width // 90)))
    y_labels, x_labels = tick_labels(y_ticks), tick_labels(x_ticks)
    left = max(text_width(label, FONT) for label in y_labels) + 10
    right = width - max(text_width(name, FONT) for name in [*points, x_labels[-1]]) - 8
    top = FONT + 14 if y_label else FONT
    bottom = top + plot_height
    canvas = Canvas(title, width, bottom + 22 + (16 if x_label else 0), left, right, top, bottom)
    x_scale, y_scale = Scale(x_ticks[0], x_ticks[-1], left + 8, right), Scale(y_ticks[0], y_ticks[-1], bottom, top)
    draw_y_axis(canvas, y_scale, y_ticks, y_labels, y_label)
    draw_x_axis(canvas, x_scale, x_ticks, x_labels, x_label)
    taken: list[tuple[float, float]] = []
    for name, (x, y) in sorted(points.items(), key=lambda point: -point[1][1]):
        place = x_scale(x), y_scale(y)
        if name in intervals:
            low, high = (y_scale(end) for end in intervals[name])
            canvas.line(place[0], low, place[0], high, f'style="stroke:{paint(0)}" stroke-opacity="0.45"')
        canvas.parts.append(f'<circle cx="{place[0]:.2f}" cy="{place[1]:.2f}" r="3.2" style="fill:{paint(0)}"/>')
        line = place[1] + 4
        while any(abs(line - other) < LABEL_HEIGHT and abs(place[0] - beside) < NEAR for beside, other in taken):
            line += 1
        taken.append((place[0], line))
        canvas.text(place[0] + 7, line, name)
    return canvas.svg(". ".join(f"{name}: {x:g}, {y:g}" for name, (x, y) in points.items()))
