"""A real Chromium for the tests of the page: Debian's, Playwright's own, or the one that $CHROMIUM names.

Where there is none these tests are skipped, unless GROUNDLING_PAGE_TESTS=required, which `.ci/run` sets where it found
or installed one: a run that should have tested the page and did not is a failure.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

import pytest

Open = Callable[..., Any]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def executable() -> str | None:
    named = os.environ.get("CHROMIUM")
    if named:
        return named if Path(named).exists() else None
    return next((found for name in NAMES if (found := shutil.which(name))), None)


def missing(why: str) -> NoReturn:
    """Skips a test, or fails it where page tests are required."""
    if os.environ.get("GROUNDLING_PAGE_TESTS") == "required":
        pytest.fail(f"{why}; GROUNDLING_PAGE_TESTS says that the page must be tested here", pytrace=False)
    pytest.skip(why)


@contextmanager
def firefox() -> Iterator[Any]:
    """A Firefox as it is, by WebDriver BiDi; skipped where there is none, or one too old for Playwright."""
    sync_api = pytest.importorskip("playwright.sync_api")
    path = shutil.which("firefox") or shutil.which("firefox-esr")
    if path is None:
        pytest.skip("no Firefox found: `apt-get install firefox-esr`")
    with sync_api.sync_playwright() as playwright:
        try:
            browser = playwright.firefox.launch(channel="moz-firefox", executable_path=path)
        except sync_api.Error as error:
            pytest.skip(f"Playwright cannot drive {path}: {str(error).splitlines()[0]}")
        yield browser
        browser.close()


@contextmanager
def chromium() -> Iterator[Any]:
    """The browser; the test is skipped where there is none, or fails where there must be one."""
    try:
        from playwright import sync_api
    except ImportError:
        missing("the page is tested with playwright (extra `dev`)")
    with sync_api.sync_playwright() as playwright:
        path = executable() or playwright.chromium.executable_path
        if not Path(path).exists():
            missing("no Chromium found: `apt-get install chromium`, or name one in $CHROMIUM")
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []  # Chromium's sandbox refuses to work for root
        browser = playwright.chromium.launch(executable_path=path, args=arguments)
        yield browser
        browser.close()


@contextmanager
def visits(browser: Any) -> Iterator[Open]:
    """Opens pages. Afterwards: no complaint in the console but of answers that were to fail, no other host asked."""
    contexts: list[Any] = []
    complaints: list[str] = []
    hosts: set[str] = set()
    homes = {""}  # blob: of the page itself

    def visit(address: str, path: str = "", width: int = 1280, height: int = 800, **options: Any) -> Any:
        context = browser.new_context(viewport={"width": width, "height": height}, locale="en-US", **options)
        context.set_default_timeout(15_000)
        page = context.new_page()
        contexts.append(context)
        homes.add(urlsplit(address).netloc)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda line: complaints.append(line.text) if line.type in ("error", "warning") else None)
        page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
        page.goto(address + path)
        return page

    yield visit
    for context in contexts:
        context.close()
    assert [one for one in complaints if not one.startswith("Failed to load resource")] == []
    assert hosts <= homes


def until(page: Any, condition: str) -> None:
    """Waits for a condition in JavaScript; Playwright's own way would need a page that allows `eval`."""
    for _ in range(300):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"never: {condition}; the page says: {page.inner_text('body')[:500]}")
