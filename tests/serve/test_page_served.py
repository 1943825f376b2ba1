"""The page and the real service together, in a real Chromium."""

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("faiss")
pytest.importorskip("fastapi")

import uvicorn
from browser import Open, chromium, until, visits
from served import Collection, collection, red_checker, square

from groundling.search import Index
from groundling.serve import server
from groundling.serve.access import Access
from groundling.serve.page_files import page_files


@pytest.fixture(scope="module")
def squares(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    with collection(tmp_path_factory.mktemp("paged")) as made:
        yield made


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture
def visit(browser: Any) -> Iterator[Open]:
    with visits(browser) as opener:
        yield opener


@contextmanager
def listening(app: Any) -> Iterator[str]:
    """The application at a port of its own."""
    taken = server.listen("127.0.0.1", 0)
    running = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none"))
    thread = threading.Thread(target=running.run, args=([taken],))
    thread.start()
    try:
        while not running.started and thread.is_alive():
            time.sleep(0.01)
        yield server.address_of(taken)
    finally:
        running.should_exit = True
        thread.join()
        taken.close()


def test_words_pictures_captions_and_a_sentence(browser: Any, visit: Open, squares: Collection) -> None:
    with listening(squares.app(checker=red_checker())) as address:
        page = visit(address)
        page.get_by_role("searchbox").fill("red")
        page.locator("#grid .frame.here").first.wait_for()  # the picture itself has come
        until(
            page, "document.querySelectorAll('#grid a').length === 7"
        )  # those that look the same as one: no longer the first page's
        page.locator("#grid a").first.click()
        page.get_by_role("region", name="Captions").get_by_text("أحمر").wait_for()
        page.locator("#similar a").first.wait_for()
        until(page, "document.getElementById('detail-picture').naturalWidth > 0")
        page.get_by_role("textbox", name="A sentence to check").fill("it is red")
        page.get_by_role("button", name="Check").click()
        page.locator(".says").wait_for()
        assert page.get_by_role("list", name="Probabilities").get_by_text("70 %").count() == 1
        page.keyboard.press("Escape")
        red = {"name": "mine.png", "mimeType": "image/png", "buffer": square((250, 10, 10))}
        page.set_input_files("#file", red)
        panel = page.get_by_role("region", name="Pictures like yours")
        panel.get_by_text("rot").wait_for()
        panel.get_by_role("textbox").fill("it is red")
        panel.get_by_role("button", name="Check").click()
        panel.get_by_text("The picture shows it").wait_for()
        page.get_by_role("searchbox").fill("red")
        page.get_by_role("button", name="Filters").click()
        page.get_by_label("Folder").fill("no/such/folder")
        page.get_by_label("Folder").press("Enter")
        page.get_by_role("heading", name="No picture passes these filters").wait_for()


def test_the_service_says_what_is_wrong_with_a_picture(visit: Open, squares: Collection) -> None:
    with listening(squares.app()) as address:
        page = visit(address)
        page.set_input_files("#file", {"name": "bad.png", "mimeType": "image/png", "buffer": b"not a picture"})
        page.get_by_role("alert").get_by_role("heading").first.wait_for()
        assert "picture" in page.locator("#notice-detail").inner_text()


def test_links_to_a_picture_and_to_none(visit: Open, squares: Collection) -> None:
    with listening(squares.app(captions=False)) as address:
        page = visit(address, "?picture=3")
        name = Index.open(squares.index).entries.value("name", 3)
        page.get_by_role("dialog", name=name).wait_for()
        until(page, f"document.getElementById('detail-picture').alt === '{name.removesuffix('.png')}'")
        for none in ("999", "nonsense"):
            page = visit(address, f"?picture={none}")
            page.wait_for_selector("#stage.lost")
            assert page.get_by_role("dialog", name="Picture", exact=True).count() == 1


def test_a_private_search(visit: Open, squares: Collection) -> None:
    token = "0123456789abcdef"  # noqa: S105
    with listening(squares.app(Access(token))) as address:
        page = visit(address, "?q=red")
        dialog = page.get_by_role("dialog", name="This search is private")
        dialog.get_by_label("Token").fill("not this one")
        dialog.get_by_role("button", name="Unlock").click()
        dialog.get_by_text("That is not the token.").wait_for()
        dialog.get_by_label("Token").fill(token)
        dialog.get_by_label("Token").press("Enter")
        page.locator("#grid .frame.here").first.wait_for()
        assert page.evaluate("document.cookie") == ""


def test_every_file_that_the_page_names_is_served() -> None:
    files = page_files()
    named = {
        name
        for file in files.values()
        if file.media_type.startswith("text/")
        for name in re.findall(r"(?:page/|from \"\./)([\w.]+)", file.data.decode())
    }
    assert len(named) > 10
    assert named == set(files) - {"index.html"}
