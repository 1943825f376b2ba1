"""The page in a real Chromium, against a stand-in for the service whose answers are known."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from browser import Open, chromium, until, visits
from fake_service import Service, png, results, serving, start_of

ARABIC = "كلب على الشاطئ"
WELCOME = re.compile("Find pictures")
TOKEN = "open-sesame"  # noqa: S105


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture
def service() -> Iterator[Service]:
    with serving() as running:
        yield running


@pytest.fixture
def visit(browser: Any) -> Iterator[Open]:
    with visits(browser) as opener:
        yield lambda service, path="", **options: opener(service.address, path, **options)


def ids(page: Any) -> list[int]:
    return page.evaluate("[...document.querySelectorAll('#grid a')].map((link) => Number(link.dataset.id))")


def expected(query: str, k: int = 48) -> list[int]:
    return [found["id"] for found in results(start_of(query), k)]


def wait_for(page: Any, query: str) -> None:
    page.wait_for_selector(f'#grid li:first-child a[data-id="{start_of(query)}"]')


def asked(service: Service, path: str) -> list[dict[str, str]]:
    urls = [urlsplit(one) for one in service.asked]
    return [{name: one[0] for name, one in parse_qs(url.query).items()} for url in urls if url.path == path]


def test_typing_finds_pictures_without_a_key_to_send(service: Service, visit: Open) -> None:
    page = visit(service)
    page.get_by_role("searchbox").press_sequentially("a dog")
    wait_for(page, "a dog")
    assert ids(page) == expected("a dog")
    assert parse_qs(urlsplit(page.url).query) == {"q": ["a dog"]}
    assert page.get_by_role("link", name=f"picture {start_of('a dog')}", exact=True).is_visible()
    page.locator("#live", has_text="48 pictures found, language: English").wait_for(state="attached")


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
    assert box.input_value() == "" and ids(page) == []
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


def test_keys_walk_through_the_grid(service: Service, visit: Open) -> None:
    page = visit(service, "?q=dog")
    wait_for(page, "dog")
    order = expected("dog")

    def here() -> int:
        return order.index(int(page.evaluate("document.activeElement.dataset.id")))

    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "q"
    page.keyboard.press("ArrowDown")
    assert here() == 0
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert here() == 1
    columns = len(page.evaluate("getComputedStyle(document.getElementById('grid')).gridTemplateColumns").split())
    page.keyboard.press("ArrowDown")
    assert here() == 1 + columns
    page.keyboard.press("End")
    assert here() == 47
    page.keyboard.press("Home")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.id") == "q"
    assert page.locator("#grid a[tabindex='0']").count() == 1  # one stop for the tab key


def test_a_picture_opens_and_closes_with_keys(service: Service, visit: Open) -> None:
    page = visit(service, "?q=dog")
    wait_for(page, "dog")
    first, second = expected("dog", 2)
    page.get_by_role("searchbox").press("ArrowDown")
    page.keyboard.press("Enter")
    dialog = page.get_by_role("dialog", name=f"picture_{first}.png")
    dialog.wait_for()
    assert f"picture={first}" in page.url
    assert page.evaluate("document.getElementById('detail').contains(document.activeElement)")
    page.keyboard.press("ArrowRight")
    page.get_by_role("dialog", name=f"picture_{second}.png").wait_for()
    page.keyboard.press("Escape")
    page.wait_for_selector(f"#grid a[data-id='{second}']:focus")
    until(page, "!location.search.includes('picture=')")
    assert page.get_by_role("dialog").count() == 0


def test_similar_pictures_and_the_way_back(service: Service, visit: Open) -> None:
    page = visit(service, "?q=dog")
    wait_for(page, "dog")
    first = expected("dog", 1)[0]
    page.locator("#grid a").first.click()
    like = page.locator("#similar a")
    like.first.wait_for()
    assert [int(one.get_attribute("data-id")) for one in like.all()] == [
        found["id"] for found in results(first, 13)[1:]
    ]
    like.nth(3).click()
    page.get_by_role("dialog", name=f"picture_{first + 4}.png").wait_for()
    page.go_back()
    page.get_by_role("dialog", name=f"picture_{first}.png").wait_for()
    page.go_forward()
    page.get_by_role("dialog", name=f"picture_{first + 4}.png").wait_for()
    page.get_by_role("button", name="Close").click()
    page.wait_for_url(lambda url: "picture" not in url)
    assert page.get_by_role("searchbox").input_value() == "dog"


def test_a_link_to_a_picture_tells_its_name(service: Service, visit: Open) -> None:
    page = visit(service, "?picture=7")
    page.get_by_role("dialog", name="picture_7.png").wait_for()
    assert page.locator("#detail-folder").inner_text() == "album"
    assert [path for path in service.asked if path.endswith("7/about")] == ["/pictures/7/about"]


def test_captions_by_language(service: Service, visit: Open) -> None:
    page = visit(service, "?q=dog&picture=7")
    captions = page.get_by_role("region", name="Captions")
    captions.get_by_role("heading").first.wait_for()
    assert captions.get_by_role("heading").all_inner_texts() == ["German", "Arabic", "Japanese"]
    arabic = captions.get_by_text("كلب على الشاطئ")
    assert (arabic.get_attribute("dir"), arabic.get_attribute("lang")) == ("rtl", "ar")
    german = captions.get_by_text("ein Hund")
    assert german.count() == 3
    captions.get_by_role("button", name="2 more in German").click()
    assert german.count() == 5


def test_a_sentence_is_checked(service: Service, visit: Open) -> None:
    page = visit(service, "?q=dog&picture=7")
    field = page.get_by_role("textbox", name="A sentence to check")
    field.fill("a cat sleeps")
    field.press("Enter")
    page.get_by_text("The picture says otherwise").wait_for()
    shares = page.get_by_role("list", name="Probabilities").get_by_role("listitem")
    assert [one.replace("\n", " ") for one in shares.all_inner_texts()] == [
        "Shows it 10 %",
        "Does not tell 20 %",
        "Says otherwise 70 %",
    ]
    widths = [page.locator(".fill").nth(place).bounding_box()["width"] for place in range(3)]
    assert widths[2] == pytest.approx(7 * widths[0], rel=0.05)
    field.fill(ARABIC)
    assert field.get_attribute("dir") == "rtl"
    page.get_by_role("button", name="Check").click()
    page.get_by_text("The picture shows it").wait_for()
    assert asked(service, "/check")[-1] == {"id": "7", "text": ARABIC}


def test_nothing_to_check_with(visit: Open) -> None:
    with serving(check=False) as service:
        page = visit(service, "?q=dog&picture=7")
        page.get_by_role("region", name="Captions").wait_for()
        assert page.get_by_role("textbox", name="A sentence to check").count() == 0


DROP = """([bytes, name, type, more]) => {
    const carried = new DataTransfer();
    carried.items.add(new File([new Uint8Array(bytes), new Uint8Array(more ?? 0)], name, {type}));
    for (const kind of ["dragenter", "dragover", "drop"])
        document.body.dispatchEvent(new DragEvent(kind, {dataTransfer: carried, bubbles: true, cancelable: true}));
}"""
PASTE = """([bytes, name, type]) => {
    const carried = new DataTransfer();
    carried.items.add(new File([new Uint8Array(bytes)], name, {type}));
    document.body.dispatchEvent(new ClipboardEvent("paste", {clipboardData: carried, bubbles: true, cancelable: true}));
}"""


@pytest.mark.parametrize("way", ["drop", "paste", "choose"])
def test_a_picture_of_ones_own(service: Service, visit: Open, way: str) -> None:
    page = visit(service, "?q=dog")
    wait_for(page, "dog")
    picture = png(40, 200, 80, 40)
    if way == "choose":
        with page.expect_file_chooser() as chooser:
            page.get_by_role("button", name="Search with a picture").click()
        chooser.value.set_files({"name": "mine.png", "mimeType": "image/png", "buffer": picture})
    else:
        page.evaluate(DROP if way == "drop" else PASTE, [list(picture), "mine.png", "image/png"])
    panel = page.get_by_role("region", name="Pictures like yours")
    panel.get_by_text("浜辺の犬").wait_for()
    page.wait_for_selector(f'#grid li:first-child a[data-id="{len(picture) % 500}"]')  # its bytes came through whole
    assert page.locator("#drop").is_hidden()
    until(page, "document.getElementById('asked-picture').naturalWidth === 40")
    if way != "choose":
        return  # whatever way it came, the rest is the same
    panel.get_by_role("textbox").fill("a dog")
    panel.get_by_role("button", name="Check").click()
    panel.get_by_text("The picture shows it").wait_for()
    page.go_back()
    wait_for(page, "dog")
    assert panel.is_hidden()
    page.go_forward()
    panel.wait_for()
    page.get_by_role("searchbox").fill("tree")
    wait_for(page, "tree")
    assert panel.is_hidden()


def test_a_rare_or_huge_picture_is_made_fit_to_send(service: Service, visit: Open) -> None:
    page = visit(service)
    bitmap = b"BM" + (70).to_bytes(4, "little") + bytes(4) + (54).to_bytes(4, "little") + (40).to_bytes(4, "little")
    bitmap += (2).to_bytes(4, "little") * 2 + b"\1\0\x18\0" + bytes(24) + bytes(16)  # two by two black pixels
    with page.expect_request(lambda request: "/similar" in request.url) as sent:
        page.evaluate(DROP, [list(bitmap), "old.bmp", "image/bmp"])
    assert sent.value.headers["content-type"] == "image/webp"
    with page.expect_response(lambda response: "/similar" in response.url):  # what follows the end of a PNG is not seen
        page.evaluate(DROP, [list(png(1700, 10, 200, 30)), "big.png", "image/png", 7 * 2**20])
    assert 0 < max(service.received) < 100_000


def test_a_file_that_is_no_picture(service: Service, visit: Open) -> None:
    page = visit(service)
    page.get_by_role("heading", name=WELCOME).wait_for()
    page.evaluate(DROP, [[1, 2, 3], "notes.txt", "text/plain"])
    alert = page.get_by_role("alert")
    assert "notes.txt" in alert.inner_text()
    alert.get_by_role("button").click()
    page.get_by_role("heading", name=WELCOME).wait_for()
    assert asked(service, "/similar") == []


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
    for number in (96, 144, 192):
        more.click()
        page.wait_for_selector(f"#grid li:nth-child({number})")
    assert ids(page) == expected("dog", 192)
    assert page.locator("#grid li.kept:first-child").count() == 1  # what was there has not been made again
    assert more.is_hidden()


def test_an_error_is_told_and_can_be_got_over(service: Service, visit: Open) -> None:
    page = visit(service, "?q=broken")
    alert = page.get_by_role("alert")
    alert.get_by_role("heading", name="Something went wrong").wait_for()
    before = len(asked(service, "/search"))
    with page.expect_response("**/search?*"):
        alert.get_by_role("button", name="Try again").click()
    assert len(asked(service, "/search")) == before + 1
    page.get_by_role("searchbox").fill("wrong")
    alert.get_by_text("Q: this cannot be asked.").wait_for()
    alert.get_by_role("button", name="Start again").click()
    page.get_by_role("heading", name=WELCOME).wait_for()
    page.get_by_role("searchbox").fill("dog")
    wait_for(page, "dog")
    assert alert.is_hidden()


def test_a_service_that_has_gone(service: Service, visit: Open) -> None:
    page = visit(service)
    page.route("**/search?*", lambda route: route.abort())
    page.get_by_role("searchbox").fill("dog")
    alert = page.get_by_role("alert")
    alert.get_by_role("heading", name="The search does not answer").wait_for()
    page.unroute("**/search?*")
    page.get_by_role("searchbox").press("Enter")
    wait_for(page, "dog")


def test_offline_and_back(service: Service, visit: Open) -> None:
    page = visit(service)
    page.context.set_offline(True)
    page.get_by_role("searchbox").fill("dog")
    page.get_by_role("alert").get_by_role("heading", name="You are offline").wait_for()
    page.context.set_offline(False)
    wait_for(page, "dog")


def test_a_slow_first_answer_has_its_places_ready(service: Service, visit: Open) -> None:
    page = visit(service, "?q=slow")
    page.wait_for_selector("#grid .waiting")
    wait_for(page, "slow")
    assert page.locator("#grid .waiting").count() == 0


def test_a_picture_that_is_gone_keeps_its_name(service: Service, visit: Open) -> None:
    page = visit(service, "?q=dog&picture=12")
    page.locator("#similar a[data-id='13'] .frame.lost").wait_for()
    page.locator("#similar a[data-id='13']").click()
    page.get_by_role("dialog", name="picture_13.png").wait_for()
    page.wait_for_selector("#stage.lost")


def test_a_token_is_asked_for(visit: Open) -> None:
    with serving(token=TOKEN) as service:
        page = visit(service, "?q=dog")
        dialog = page.get_by_role("dialog", name="This search is private")
        dialog.get_by_label("Token").fill("wrong")
        dialog.get_by_role("button", name="Unlock").click()
        dialog.get_by_text("That is not the token.").wait_for()
        dialog.get_by_label("Token").fill(TOKEN)
        dialog.get_by_label("Token").press("Enter")
        wait_for(page, "dog")
        assert page.evaluate("document.cookie") == ""  # no script can read it
        page.locator("#grid .frame.here").first.wait_for()
        page.reload()
        wait_for(page, "dog")
        assert dialog.count() == 0


def test_the_token_dialog_can_be_left(visit: Open) -> None:
    with serving(token=TOKEN) as service:
        page = visit(service)
        page.get_by_role("dialog").wait_for()
        page.keyboard.press("Escape")
        page.get_by_role("alert").get_by_role("button", name="Try again").click()
        page.get_by_role("dialog", name="This search is private").wait_for()


def test_a_telephone_scrolls_one_way_only(service: Service, visit: Open) -> None:
    page = visit(service, width=360, height=640, has_touch=True, is_mobile=True)

    def widest() -> float:
        return page.evaluate("Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)")

    assert widest() <= 360
    page.get_by_role("searchbox").fill("a very long query about a dog that runs " * 5)
    page.wait_for_selector("#grid a")
    page.get_by_role("button", name="Filters").click()
    assert widest() <= 360
    page.set_input_files("#file", {"name": "m" * 80 + ".png", "mimeType": "image/png", "buffer": png(40, 1, 2, 3)})
    page.get_by_role("region", name="Pictures like yours").get_by_text("German").wait_for()
    assert widest() <= 360
    page.locator("#grid a").first.tap()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("German").wait_for()
    dialog.get_by_role("textbox").fill("a very long sentence about a dog that runs and runs")
    dialog.get_by_role("button", name="Check").tap()
    dialog.get_by_text("Does not tell").wait_for()
    beyond = (
        """[...document.querySelectorAll("#detail *")].filter((one) => one.getBoundingClientRect().right > 360.5)"""
    )
    assert page.evaluate(beyond + ".map((one) => one.outerHTML)") == []


def test_what_a_screen_reader_is_told(service: Service, visit: Open) -> None:
    page = visit(service, "?q=dog")
    wait_for(page, "dog")
    tree = page.locator("body").aria_snapshot()
    for part in (
        "- banner:",
        "- search:",
        '- searchbox "Search the pictures, in any language": dog',
        '- button "Clear the search"',
        '- button "Search with a picture"',
        "- main:",
        '- heading "Picture search" [level=1]',
        '- combobox "Language of the words"',
        '- button "Filters"',
        '- region "Pictures found"',
    ):
        assert part in tree, tree
    page.locator("#grid a").first.click()
    page.get_by_role("dialog").get_by_text("German").wait_for()
    tree = page.get_by_role("dialog").aria_snapshot()
    for part in (
        '- button "Previous picture" [disabled]',
        '- button "Next picture"',
        '- button "Close"',
        '- heading "Similar pictures" [level=3]',
        '- textbox "A sentence to check"',
        '- region "Captions"',
    ):
        assert part in tree, tree
    unnamed = page.evaluate("""() => [...document.querySelectorAll("button, a, input:not([hidden]), select, img")]
        .filter((one) => one.checkVisibility() && !one.closest("[aria-hidden=true]"))
        .filter((one) => one.tagName === "IMG" ? !one.hasAttribute("alt") :
            !(one.getAttribute("aria-label") || one.textContent.trim() || one.labels?.length ||
              one.querySelector("img[alt]")))
        .map((one) => one.outerHTML)""")
    assert unnamed == []


CONTRASTS = """() => {
    const pen = new OffscreenCanvas(1, 1).getContext("2d", {willReadFrequently: true});
    const rgb = (colour) => { pen.clearRect(0, 0, 1, 1); pen.fillStyle = colour; pen.fillRect(0, 0, 1, 1);
        return [...pen.getImageData(0, 0, 1, 1).data]; };
    const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
        .map((v) => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
        .reduce((sum, v, place) => sum + v * [.2126, .7152, .0722][place], 0);
    const ground = (one) => { for (; one; one = one.parentElement) {
        const colour = rgb(getComputedStyle(one).backgroundColor); if (colour[3] === 255) return colour; }
        return [255, 255, 255]; };
    return [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility({opacityProperty: true}))
        .filter((one) => !one.closest(".unseen, .skip, .caption, :disabled, .waiting"))
        .filter((one) => [...one.childNodes].some((child) => child.nodeType === 3 && child.data.trim()))
        .map((one) => {
            const pair = [light(rgb(getComputedStyle(one).color)), light(ground(one))].sort((a, b) => b - a);
            return [(pair[0] + .05) / (pair[1] + .05), one.outerHTML.slice(0, 120)]; });
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_can_be_read(service: Service, visit: Open, scheme: str) -> None:
    """WCAG AA: text has a contrast of 4.5 with what is behind it."""
    page = visit(service, color_scheme=scheme)
    page.get_by_role("heading", name=WELCOME).wait_for()
    measured = page.evaluate(CONTRASTS)
    page.goto(service.address + "?q=dog&picture=7&folder=album")
    page.get_by_role("textbox", name="A sentence to check").fill("a cat")
    page.get_by_role("button", name="Check").click()
    page.get_by_text("The picture says otherwise").wait_for()
    measured += page.evaluate(CONTRASTS)
    page.goto(service.address + "?q=broken")
    page.get_by_role("alert").get_by_role("heading").wait_for()
    measured += page.evaluate(CONTRASTS)
    assert len(measured) > 40
    assert [one for one in measured if one[0] < 4.5] == []


def test_nothing_moves_for_those_who_want_no_movement(service: Service, visit: Open) -> None:
    page = visit(service, "?q=slow", reduced_motion="reduce")
    page.wait_for_selector("#grid .waiting")
    assert page.evaluate("document.getAnimations().length") == 0
    wait_for(page, "slow")
    assert page.evaluate("document.getAnimations().length") == 0


def test_a_name_is_never_taken_for_markup(service: Service, visit: Open) -> None:
    page = visit(service)
    nasty = "<img src=x onerror=document.title='taken'>"
    answer = {
        "query": nasty,
        "language": {"code": "en", "name": nasty, "direction": "ltr", "detected": True},
        "results": [{"id": 1, "score": 0.5, "name": nasty, "url": "/pictures/1"}],
    }
    page.route("**/search?*", lambda route: route.fulfill(json=answer))
    page.get_by_role("searchbox").fill(nasty)
    page.locator("#grid a").click()
    page.get_by_role("dialog").wait_for()
    assert page.locator("img[src=x]").count() == 0
    assert page.title() == f"{nasty} · groundling"
