"""What all tests of the page share: a browser, a service whose answers are known, and how to read the results."""

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from browser import Open, chromium, visits
from fake_service import Service, results, serving, start_of

ARABIC = "كلب على الشاطئ"
WELCOME = re.compile("Find pictures")


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
