"""The frame that charts share: plot area, y axis, legend, colours; and the SVG element around them.

Axes and words take the colour of the text around them, series take `--series-1` … `--series-8` where the page sets
them, so that one drawing suits light and dark. Dashes repeat what colours say for those who cannot tell them apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil

from groundling.report.charts.scales import Scale, shortened, text_width
from groundling.report.escape import escape

# Okabe and Ito's order for colour-blind readers, darkened until each has a contrast of 3 : 1 on white.
COLOURS = ("#0072b2", "#d55e00", "#00825c", "#b0488a", "#2488c8", "#a86f00", "#6a51a3", "#5f6b76")
DASHES = ("", "6 3", "2 3", "8 3 2 3")
FONT = 11.5


@dataclass
class Canvas:
    """The frame of a chart: a plot area, what is drawn around it, and the words that describe it."""

    title: str
    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float
    parts: list[str] = field(default_factory=list)

    def text(self, x: float, y: float, words: str, anchor: str = "start", more: str = "") -> None:
        self.parts.append(f'<text x="{x:.2f}" y="{y:.2f}" text-anchor="{anchor}"{more}>{escape(words)}</text>')

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        self.parts.append(f'<line x1="{x1:.2f}" y1="{y1:.2f}" x2="{x2:.2f}" y2="{y2:.2f}" {style}/>')

    def svg(self, description: str) -> str:
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" aria-label="{escape(self.title)}" '
            f'viewBox="0 0 {self.width:.0f} {ceil(self.height)}" width="100%" '
            f'style="max-width:{1.6 * self.width:.0f}px;height:auto" '
            f'font-family="system-ui,sans-serif" font-size="{FONT:g}" fill="currentColor">'
            f"<title>{escape(self.title)}</title><desc>{escape(description)}</desc>" + "".join(self.parts) + "</svg>"
        )


def paint(index: int) -> str:
    number = index % len(COLOURS)
    return f"var(--series-{number + 1},{COLOURS[number]})"


def shade(index: int) -> str:
    """Colours come round again, then paler, so that a ninth bar is not taken for the first."""
    return f";fill-opacity:{0.55 ** (index // len(COLOURS)):.2f}" if index >= len(COLOURS) else ""


def dash(index: int) -> str:
    pattern = DASHES[(index + index // len(COLOURS)) % len(DASHES)]
    return f' stroke-dasharray="{pattern}"' if pattern else ""


def _legend_rows(names: Sequence[str], width: float) -> tuple[int, float]:
    """How many entries stand side by side in columns of one width, and that width."""
    widest = min(width, max(text_width(name, FONT) for name in names) + 34)
    across = max(1, min(len(names), int(width // widest)))
    return across, width / across if across == 1 else widest


def legend_height(names: Sequence[str], width: float) -> float:
    if len(names) < 2:
        return 0.0
    across, _ = _legend_rows(names, width)
    return 10 + 18.0 * -(-len(names) // across)


def draw_legend(canvas: Canvas, names: Sequence[str], width: float, swatch: str) -> None:
    if len(names) < 2:
        return
    across, step = _legend_rows(names, width)
    top = canvas.height - legend_height(names, width) + 18
    for index, name in enumerate(names):
        x, y = canvas.left + index % across * step, top + 18 * (index // across)
        canvas.parts.append('<g class="legend">')
        if swatch == "line":
            style = f'style="stroke:{paint(index)}" stroke-width="2"{dash(index)}'
            canvas.line(x, y - 4, x + 20, y - 4, style)
        else:
            canvas.parts.append(
                f'<rect x="{x + 6:.2f}" y="{y - 9:.2f}" width="10" height="10" '
                f'style="fill:{paint(index)}{shade(index)}"/>'
            )
        canvas.text(x + 25, y, shortened(name, FONT, step - 29))
        canvas.parts.append("</g>")


def draw_y_axis(canvas: Canvas, scale: Scale, ticks: list[float], labels: list[str], name: str) -> None:
    for tick, label in zip(ticks, labels, strict=True):
        y = scale(tick)
        canvas.line(canvas.left, y, canvas.right, y, 'stroke="currentColor" stroke-opacity="0.14"')
        canvas.text(canvas.left - 6, y + 4, label, "end", ' class="y tick"')
    if name:
        canvas.text(2, FONT + 1, shortened(name, FONT, canvas.width - 4), "start", ' fill-opacity="0.75"')


def draw_x_axis(canvas: Canvas, scale: Scale, ticks: Sequence[float], labels: Sequence[str], name: str) -> None:
    axis = 'stroke="currentColor" stroke-opacity="0.6"'
    canvas.line(canvas.left, canvas.bottom, canvas.right, canvas.bottom, axis)
    for tick, label in zip(ticks, labels, strict=True):
        x = scale(tick)
        canvas.line(x, canvas.bottom, x, canvas.bottom + 4, axis)
        canvas.text(x, canvas.bottom + 16, label, "middle", ' class="x tick"')
    if name:
        words = shortened(name, FONT, canvas.width - canvas.left)
        canvas.text(canvas.right, canvas.bottom + 32, words, "end", ' fill-opacity="0.75"')
