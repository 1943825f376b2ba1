"""Pictures on the page: walking through those found, looking at one, and bringing one's own."""

import page_visits
import pytest
from browser import Open, until
from fake_service import Service, png, results, serving
from page_visits import ARABIC, WELCOME, asked, expected, wait_for

browser, service, visit = page_visits.browser, page_visits.service, page_visits.visit


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
