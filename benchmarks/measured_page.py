"""The page beside a benchmark's JSON: what was measured, and how it was made."""

from collections.abc import Mapping

from groundling.report.formatted_table import Table


def measured_page(title: str, about: str, table: Table, made: Mapping[str, str | int]) -> str:
    how = "\n".join(f"- {key}: `{value}`" for key, value in made.items())
    return "\n\n".join([f"# {title}", about, table.markdown().rstrip(), "## How it was made", how]) + "\n"
