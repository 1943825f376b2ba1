"""A chart of many short lines and single dots, each with its name beside it: a legend would have more colours than
eyes can tell apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from groundling.report.charts.canvas import FONT, Canvas, draw_x_axis, draw_y_axis, paint
from groundling.report.charts.labels import Box, Label, Placed, place_labels
from groundling.report.charts.scales import (
    Scale,
    extent,
    shortened,
    text_width,
    tick_labels,
    ticks_around,
    ticks_inside,
    ticks_inside_log,
    usable,
)
from groundling.report.escape import escape
from groundling.report.numbers import mean_and_deviation

RADIUS = 3.6
LABEL = FONT - 0.5
MARGIN = 0.05  # of the width, left and right of the outermost dots
LONGEST = 200.0  # a name's width
STRENGTH = 75  # percent of a line's colour in its name: words need more contrast than lines


@dataclass(frozen=True)
class Mark:
    """A dot of a line. `kind` says in what it differs from the line's own dots, which have none."""

    name: str
    x: float
    y: float
    deviation: float | None = None
    kind: str = ""


@dataclass(frozen=True)
class NamedLine:
    name: str
    marks: Sequence[Mark]


def named_lines(
    title: str,
    lines: Sequence[NamedLine],
    x_label: str = "",
    y_label: str = "",
    log_x: bool = False,
    width: float = 760,
    plot_height: float = 340,
    decimals: int = 1,
) -> str:
    """Dots with whiskers of ± one deviation, joined where they are of one line; kinds of dots are told below.

    A line's name stands at its own dot, or at one end of it where it has several. `log_x` leaves out dots at x ≤ 0.
    """
    lines = [NamedLine(line.name, [mark for mark in line.marks if _drawable(mark, log_x)]) for line in lines]
    lines = [line for line in lines if line.marks]
    marks = [mark for line in lines for mark in line.marks]
    log_x = log_x and bool(marks)
    ends = [mark.y + sign * (mark.deviation or 0.0) for mark in marks for sign in (-1, 1)]
    y_ticks = ticks_around(*extent(ends), count=max(4, int(plot_height // 45)))
    y_labels = tick_labels(y_ticks)
    left, right = max(text_width(label, FONT) for label in y_labels) + 10, width - 8
    low, high = _with_margin(*extent(mark.x for mark in marks), log_x)
    x_ticks = (ticks_inside_log if log_x else ticks_inside)(low, high, max(2, int((right - left) // 70)))
    top = FONT + 14 if y_label else FONT
    bottom = top + plot_height
    x_scale, y_scale = Scale(low, high, left, right, log_x), Scale(y_ticks[0], y_ticks[-1], bottom, top)
    placed = _placed(lines, x_scale, y_scale, Box(left + 1, top, right, bottom - 1))
    kinds = [kind for kind in dict.fromkeys(mark.kind for mark in marks) if kind]
    below = [_KeyEntry(kind, "currentColor", _shape(kinds, kind)) for kind in kinds]
    below += [_KeyEntry(line.name, paint(number), 0) for number, line in enumerate(lines) if placed[number] is None]
    across, step = _across(below, right - left)
    height = bottom + 22 + (16 if x_label else 0)
    canvas = Canvas(title, width, height + 18 * -(-len(below) // across), left, right, top, bottom)
    draw_y_axis(canvas, y_scale, y_ticks, y_labels, y_label)
    draw_x_axis(canvas, x_scale, x_ticks, tick_labels(x_ticks), x_label)
    for number, line in enumerate(lines):
        words = [f"{mark.name}: {_in_words(mark, decimals)}" for mark in line.marks]
        _draw_line(canvas, paint(number), line, kinds, words, x_scale, y_scale)
    for number, (line, label) in enumerate(zip(lines, placed, strict=True)):
        if label is not None:
            _draw_name(canvas, paint(number), line.name, label)
    if not marks:
        canvas.text((left + right) / 2, (top + bottom) / 2, "no data", "middle")
    for number, entry in enumerate(below):
        x, y = left + number % across * step, height + 18 * (number // across) + 8
        _draw_mark(canvas, x + 6, y - 4, entry.colour, entry.shape)
        canvas.text(x + 16, y, shortened(entry.name, FONT, step - 18))
    told = (f"{line.name}: {', '.join(_in_words(mark, decimals) for mark in line.marks)}." for line in lines)
    return canvas.svg(" ".join(told))


@dataclass(frozen=True)
class _KeyEntry:
    """Told below the chart: a kind of dots, or a line whose name found no room."""

    name: str
    colour: str
    shape: int


def _across(entries: Sequence[_KeyEntry], width: float) -> tuple[int, float]:
    """How many entries stand side by side, and how wide each is."""
    step = min(width, max((text_width(entry.name, FONT) for entry in entries), default=0.0) + 34)
    return max(1, int(width // step)), step


def _drawable(mark: Mark, log_x: bool) -> bool:
    return usable(mark.x) and usable(mark.y) and (mark.x > 0 or not log_x)


def _with_margin(low: float, high: float, log: bool) -> tuple[float, float]:
    if log:
        room = (high / low) ** MARGIN
        return low / room, high * room
    return low - MARGIN * (high - low), high + MARGIN * (high - low)


def _placed(lines: Sequence[NamedLine], x_scale: Scale, y_scale: Scale, frame: Box) -> list[Placed | None]:
    """Where names stand: clear of all dots, and of lines and whiskers if possible."""
    labels, dots, strokes = [], [], []
    for line in lines:
        places = [(x_scale(mark.x), y_scale(mark.y)) for mark in line.marks]
        dots += [Box(x, y, x, y).grown(RADIUS + 1.2) for x, y in places]
        strokes += list(pairwise(places))
        for (x, _), mark in zip(places, line.marks, strict=True):
            if mark.deviation is not None and usable(mark.deviation):
                strokes.append(((x, y_scale(mark.y - mark.deviation)), (x, y_scale(mark.y + mark.deviation))))
        own = [place for place, mark in zip(places, line.marks, strict=True) if not mark.kind] or places
        name = shortened(line.name, LABEL, LONGEST)
        labels.append(Label(name, text_width(name, LABEL) + 2, LABEL + 2, tuple(dict.fromkeys((own[0], own[-1])))))
    return place_labels(labels, frame, dots, strokes)


def _draw_line(
    canvas: Canvas, colour: str, line: NamedLine, kinds: list[str], words: list[str], x_scale: Scale, y_scale: Scale
) -> None:
    places = [(x_scale(mark.x), y_scale(mark.y)) for mark in line.marks]
    canvas.parts.append(f'<g class="series"><title>{escape(line.name)}</title>')
    if len(places) > 1:
        path = "M" + "L".join(f"{x:.2f} {y:.2f}" for x, y in places)
        style = f'style="stroke:{colour}" stroke-width="1.4" stroke-opacity="0.75" stroke-linejoin="round"'
        canvas.parts.append(f'<path class="line" d="{path}" fill="none" {style}/>')
    for (x, y), mark, told in zip(places, line.marks, words, strict=True):
        if mark.deviation is not None and usable(mark.deviation):
            low, high = y_scale(mark.y - mark.deviation), y_scale(mark.y + mark.deviation)
            canvas.line(x, low, x, high, f'class="whisker" style="stroke:{colour}" stroke-opacity="0.5"')
        _draw_mark(canvas, x, y, colour, _shape(kinds, mark.kind), told)
    canvas.parts.append("</g>")


def _shape(kinds: list[str], kind: str) -> int:
    return kinds.index(kind) + 1 if kind else 0


def _draw_mark(canvas: Canvas, x: float, y: float, colour: str, shape: int, told: str = "") -> None:
    """A line's own dots are full, other kinds hollow: round, then square, then standing on a corner."""
    words = f"<title>{escape(told)}</title>" if told else ""
    if shape == 0:
        drawn = f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{RADIUS}" style="fill:{colour}">{words}</circle>'
    elif shape % 3 == 1:
        style = f'style="stroke:{colour}" stroke-width="1.4" fill="none" pointer-events="all"'
        drawn = f'<circle cx="{x:.2f}" cy="{y:.2f}" r="{RADIUS - 0.7}" {style}>{words}</circle>'
    else:
        side, turn = 2 * RADIUS - 1.6, f' transform="rotate(45 {x:.2f} {y:.2f})"' if shape % 3 == 0 else ""
        style = f'style="stroke:{colour}" stroke-width="1.4" fill="none" pointer-events="all"{turn}'
        corner = f'x="{x - side / 2:.2f}" y="{y - side / 2:.2f}"'
        drawn = f'<rect {corner} width="{side:.2f}" height="{side:.2f}" {style}>{words}</rect>'
    canvas.parts.append(drawn)


def _draw_name(canvas: Canvas, colour: str, name: str, label: Placed) -> None:
    if label.leader:
        (x, y), (to_x, to_y) = label.leader
        canvas.line(x, y, to_x, to_y, f'class="leader" style="stroke:{colour}" stroke-width="0.7" stroke-opacity="0.8"')
    box, beside = label.box, label.anchor[0]
    side, x = "middle", (box.left + box.right) / 2
    if beside <= box.left:  # widths of words are guesses: the end that is known is the one at the dot
        side, x = "start", box.left
    elif beside >= box.right:
        side, x = "end", box.right
    readable = f"color-mix(in srgb,{colour} {STRENGTH}%,currentColor)"
    clear = "stroke:var(--paper,none);stroke-width:3;paint-order:stroke"  # on a page: lines behind a name are cut
    more = f' class="name" font-size="{LABEL:g}" style="fill:{readable};{clear}"'
    canvas.text(x, box.bottom - 3.2, shortened(name, LABEL, LONGEST), side, more)


def _in_words(mark: Mark, decimals: int) -> str:
    return f"{mean_and_deviation(mark.y, mark.deviation, decimals)} at {mark.x:.3g}"
