"""What an editor decides in the sheet stays in the browser, is saved as a CSV file, and comes back from it."""

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from colour_judge import BLUE, RED, paint

sys.path.append(str(Path(__file__).parent.parent / "serve"))

from browser import chromium, visits

from groundling.checking.caption_table import CheckedRow, CheckedTable
from groundling.checking.matcher import MISFIT, Match
from groundling.checking.sheet import sheet
from groundling.corpus.formats.decisions import Decisions


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


def match(better: str = "") -> Match:
    return Match(MISFIT, "en", True, (), 0.1, 0.2, -0.1, 0.6, 2, 2, 1, better)


@pytest.fixture
def page_file(tmp_path: Path) -> Path:
    paint(tmp_path / "red.png", RED)
    paint(tmp_path / "blue.png", BLUE)
    rows = [
        CheckedRow(2, "red.png", 'a "blue", blue\npicture', "en", match("blue.png")),
        CheckedRow(3, "blue.png", "a blue picture", "en", match()),
        CheckedRow(4, "blue.png", "", "en", None, "the text is empty"),
    ]
    made = CheckedTable(tmp_path / "captions.csv", tmp_path, Match, rows)
    (tmp_path / "sheet.html").write_text(sheet(made, tmp_path / "sheet.html"), encoding="utf-8")
    return tmp_path / "sheet.html"


def test_decisions_are_kept_and_saved(browser: Any, page_file: Path, tmp_path: Path) -> None:
    with visits(browser) as visit:
        page = visit(page_file.as_uri())
        assert page.locator(".decided").inner_text() == "0 of 3 decided."
        first, second = page.locator(".decide").nth(0), page.locator(".decide").nth(1)
        assert not first.locator("textarea").is_visible()
        first.get_by_label("corrected", exact=True).check()
        assert first.locator("textarea").input_value() == 'a "blue", blue\npicture'
        first.locator("textarea").fill('a "red" picture')
        second.get_by_label("right").check()
        page.reload()
        assert page.locator(".decided").inner_text() == "2 of 3 decided."
        assert page.locator(".decide").nth(0).locator("textarea").input_value() == 'a "red" picture'
        assert page.locator(".decide").nth(1).get_by_label("right").is_checked()
        with page.expect_download() as saving:
            page.get_by_role("button", name="Save decisions as CSV").click()
        saving.value.save_as(tmp_path / "decisions.csv")
    with (tmp_path / "decisions.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["line"], row["decision"], row["corrected"]) for row in rows] == [
        ("2", "corrected", 'a "red" picture'),
        ("3", "right", ""),
    ]
    decided = Decisions.read(tmp_path / "decisions.csv")
    known = decided.of("red.png", 'a "blue", blue\npicture')
    assert known is not None
    assert list(known.statements()) == [
        ('a "blue", blue\npicture', "contradiction"),
        ('a "red" picture', "entailment"),
    ]


def test_the_sheet_fits_a_phone_and_shows_what_fits_better(browser: Any, page_file: Path) -> None:
    with visits(browser) as visit:
        page = visit(page_file.as_uri(), width=360, height=700)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        assert (
            "The text fits this picture better: blue.png. Its own is number 2 of 2."
            in page.locator(".better").first.inner_text()
        )
        assert page.locator(".better svg").count() == 1
