"""The recall table says what the evaluation says; systems stand beside published numbers."""

import io
from typing import Any

from rich.console import Console

from groundling.report import Measured, recall_table, results_table
from groundling.report.languages import direction, language_name


def part(first: float, mean: float, **more: Any) -> dict[str, Any]:
    ranks = {"R@1": first, "R@5": first + 1, "R@10": first + 2, "median": 3, "mean": 9.0}
    return {"text_to_image": ranks, "image_to_text": {**ranks, "R@1": first + 50, "median": 2.5}, "mR": mean, **more}


EVALUATION = {
    "corpus": "emoji",
    "split": "test",
    "pictures": 250,
    "captions": 500,
    "languages": {"en": part(10, 20.05), "tlh": part(30, 40)},
    "mean": part(20, 30),
    "chance": {"R@1": 0.4, "R@5": 2.0, "R@10": 4.0},
}


def markdown_rows(table: Any) -> list[list[str]]:
    """Heading, then rows, without the rule between them."""
    lines = [line for line in table.markdown().splitlines() if line.startswith("|") and "---" not in line]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_rows_of_the_recall_table() -> None:
    head, english, klingon, mean, chance = markdown_rows(recall_table(EVALUATION))
    assert head[1:5] == ["text→image R@1", "text→image R@5", "text→image R@10", "text→image median"]
    assert head[5] == "image→text R@1"
    assert english == ["English (en)", "10.0", "11.0", "12.0", "3.0", "60.0", "11.0", "12.0", "2.5", "20.1"]
    assert klingon[0] == "tlh"
    assert mean[0] == "mean"
    assert mean[1] == "20.0"
    assert chance == ["chance", "0.4", "2.0", "4.0", "–", "0.4", "2.0", "4.0", "–", "2.1"]


def test_chance_may_differ_by_direction_or_be_unknown() -> None:
    by_direction = {"text_to_image": {"R@1": 1.0}, "image_to_text": {"R@1": 5.0}}
    chance = markdown_rows(recall_table({**EVALUATION, "chance": by_direction}))[-1]
    assert (chance[1], chance[2], chance[5], chance[9]) == ("1.0", "–", "5.0", "–")
    without = {key: value for key, value in EVALUATION.items() if key != "chance"}
    assert markdown_rows(recall_table(without))[-1][0] == "mean"


def test_chance_of_image_to_text_is_left_open_where_pictures_have_several_captions() -> None:
    for changed in (
        {"captions": 2500},
        {"captions": None},
        {"languages": {"en": part(1, 2, captions=400), "de": part(1, 2, captions=100)}},
    ):
        chance = markdown_rows(recall_table({**EVALUATION, **changed}))[-1]
        assert [cell for cell in chance if cell not in ("–", "")] == ["chance", "0.4", "2.0", "4.0"]


def test_one_language_has_no_mean_row() -> None:
    rows = markdown_rows(recall_table({**EVALUATION, "captions": 250, "languages": {"de": part(1, 2)}}))
    assert [row[0] for row in rows[1:]] == ["German (de)", "chance"]


def test_caption_counts_are_shown_where_they_differ() -> None:
    same = {"en": part(1, 2, captions=50), "de": part(1, 2, captions=50)}
    assert "captions" not in markdown_rows(recall_table({"languages": same}))[0]
    differ = {"en": part(1, 2, captions=5000), "de": part(1, 2, captions=50)}
    rows = markdown_rows(recall_table({"languages": differ}))
    assert [row[1] for row in rows] == ["captions", "5,000", "50"]


def test_the_recall_table_fits_an_ordinary_terminal() -> None:
    languages = {code: part(10, 20) for code in ("az", "pt-BR", "zh")}
    console = Console(file=io.StringIO(), width=80)
    console.print(recall_table({**EVALUATION, "languages": languages}).terminal())
    shown = console.file.getvalue()  # type: ignore[attr-defined]
    assert "…" not in shown
    assert "Portuguese (pt-BR)" in shown


def test_published_numbers_stand_beside_ours() -> None:
    ours = {"vse": {"en": Measured(40, 0.5), "mean": 35}, "mule": {"en": 42, "mean": 36.0}}
    published = {"mule": {"en": 41.1}, "smalr": {"en": 44}}
    table = results_table("mR", ["en", "mean"], ours, published)
    assert markdown_rows(table) == [
        ["system", "English (en) ours", "English (en) published", "mean"],
        ["vse", "40.0 ± 0.5", "–", "35.0"],
        ["mule", "**42.0**", "41.1", "**36.0**"],
        ["smalr", "–", "**44.0**", "–"],
    ]


def test_names_and_directions_of_languages() -> None:
    assert language_name("de") == "German (de)"
    assert language_name("pt-BR") == "Portuguese (pt-BR)"
    assert language_name("xx") == "xx"
    assert [direction(code) for code in ("ar", "he", "fa-IR", "en", "")] == ["rtl", "rtl", "rtl", "auto", "auto"]
    assert direction("az-Arab") == "rtl"
    assert direction("ur-Latn") == "auto"
