"""A square of counts: what is, and what it was taken for."""

from collections.abc import Sequence

from groundling.report.charts.canvas import FONT, Canvas, paint
from groundling.report.charts.scales import shortened, text_width
from groundling.report.escape import escape


def square(
    title: str,
    labels: Sequence[str],
    counts: Sequence[Sequence[int]],
    short: Sequence[str] = (),
    width: float = 280,
) -> str:
    """What is (a row) and what it was taken for (a column): the share of each row in percent, the darker the more.

    `short` are names that fit above the columns.
    """
    left = max(text_width(label, FONT) for label in labels) + 8
    side = (width - left) / len(labels)
    tall = min(side, 34.0)
    top = 2 * FONT + 10
    canvas = Canvas(title, width, top + tall * len(labels) + 2, left, width, top, top + tall * len(labels))
    canvas.text(left, FONT, "judged to be", more=' fill-opacity="0.75"')
    for column, label in enumerate(short or labels):
        middle = left + (column + 0.5) * side
        canvas.text(middle, top - 6, shortened(label, FONT, side), "middle", ' class="x tick"')
    for row, (label, line) in enumerate(zip(labels, counts, strict=True)):
        y, total = top + row * tall, sum(line)
        canvas.text(left - 6, y + tall / 2 + 4, label, "end", ' class="y tick"')
        for column, count in enumerate(line):
            share = count / total if total else 0.0
            ring = ' stroke="currentColor" stroke-opacity="0.55"' if row == column else ""
            canvas.parts.append(
                f'<rect x="{left + column * side + 1:.2f}" y="{y + 1:.2f}" width="{side - 2:.2f}" '
                f'height="{tall - 2:.2f}" rx="3" style="fill:{paint(0)}" fill-opacity="{0.5 * share:.3f}"{ring}>'
                f"<title>{escape(f'{count:,} of {total:,}')}</title></rect>"
            )
            words = f"{100 * share:.0f} %" if total else "–"
            canvas.text(left + (column + 0.5) * side, y + tall / 2 + 4, words, "middle")
    told = [
        f"{label}: " + ", ".join(f"{count:,} {name}" for count, name in zip(line, labels, strict=True))
        for label, line in zip(labels, counts, strict=True)
    ]
    return canvas.svg(". ".join(told))
