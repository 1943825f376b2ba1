"""Charts: each a function from numbers to the text of an SVG, which stands in a page or alone.

Our own drawings rather than a library's: they take the page's colours, light or dark, name every mark for screen
readers and mice, and need nothing at run time.
"""

from groundling.report.charts.bar_chart import Bars, bars
from groundling.report.charts.count_square import square
from groundling.report.charts.line_chart import Series, lines
from groundling.report.charts.named_line_chart import Mark, NamedLine, named_lines
from groundling.report.charts.scatter_plot import scatter

__all__ = ["Bars", "Mark", "NamedLine", "Series", "bars", "lines", "named_lines", "scatter", "square"]
