"""The recall table says what the evaluation says."""

import io
from typing import Any

from rich.console import Console

from groundling.evaluation.results import RetrievalScores
from groundling.report.formatted_table import Column, Table
from groundling.report.languages import direction, language_name
from groundling.report.retrieval_tables import recall_table
from made_results import retrieval, scores


def part(first: float, mean: float, captions: int = 250) -> RetrievalScores:
    ranks = {"R@1": first, "R@5": first + 1, "R@10": first + 2, "median": 3.0, "mean": 9.0}
    return scores({"mR": mean}, ranks, {**ranks, "R@1": first + 50, "median": 2.5}, captions=captions)


RESULT = retrieval({"en": part(10.0, 20.05), "tlh": part(30.0, 40.0)}, mean=part(20.0, 30.0))


def markdown_rows(table: Any) -> list[list[str]]:
    """Heading, then rows, without the rule between them."""
    lines = [line for line in table.markdown().splitlines() if line.startswith("|") and "---" not in line]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_rows_of_the_recall_table() -> None:
    head, english, klingon, mean, chance = markdown_rows(recall_table(RESULT))
    assert head[1:5] == ["text→image R@1", "text→image R@5", "text→image R@10", "text→image median"]
    assert head[5] == "image→text R@1"
    assert english == ["English (en)", "10.0", "11.0", "12.0", "3.0", "60.0", "11.0", "12.0", "2.5", "20.1"]
    assert klingon[0] == "tlh"
    assert mean[0] == "mean"
    assert mean[1] == "20.0"
    assert chance == ["chance", "0.4", "2.0", "4.0", "–", "0.4", "2.0", "4.0", "–", "2.1"]


def test_chance_of_image_to_text_is_left_open_where_pictures_have_several_captions() -> None:
    for changed in ({"en": part(1, 2, 1250)}, {"en": part(1, 2, captions=400), "de": part(1, 2, captions=100)}):
        chance = markdown_rows(recall_table(retrieval(changed)))[-1]
        assert [cell for cell in chance if cell not in ("–", "")] == ["chance", "0.4", "2.0", "4.0"]


def test_one_language_has_no_mean_row() -> None:
    rows = markdown_rows(recall_table(retrieval({"de": part(1, 2)})))
    assert [row[0] for row in rows[1:]] == ["German (de)", "chance"]


def test_caption_counts_are_shown_where_they_differ() -> None:
    same = {"en": part(1, 2, captions=50), "de": part(1, 2, captions=50)}
    assert "captions" not in markdown_rows(recall_table(retrieval(same)))[0]
    differ = {"en": part(1, 2, captions=5000), "de": part(1, 2, captions=50)}
    rows = markdown_rows(recall_table(retrieval(differ)))
    assert [row[1] for row in rows] == ["captions", "5,000", "50", "–", "–"]


def test_the_recall_table_fits_an_ordinary_terminal() -> None:
    languages = {code: part(10, 20) for code in ("az", "pt-BR", "zh")}
    console = Console(file=io.StringIO(), width=80)
    console.print(recall_table(retrieval(languages)).terminal())
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "…" not in shown
    assert "Portuguese (pt-BR)" in shown


def test_names_are_never_cut_however_narrow_the_terminal() -> None:
    columns = [Column(name, text=True) for name in ("name", "licence", "languages")]
    rows = [["clip-multilingual", "Apache-2.0 " * 3, "ar, en, es, fr " * 4], ["b", "", "x" * 90]]
    console = Console(file=io.StringIO(), width=48)
    console.print(Table("", columns, rows).terminal())
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "clip-multilingual" in shown
    assert "…" not in shown
    assert shown.count("x") == 90


def test_names_and_directions_of_languages() -> None:
    assert language_name("de") == "German (de)"
    assert language_name("pt-BR") == "Portuguese (pt-BR)"
    assert language_name("xx") == "xx"
    assert [direction(code) for code in ("ar", "he", "fa-IR", "en", "")] == ["rtl", "rtl", "rtl", "auto", "auto"]
    assert direction("az-Arab") == "rtl"
    assert direction("ur-Latn") == "auto"
