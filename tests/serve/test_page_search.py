"""Searching with words on the page: what is asked while somebody types, in which language, and what is shown."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import page_visits
from browser import Open, until
from fake_service import Service, start_of
from page_visits import ARABIC, WELCOME, asked, expected, ids, wait_for

browser, service, visit = page_visits.browser, page_visits.service, page_visits.visit


def test_typing_finds_pictures_without_a_key_to_send(service: Service, visit: Open) -> None:
    page = visit(service)
    page.get_by_role("searchbox").press_sequentially("a dog")
    wait_for(page, "a dog")
    assert ids(page) == expected("a dog")
    assert parse_qs(urlsplit(page.url).query) == {"q": ["a dog"]}
    assert page.get_by_role("link", name=f"picture {start_of('a dog')}", exact=True).is_visible()
    page.locator("#live", has_text="48 or more pictures found, language: English").wait_for(state="attached")


TYPE = """(text) => {
    const box = document.getElementById("q");
    for (let end = 1; end <= text.length; end++) {
        box.value = text.slice(0, end);
        box.dispatchEvent(new InputEvent("input", {bubbles: true}));
    }
}"""


def test_letters_typed_in_one_go_are_one_question(service: Service, visit: Open) -> None:
    page = visit(service)
    page.get_by_role("heading", name=WELCOME).wait_for()
    page.evaluate(TYPE, "a dog on a beach")
    wait_for(page, "a dog on a beach")
    assert [one["q"] for one in asked(service, "/search")] == ["a dog on a beach"]


def test_words_typed_while_the_page_starts_are_kept(service: Service, visit: Open) -> None:
    page = visit(service)
    held: list[Any] = []
    page.route("**/about", lambda route: held.append(route))
    with page.expect_request("**/about"):
        page.reload()
    page.evaluate(TYPE, "a dog")
    held[0].continue_()
    wait_for(page, "a dog")
    assert page.get_by_role("searchbox").input_value() == "a dog"


def test_an_answer_that_comes_late_is_dropped(service: Service, visit: Open) -> None:
    page = visit(service)
    held: list[Any] = []
    page.route("**/search?q=first*", lambda route: held.append(route))
    box = page.get_by_role("searchbox")
    with page.expect_request("**/search?q=first*"):
        box.fill("first")
    with page.expect_event("requestfailed", lambda request: "q=first" in request.url):  # the browser has called it off
        box.fill("second")
    wait_for(page, "second")
    assert len(held) == 1
    held[0].continue_()
    page.wait_for_timeout(300)
    assert ids(page) == expected("second")


def test_the_last_answer_counts_even_where_calling_off_does_nothing(service: Service, visit: Open) -> None:
    page = visit(service)
    page.evaluate("""() => {
        const real = window.fetch;
        window.fetch = (url, options) => real(url, {...options, signal: undefined});
    }""")
    service.delay = 0.6
    box = page.get_by_role("searchbox")
    with page.expect_request("**/search?q=slow*"):
        box.fill("slow one")
    with page.expect_response("**/search?q=slow*"):
        box.fill("quick")
    wait_for(page, "quick")
    page.wait_for_timeout(100)
    assert ids(page) == expected("quick")


def test_results_stay_while_the_next_ones_come(service: Service, visit: Open) -> None:
    page = visit(service, "?q=dog")
    wait_for(page, "dog")
    before = page.locator("#grid").bounding_box()
    held: list[Any] = []
    page.route("**/search?q=tree*", lambda route: held.append(route))
    page.get_by_role("searchbox").fill("tree")
    page.wait_for_selector("#busy:not([hidden])")
    assert ids(page) == expected("dog")
    assert page.locator("#grid").bounding_box() == before
    held[0].continue_()
    wait_for(page, "tree")
    assert page.locator("#busy").is_hidden()
    assert page.locator("#grid").bounding_box() == before


def test_right_to_left_words(service: Service, visit: Open) -> None:
    page = visit(service)
    box = page.get_by_role("searchbox")
    box.fill(ARABIC)
    assert box.get_attribute("dir") == "rtl"
    wait_for(page, ARABIC)
    chooser = page.get_by_role("combobox", name="Language of the words")
    assert chooser.locator("option:checked").inner_text() == "Arabic (detected)"
    box.fill("iPhone " + ARABIC)  # a Latin first word does not turn the sentence round
    assert box.get_attribute("dir") == "rtl"
    box.fill("dog")
    assert box.get_attribute("dir") == "ltr"


def test_the_language_can_be_chosen(service: Service, visit: Open) -> None:
    page = visit(service, "?q=hund")
    wait_for(page, "hund")
    chooser = page.get_by_role("combobox", name="Language of the words")
    assert chooser.locator("option:checked").inner_text() == "German (detected)"
    with page.expect_response("**/search?*language=ja*"):
        chooser.select_option("ja")
    assert "language=ja" in page.url
    assert chooser.locator("option:checked").inner_text() == "Japanese · 日本語"
    page.go_back()
    until(page, "document.getElementById('language').value === ''")


def test_the_address_and_the_back_button(service: Service, visit: Open) -> None:
    page = visit(service)
    box = page.get_by_role("searchbox")
    for query in ("dog", "tree"):
        box.fill(query)
        box.press("Enter")
        wait_for(page, query)
    page.go_back()
    wait_for(page, "dog")
    assert box.input_value() == "dog"
    page.go_back()
    page.get_by_role("heading", name=WELCOME).wait_for()
    assert box.input_value() == ""
    page.wait_for_selector('#grid li:first-child a[data-id="0"]')  # what there is to begin with
    page.go_forward()
    wait_for(page, "dog")
    page.reload()
    wait_for(page, "dog")
    assert page.title() == "dog · groundling"


def test_examples_in_the_languages_of_the_model(service: Service, visit: Open) -> None:
    page = visit(service)
    examples = page.get_by_role("list", name="Examples").get_by_role("link")
    examples.first.wait_for()
    assert examples.count() == 4
    assert page.locator("#examples [lang=ar] >> nth=0").get_attribute("dir") == "rtl"
    page.get_by_role("link", name="ネコ").click()
    wait_for(page, "ネコ")
    chooser = page.get_by_role("combobox", name="Language of the words")
    assert chooser.input_value() == "ja" and "language=ja" in page.url
    page.get_by_role("searchbox").fill("hund")
    wait_for(page, "hund")
    assert chooser.locator("option:checked").inner_text() == "German (detected)"


def test_filters(service: Service, visit: Open) -> None:
    page = visit(service, "?q=dog")
    wait_for(page, "dog")
    assert page.get_by_role("form", name="Filters").count() == 0
    page.get_by_role("button", name="Filters").click()
    form = page.get_by_role("form", name="Filters")
    form.get_by_label("Taken since").fill("2019-07-01")
    form.get_by_label("Folder").fill("nowhere")
    with page.expect_response("**/search?*folder=nowhere*since=2019-07-01*"):
        form.get_by_label("Folder").press("Enter")
    assert "folder=nowhere" in page.url
    page.get_by_role("alert").get_by_role("button", name="Clear filters").click()
    wait_for(page, "dog")
    assert parse_qs(urlsplit(page.url).query) == {"q": ["dog"]}


def test_more_pictures(service: Service, visit: Open) -> None:
    page = visit(service, "?q=dog")
    wait_for(page, "dog")
    more = page.get_by_role("button", name="Show more")
    page.evaluate("document.querySelector('#grid li').className = 'kept'")
    more.press("Enter")
    page.wait_for_selector("#grid li:nth-child(96)")
    assert ids(page)[:96] == expected("dog", 96)
    assert page.locator("#grid li.kept:first-child").count() == 1  # what was there has not been made again


def test_what_the_model_cannot_read_is_told(service: Service, visit: Open) -> None:
    page = visit(service, "?q=foreign")
    page.get_by_text("The query looks like Spanish: the results are a guess.").wait_for()
    page.get_by_role("searchbox").fill("dog")
    wait_for(page, "dog")
    assert page.locator("#status").inner_text() == "The best first"
