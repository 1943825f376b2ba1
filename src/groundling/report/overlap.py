"""Tables of vocabularies and of the words that languages share, beside published ones."""

from collections.abc import Mapping
from pathlib import Path

from groundling.experiments.overlap import OverlapSummary
from groundling.files import write_json, write_text
from groundling.report.escape import escape_markdown, markdown_prose
from groundling.report.formatted_table import Column, Table
from groundling.report.languages import language_name
from groundling.report.numbers import Value, rounded
from groundling.report.result_page import how_it_was_made


def overlap_tables(result: OverlapSummary) -> list[Table]:
    """Jaccard coefficients, and sizes where the paper gives any."""
    rows: list[list[Value]] = []
    for pair in result.pairs:
        ours, theirs = pair.jaccard, pair.published
        same = "" if theirs is None else "yes" if rounded(ours, 2) == rounded(theirs, 2) else "no"
        rows.append([" – ".join(language_name(code) for code in pair.languages), ours, theirs, same])
    columns = [
        Column("languages", text=True),
        Column("ours", decimals=4),
        Column("published", decimals=2),
        Column("equal when rounded", text=True),
    ]
    tables = [Table(result.title, columns, rows, ["Jaccard coefficient: shared words / words of both."])]
    if result.sizes:
        sizes: list[list[Value]] = [
            [size.corpus, size.sum, size.published["sum"], size.union, size.published["union"]] for size in result.sizes
        ]
        headings = [Column("corpus", text=True)]
        headings += [Column(who, what) for what in ("all words", "different words") for who in ("ours", "published")]
        tables.append(Table("Sizes of the vocabularies", headings, sizes))
    return tables


def overlap_page(about: str, result: OverlapSummary, made: Mapping[str, str | int]) -> str:
    parts = [
        f"# {escape_markdown(result.title)}",
        markdown_prose(about),
        *(table.markdown() for table in overlap_tables(result)),
        how_it_was_made(made),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def write_overlap(folder: Path, about: str, result: OverlapSummary, command: str) -> Path:
    """results.json and results.md in `folder`."""
    made = {"command": command}
    write_json(folder / "results.json", {**result.to_json(), "about": about.strip(), "made": made})
    write_text(folder / "results.md", overlap_page(about, result, made))
    return folder / "results.md"
