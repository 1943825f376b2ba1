"""Bars side by side in groups, with error bars."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, radians, sin

from groundling.report.charts.canvas import (
    FONT,
    Canvas,
    draw_legend,
    draw_y_axis,
    legend_height,
    paint,
    shade,
)
from groundling.report.charts.scales import (
    Scale,
    extent,
    shortened,
    text_width,
    tick_labels,
    ticks_around,
    usable,
)
from groundling.report.escape import escape


@dataclass(frozen=True)
class Bars:
    """One bar per group, all of one colour. `deviations` (one per value) draw error bars of ± that size."""

    name: str
    values: Sequence[float | None]
    deviations: Sequence[float | None] = ()


def bars(
    title: str,
    groups: Sequence[str],
    series: Sequence[Bars],
    y_label: str = "",
    width: float = 400,
    plot_height: float = 200,
) -> str:
    """Bars side by side within each group, from zero; group names lean where they would touch."""
    ends: list[float | None] = [0.0]
    for each in series:
        for value, spread in zip(each.values, each.deviations or [0.0] * len(each.values), strict=True):
            if value is not None and usable(value):
                size = spread if spread is not None and usable(spread) else 0.0
                ends += [value - size, value + size] if size else [value]
    y_ticks = ticks_around(*extent(ends), count=max(4, int(plot_height // 36)))
    y_labels = tick_labels(y_ticks)
    left = max(text_width(label, FONT) for label in y_labels) + 10
    right = width - 6
    slot = (right - left) / max(len(groups), 1)
    widest = max((text_width(group, FONT) for group in groups), default=0.0)
    lean = widest > slot - 6
    words = [shortened(group, FONT, 120) if lean else group for group in groups]
    if lean:  # a leaning first name reaches to the left of its bar
        left = max(left, text_width(words[0], FONT) * cos(radians(35)) - slot / 2 + 4)
        slot = (right - left) / len(groups)
    below = 22 if not lean else 18 + max(text_width(word, FONT) for word in words) * sin(radians(35))
    top = FONT + 14 if y_label else FONT
    bottom = top + plot_height
    names = [each.name for each in series]
    height = bottom + below + legend_height(names, right - left)
    canvas = Canvas(title, width, height, left, right, top, bottom)
    scale = Scale(y_ticks[0], y_ticks[-1], bottom, top)
    draw_y_axis(canvas, scale, y_ticks, y_labels, y_label)
    thick = 0.76 * slot / max(len(series), 1)
    for number, word in enumerate(words):
        x = left + (number + 0.5) * slot
        turn = f' transform="rotate(-35 {x:.2f} {bottom + 14:.2f})"' if lean else ""
        canvas.text(x, bottom + (14 if lean else 16), word, "end" if lean else "middle", f' class="x tick"{turn}')
    for index, each in enumerate(series):
        canvas.parts.append(f'<g class="bars"><title>{escape(each.name)}</title>')
        for number, value in enumerate(each.values):
            if value is None or not usable(value):
                continue
            x = left + number * slot + 0.12 * slot + index * thick
            y, zero = scale(value), scale(0.0)
            canvas.parts.append(
                f'<rect x="{x:.2f}" y="{min(y, zero):.2f}" width="{0.92 * thick:.2f}" height="{abs(zero - y):.2f}" '
                f'style="fill:{paint(index)}{shade(index)}"/>'
            )
            spread = each.deviations[number] if each.deviations else None
            if spread is not None and usable(spread):
                middle, cap = x + 0.46 * thick, min(3.0, 0.3 * thick)
                style = 'class="error" stroke="currentColor" stroke-width="1.2"'
                high, low = scale(value + spread), scale(value - spread)
                canvas.line(middle, low, middle, high, style)
                for end in (low, high):
                    canvas.line(middle - cap, end, middle + cap, end, 'stroke="currentColor" stroke-width="1.2"')
        canvas.parts.append("</g>")
    canvas.line(left, scale(0.0), right, scale(0.0), 'stroke="currentColor" stroke-opacity="0.6"')
    draw_legend(canvas, names, right - left, "square")
    told = [
        f"{each.name}: " + ", ".join(f"{g} {v:g}" for g, v in zip(groups, each.values, strict=True) if v is not None)
        for each in series
    ]
    return canvas.svg(". ".join(told))
