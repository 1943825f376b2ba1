"""The page in a Firefox, where there is one that Playwright can drive (newer than Debian's 140)."""

from browser import firefox, visits
from fake_service import serving
from page_visits import expected, wait_for


def test_the_page_in_firefox() -> None:
    with firefox() as found, visits(found) as open_page, serving() as service:
        page = open_page(service.address)
        page.get_by_role("searchbox").fill("dog")
        wait_for(page, "dog")
        page.locator("#grid a").first.click()
        page.get_by_role("dialog", name=f"picture_{expected('dog', 1)[0]}.png").wait_for()
        page.keyboard.press("Escape")
        page.wait_for_selector("#detail:not([open])", state="attached")
