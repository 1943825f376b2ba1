"""The pages that commands write, in a real Chromium: nothing overlaps, nothing sticks out, on a phone as well."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import page_visits
import pytest
from PIL import Image

from groundling.evaluation.examples import FoundPictures, ShownPicture
from groundling.report.html import Facts, Header, Page, Section
from groundling.report.picture_sheet import picture_blocks, thumbnail
from groundling.search.sheet import SearchBlock, Tile

browser = page_visits.browser
LONG = "IMG_20190731_180512_a_name_of_a_picture_without_a_single_blank_in_it_" * 2 + ".jpg"
BOXES = """(all) => all.map((one) => {
    const {x, y, right, bottom} = one.getBoundingClientRect();
    return [x, y, right, bottom];
})"""
END_OF_TEXT = """(one) => {
    const range = document.createRange();
    range.selectNodeContents(one);
    return range.getBoundingClientRect().right;
}"""


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A tall one, a wide one, a square one."""
    folder = tmp_path_factory.mktemp("shown")
    sizes = [(60, 400), (400, 60), (300, 300)]
    for number, size in enumerate(sizes):
        Image.new("RGB", size, (200, 60 * number, 40)).save(folder / f"{number}.png")
    return [folder / f"{number}.png" for number in range(len(sizes))]


@pytest.fixture(params=[360, 1200], ids=["phone", "desktop"])
def open_page(request: pytest.FixtureRequest, browser: Any, tmp_path: Path) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": request.param, "height": 900})

    def opened(page: Page) -> Any:
        (tmp_path / "page.html").write_text(page.html(), encoding="utf-8")
        shown = context.new_page()
        shown.goto((tmp_path / "page.html").as_uri())
        return shown

    yield opened
    context.close()


def assert_nothing_sticks_out(shown: Any) -> None:
    assert shown.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_pictures_found(open_page: Any, pictures: list[Path]) -> None:
    tiles = [Tile(LONG, 0.31, thumbnail(path, 400), path.as_uri(), place) for place, path in enumerate(pictures)]
    tiles.append(Tile(f"2019/{LONG}", 0.2, None, ""))
    header = Header("groundling search", "قطة", "4 of 9 pictures", language="ar")
    shown = open_page(Page(header, [Section("Pictures", [SearchBlock(tiles)])]))
    assert_nothing_sticks_out(shown)
    frames = shown.locator(".frame").evaluate_all(BOXES)
    for (x, y, right, bottom), (left, top, end, low) in zip(
        frames, shown.locator(".frame img").evaluate_all(BOXES), strict=False
    ):
        assert x <= left and y <= top and end <= right and low <= bottom, "a picture is out of its frame"
    names = shown.locator("figcaption").evaluate_all(BOXES)
    for place, (x, y, right, bottom) in enumerate(names):
        for left, top, end, low in names[place + 1 :]:
            assert right <= left or end <= x or bottom <= top or low <= y, "two names overlap"
    assert shown.get_by_text("no longer here").count() == 1
    assert shown.get_by_text("and 1 that looks the same").count() == 1
    title = shown.locator("h1")
    assert title.evaluate(END_OF_TEXT) == pytest.approx(title.evaluate_all(BOXES)[0][2], abs=2)  # Arabic: at the right


def test_a_report(open_page: Any, pictures: list[Path]) -> None:
    hits = [ShownPicture(picture=path, score=0.5, correct=place == 1) for place, path in enumerate(pictures)]
    asked = [FoundPictures(text="قلعة يابانية", language="ar", rank=2, hits=hits * 2, answer=None, name="")]
    blocks, _ = picture_blocks(asked)
    facts = Facts([("a name", LONG), ("seed", 0)], "groundling train " + LONG)
    shown = open_page(Page(Header("report", "mine"), [Section("Pictures", blocks), Section("Facts", [facts])]))
    assert_nothing_sticks_out(shown)
    words, ask = (shown.locator(name).evaluate_all(BOXES)[0] for name in (".ask .words", ".ask"))
    text = shown.locator(".ask .words").evaluate(END_OF_TEXT)
    assert text == pytest.approx(ask[2], abs=2)
    assert words[2] == pytest.approx(ask[2], abs=2)
    widths = [right - x for x, _, right, _ in shown.locator(".tile .frame").evaluate_all(BOXES)]
    assert min(widths) > 90  # photographs can be told apart
