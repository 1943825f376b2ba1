"""What people look at: tables, charts, the picture sheet, and the page of a run."""

from groundling.report.charts.plots import Bars, Series, bar_chart, line_chart
from groundling.report.formatted_table import Column, Table
from groundling.report.numbers import Measured, mean_and_deviation
from groundling.report.page import render, render_markdown, write
from groundling.report.retrieval_tables import recall_table, results_table
from groundling.report.sheet import picture_sheet, thumbnail

__all__ = [
    "Bars",
    "Column",
    "Measured",
    "Series",
    "Table",
    "bar_chart",
    "line_chart",
    "mean_and_deviation",
    "picture_sheet",
    "recall_table",
    "render",
    "render_markdown",
    "results_table",
    "thumbnail",
    "write",
]
