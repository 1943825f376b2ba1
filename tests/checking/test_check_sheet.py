"""The sheet: complete by itself, safe with any text, readable in any direction."""

import re
from html.parser import HTMLParser
from pathlib import Path

from colour_judge import BLUE, RED, paint

from groundling.checking.caption_table import CheckedRow, CheckedTable
from groundling.checking.checker import Prediction
from groundling.checking.sheet import sheet

EVIL = '"><script>alert(1)</script><img src=x onerror=alert(2)>&amp;'


def said(label: str, share: float, language: str = "en", detected: bool = False) -> Prediction:
    rest = (1 - share) / 2
    shares = {name: share if name == label else rest for name in ("contradiction", "neutral", "entailment")}
    return Prediction(label, shares, language, detected)


def made(folder: Path, *rows: CheckedRow) -> str:
    paint(folder / "a b#1.png", RED)
    paint(folder / "blue.png", BLUE)
    return sheet(CheckedTable(folder / "captions.csv", folder, Prediction, list(rows)), folder / "out" / "sheet.html")


class Tags(HTMLParser):
    """Every element with its attributes, and which were left open."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes)))
        if tag not in ("meta", "input", "use", "image", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_it_needs_nothing_from_elsewhere_and_runs_nothing_of_others(tmp_path: Path) -> None:
    page = made(
        tmp_path,
        CheckedRow(2, "blue.png", EVIL, "en", said("contradiction", 0.9)),
        CheckedRow(3, EVIL, EVIL, EVIL, None, EVIL),
    )
    tags = Tags(page)
    assert not tags.open
    assert {tag for tag, _ in tags.found} & {"iframe", "object", "img", "link", "base"} == set()
    assert [attributes for tag, attributes in tags.found if tag == "script"] == [{}]  # ours, with no address
    assert "alert(" not in page[page.index("<script>") :]
    for _, attributes in tags.found:
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href"):
            assert re.match(r"data:image/|#picture-\d+$|\.\./blue\.png$", attributes.get(name) or "#picture-0")
    assert "http:" not in page
    assert "https:" not in page
    assert "url(" not in page


def test_a_picture_with_many_captions_is_there_once_and_links_to_its_file(tmp_path: Path) -> None:
    rows = [CheckedRow(line, "a b#1.png", f"caption {line}", "en", said("neutral", 0.8)) for line in range(2, 12)]
    page = made(tmp_path, *rows)
    assert page.count("data:image/") == 1
    assert page.count('<use href="#picture-0"/>') == 10
    assert page.count('href="../a%20b%231.png"') == 10


def test_texts_carry_their_language_and_direction(tmp_path: Path) -> None:
    page = made(
        tmp_path,
        CheckedRow(2, "blue.png", "سيارة حمراء", "ar", said("entailment", 0.9, "ar", True)),
        CheckedRow(3, "blue.png", "ein Auto", "de", said("neutral", 0.45, "de")),
    )
    assert '<span class="words" dir="rtl" lang="ar">سيارة حمراء</span>' in page
    assert '<span class="words" dir="auto" lang="de">ein Auto</span>' in page
    assert "Arabic (ar), detected" in page
    assert "German (de) ·" in page
    assert "The picture shows it" in page
    assert "Perhaps: the picture does not tell" in page  # no label has half of the probability


def test_filters_count_and_hide_what_they_say(tmp_path: Path) -> None:
    page = made(
        tmp_path,
        CheckedRow(2, "blue.png", "x", "", said("contradiction", 0.9, "en")),
        CheckedRow(3, "blue.png", "y", "", said("contradiction", 0.8, "en")),
        CheckedRow(4, "blue.png", "z", "", said("neutral", 0.9, "de")),
        CheckedRow(5, "blue.png", "", "", None, "the text is empty"),
    )
    for label, count in (("all", 4), ("contradiction", 2), ("neutral", 1), ("entailment", 0), ("not checked", 1)):
        assert f'{label} <span class="count">{count}</span>' in page
    assert 'id="kind-entailment" disabled' in page
    assert len(re.findall(r'class="check contradiction in-0"', page)) == 2
    assert "main:has(#kind-contradiction:checked) .check:not(.contradiction) { display: none; }" in page
    assert "main:has(#in-1:checked) .check:not(.in-1) { display: none; }" in page
    # German is only neutral: with another label chosen there is nothing to see, and that is said
    assert "main:has(#kind-contradiction:checked):has(#in-1:checked) .nothing" in page
    assert "main:has(#kind-neutral:checked):has(#in-1:checked) .nothing" not in page
    assert "4 captions: 2 contradicted by their picture, 1 left open by it, 0 shown by it, 1 not checked." in page


def test_a_long_table_is_cut_and_says_so(tmp_path: Path) -> None:
    paint(tmp_path / "blue.png", BLUE)
    rows = [CheckedRow(line, "blue.png", f"t{line}", "", said("neutral", 0.9)) for line in range(2, 32)]
    page = sheet(
        CheckedTable(tmp_path / "c.csv", tmp_path, Prediction, rows, ["Notes."]), tmp_path / "s.html", shown=10
    )
    assert page.count('<li class="check') == 10
    assert "Here are the first 10 of 30 judged; a CSV or JSON lines output holds all rows." in page
    assert '<p class="note">Notes.</p>' in page
