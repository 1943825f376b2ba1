"""The page beside a benchmark's JSON: what was measured, the prose beside it, and how it was made."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from groundling.files import write_json, write_text
from groundling.report.formatted_table import Table
from groundling.report.result_page import how_it_was_made, with_prose


def measured_page(title: str, about: str, table: Table, made: Mapping[str, str | int]) -> str:
    return "\n\n".join([f"# {title}", about, table.markdown().rstrip(), how_it_was_made(made)]) + "\n"


def write_measured(out: Path, title: str, rows: list[dict[str, Any]], made: Mapping[str, str | int], page: str) -> None:
    """OUT.json and OUT.md; the benchmark's `page(rows, made)` makes the same page again from the JSON."""
    write_json(out.with_suffix(".json"), {"title": title, "rows": rows, "made": dict(made)})
    write_text(out.with_suffix(".md"), with_prose(out.with_suffix(".md"), page))
