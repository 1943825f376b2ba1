"""What axe-core finds on the pages (WCAG 2.1, levels A and AA), and that such tests are not left out in silence."""

from importlib.resources import files
from typing import Any

import page_visits
import pytest
from browser import Open, missing
from fake_service import Service
from page_visits import WELCOME, wait_for

from groundling.report.html import Facts, Header, Meter, Note, Page, Section

browser, service, visit = page_visits.browser, page_visits.service, page_visits.visit
RULES = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}


def complaints(page: Any) -> list[str]:
    """Of axe-core: the rule, and the element that breaks it."""
    pytest.importorskip("axe_playwright_python", reason="pages are checked with axe-playwright-python (extra `dev`)")
    page.evaluate(files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8") + ";0")
    found = page.evaluate("(rules) => axe.run(document, rules)", RULES)
    assert len(found["passes"]) > 5
    return [f"{one['id']}: {node['html'][:120]}" for one in found["violations"] for node in one["nodes"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_keeps_nobody_out(service: Service, visit: Open, scheme: str) -> None:
    page = visit(service, color_scheme=scheme, reduced_motion="reduce")
    page.get_by_role("heading", name=WELCOME).wait_for()
    page.get_by_role("link", name="Katze").wait_for()
    assert complaints(page) == []
    page.goto(service.address + "?q=dog&picture=7")
    page.get_by_role("dialog", name="picture_7.png").wait_for()
    page.get_by_text("ein Hund, Nummer 0").wait_for()
    assert complaints(page) == []
    page.goto(service.address + "?view=check")
    page.get_by_role("textbox", name="Captions").fill("picture_7.png\tdog\npicture_7.png\ta wrong one")
    page.get_by_role("button", name="Check", exact=True).click()
    page.get_by_text("1 to look at again").wait_for()
    assert complaints(page) == []


def test_selecting_keeps_nobody_out(service: Service, visit: Open) -> None:
    page = visit(service, "?q=dog", width=390, height=800, reduced_motion="reduce")
    wait_for(page, "dog")
    page.get_by_role("button", name="Select", exact=True).click()
    page.locator("#grid a").first.click()
    page.get_by_text("1 selected").wait_for()
    page.get_by_role("button", name="Filters").click()
    assert complaints(page) == []


def test_reports_keep_nobody_out(browser: Any, tmp_path: Any) -> None:
    blocks = [Note("A sentence."), Facts([("seed", 0), ("corpus", "emoji")], "groundling train emoji/demo")]
    header = Header("report", "قطة", "What it found.", meters=[Meter(45.0, 4.0, "of 100")], language="ar")
    (tmp_path / "page.html").write_text(Page(header, [Section("Facts", blocks)]).html(), encoding="utf-8")
    page = browser.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    assert complaints(page) == []
    page.close()


def test_a_broken_page_is_noticed(service: Service, visit: Open) -> None:
    page = visit(service, "?q=dog")
    wait_for(page, "dog")
    page.evaluate("document.querySelector('#grid img').removeAttribute('alt')")
    assert any(one.startswith(("image-alt", "link-name")) for one in complaints(page))


def test_required_tests_are_not_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUNDLING_PAGE_TESTS", "required")
    with pytest.raises(pytest.fail.Exception, match="must be tested here"):
        missing("no Chromium found")
    monkeypatch.delenv("GROUNDLING_PAGE_TESTS")
    with pytest.raises(pytest.skip.Exception):
        missing("no Chromium found")
