"""The page and the collection: what is there to begin with, scrolling on, taking pictures away, the editor's view."""

import json
from typing import Any

import page_visits
from browser import Open, until
from fake_service import Service, png
from page_visits import ARABIC, WELCOME, asked, expected, ids, wait_for
from test_page_pictures import DROP

browser, service, visit = page_visits.browser, page_visits.service, page_visits.visit


def test_the_start_shows_pictures_and_words_of_the_collection(service: Service, visit: Open) -> None:
    page = visit(service)
    page.get_by_role("link", name="red heart English").wait_for()
    page.wait_for_selector('#grid a[data-id="59"]')
    assert ids(page) == list(range(60))
    page.get_by_role("link", name="Katze").click()
    wait_for(page, "Katze")
    assert asked(service, "/search")[-1]["language"] == "de"
    page.go_back()
    page.wait_for_selector('#grid a[data-id="59"]')
    page.locator("#grid a").nth(2).click()
    page.get_by_role("dialog", name="picture_2.png").wait_for()
    page.keyboard.press("ArrowRight")
    page.get_by_role("dialog", name="picture_3.png").wait_for()


def test_scrolling_goes_on_to_the_last_picture(service: Service, visit: Open) -> None:
    page = visit(service, "?q=dog")
    wait_for(page, "dog")
    while page.locator("#more").is_visible():
        before = len(ids(page))
        page.mouse.wheel(0, 20_000)
        until(page, f"document.querySelectorAll('#grid a').length > {before} || document.getElementById('more').hidden")
    assert ids(page) == expected("dog", 500)
    assert [int(one.get("offset", 0)) for one in asked(service, "/search")] == list(range(0, 500, 48))


def test_a_wide_screen_is_used(service: Service, visit: Open) -> None:
    page = visit(service, "?q=dog", width=2400, height=1200)
    wait_for(page, "dog")
    assert page.locator("#grid").bounding_box()["width"] > 2200


def test_what_is_known_of_a_picture(service: Service, visit: Open) -> None:
    page = visit(service, "?q=dog", permissions=["clipboard-read", "clipboard-write"])
    wait_for(page, "dog")
    first = expected("dog", 1)[0]
    page.locator("#grid a").first.click()
    page.get_by_text("July 31, 2019").wait_for()
    assert page.locator("#detail-size").inner_text() == "2.3 MB"
    with page.expect_download() as download:
        page.get_by_role("link", name="Download").click()
    assert download.value.suggested_filename == f"picture_{first}.png"
    page.get_by_role("button", name="Copy path").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == f"/photos/album/picture_{first}.png"
    page.locator("#detail-folder").click()
    page.wait_for_url(lambda url: "folder=album" in url)
    until(page, "!document.querySelector('dialog[open]')")
    assert page.get_by_role("textbox", name="Folder").input_value() == "album"


def test_a_picture_that_is_gone_is_told_kindly(service: Service, visit: Open) -> None:
    page = visit(service, "?picture=13")
    page.get_by_text("This picture is not there any more").wait_for()
    page.keyboard.press("Escape")
    page.wait_for_selector('#grid a[data-id="13"] .frame.lost')
    assert page.locator('#grid a[data-id="13"] img').get_attribute("alt") == "picture_13.png: no longer here"


def test_pictures_that_look_the_same_are_one(service: Service, visit: Open) -> None:
    page = visit(service, "?q=dog")
    wait_for(page, "dog")
    assert page.locator("#grid .badge").all_inner_texts()[:3] == ["", "+2", ""]
    page.locator("#grid a").nth(1).click()
    page.locator("#same-grid a").nth(1).wait_for()
    assert [one.get_attribute("data-id") for one in page.locator("#same-grid a").all()] == ["3", "4"]
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Filters").click()
    page.get_by_role("checkbox", name="one by one").check()
    until(page, "location.search.includes('apart=1')")
    until(page, "document.querySelectorAll('#grid .badge:not(:empty)').length === 0")
    assert "group" not in asked(service, "/search")[-1]


def test_several_are_selected_and_taken_away(service: Service, visit: Open) -> None:
    page = visit(service, "?q=dog", permissions=["clipboard-read", "clipboard-write"])
    wait_for(page, "dog")
    order = expected("dog", 3)
    page.get_by_role("searchbox").press("ArrowDown")
    page.keyboard.press("x")
    bar = page.get_by_role("region", name="Selected pictures")
    bar.get_by_text("1 selected").wait_for()
    page.get_by_role("button", name="Select", exact=True).click()
    page.locator("#grid a").nth(2).click()
    bar.get_by_text("2 selected").wait_for()
    assert page.get_by_role("dialog").count() == 0
    assert page.get_by_role("checkbox", checked=True).count() == 2
    bar.get_by_role("button", name="Copy paths").click()
    bar.get_by_role("button", name="Copied").wait_for()
    paths = [f"/photos/album/picture_{row}.png" for row in (order[0], order[2])]
    assert page.evaluate("navigator.clipboard.readText()").splitlines() == paths
    page.get_by_role("searchbox").fill("tree")
    wait_for(page, "tree")  # what is selected stays over a search
    with page.expect_download() as download:
        bar.get_by_role("button", name="Save list").click()
    lines = download.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert [line.split(",")[0] for line in lines] == ["picture", *paths]
    bar.get_by_role("button", name="Select none").click()
    assert bar.is_hidden()
    page.locator("#grid a").first.click()
    page.get_by_role("dialog", name=f"picture_{expected('tree', 1)[0]}.png").wait_for()


def test_the_keys_are_told(service: Service, visit: Open) -> None:
    page = visit(service)
    page.get_by_role("heading", name=WELCOME).wait_for()
    page.get_by_role("searchbox").press("?")
    assert page.get_by_role("dialog").count() == 0  # a question mark may be searched for
    page.get_by_role("button", name="Keyboard help").focus()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    page.keyboard.press("Escape")
    assert page.get_by_role("dialog").count() == 0


def rows(page: Any) -> list[list[str]]:
    texts = page.locator("#editor-rows > li").evaluate_all(
        "rows => rows.map((row) => [row.querySelector('input').value, row.querySelector('.editor-said').innerText])"
    )
    return [[caption, said.split("\n")[0]] for caption, said in texts]


def test_an_editor_checks_captions(service: Service, visit: Open) -> None:
    page = visit(service)
    page.get_by_role("link", name="Check captions").click()
    page.get_by_role("heading", name="Do the captions fit").wait_for()
    page.get_by_role("textbox", name="Captions").fill(
        f'album/picture_7.png\tdog\n"picture_7.png","a wrong, long one"\npicture_7.png;{ARABIC}\nnowhere.png\tx\n'
    )
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_text("1 to look at again").wait_for()
    assert rows(page) == [
        ["x", "No picture here is called nowhere.png."],
        ["a wrong, long one", "Look again: 40 pictures fit it better"],
        [ARABIC, "It may fit: 3 pictures fit it better"],
        ["dog", "It fits: no picture here fits it better"],
    ]
    assert page.get_by_role("textbox", name="Caption of picture_7.png").nth(1).get_attribute("dir") == "rtl"
    wrong = page.locator("#editor-rows > li").nth(1)
    assert wrong.get_by_role("img", name="album/picture_8.png").count() == 1
    wrong.get_by_role("textbox").fill("dog")
    wrong.get_by_role("textbox").press("Enter")
    page.get_by_text("0 to look at again").wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as CSV").click()
    lines = download.value.path().read_text(encoding="utf-8-sig").splitlines()
    assert lines[0].startswith("picture,caption,language,score")
    assert len(lines) == 5


def test_an_editor_brings_a_picture(service: Service, visit: Open) -> None:
    page = visit(service, "?view=check")
    page.get_by_role("heading", name="Do the captions fit").wait_for()
    page.evaluate(DROP, [list(png(40, 200, 80, 40)), "mine.png", "image/png"])
    caption = page.get_by_role("textbox", name="Caption of mine.png")
    caption.fill("dog")
    caption.press("Enter")
    page.get_by_text("It fits: no picture here").wait_for()
    assert "the picture shows it" in page.locator("#editor-rows").inner_text()  # the judge, where there is one
    assert asked(service, "/fit") == [{"text": "dog"}]
    page.get_by_role("searchbox").fill("tree")
    wait_for(page, "tree")
    assert page.locator("#editor").is_hidden()
    assert json.dumps(page.url).count("view") == 0
