"""The page on a telephone, with a screen reader, in light and dark, and without movement."""

import page_visits
import pytest
from browser import Open
from fake_service import Service, png
from page_visits import WELCOME, wait_for

browser, service, visit = page_visits.browser, page_visits.service, page_visits.visit


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
