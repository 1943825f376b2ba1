"""The page when something is wrong: errors, silence, lost pictures, a missing token, names that are markup."""

import page_visits
from browser import Open
from fake_service import Service, serving
from page_visits import WELCOME, asked, wait_for

browser, service, visit = page_visits.browser, page_visits.service, page_visits.visit

TOKEN = "open-sesame"  # noqa: S105


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
    page.wait_for_selector("#grid li:only-child")
    page.locator("#grid a").click()
    page.get_by_role("dialog").wait_for()
    assert page.locator("img[src=x]").count() == 0
    assert page.title() == f"{nasty} · groundling"
