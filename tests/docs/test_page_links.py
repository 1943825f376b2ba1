"""Links between the pages of the repository lead somewhere; anchors are checked when the site is built."""

import posixpath
import re
from pathlib import Path

import pytest
from site_scripts import ROOT, script

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("benchmarks/*.md")])
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)\s#]+)")


def missing(page: Path, text: str, made: set[str]) -> list[str]:
    """Targets that are neither in the repository nor made when the site is built."""
    folder = page.parent.relative_to(ROOT).as_posix()
    targets = [posixpath.normpath(posixpath.join(folder, target)) for target in LINK.findall(text)]
    return [target for target in targets if not (ROOT / target).exists() and target not in made]


@pytest.fixture(scope="module")
def made() -> set[str]:
    return {f"docs/{page}" for page in script("hooks").made_pages()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path, made: set[str]) -> None:
    assert missing(page, page.read_text(encoding="utf-8"), made) == []


def test_a_link_to_nowhere_is_noticed() -> None:
    page = ROOT / "docs" / "tutorials" / "teach.md"
    text = "[a](check.md) [b](chekc.md#x) [c](https://example.org/x.md) ![d](../images/nothing.png) [e](../made.md)"
    assert missing(page, text, {"docs/made.md"}) == ["docs/tutorials/chekc.md", "docs/images/nothing.png"]


def test_every_page_is_in_the_navigation_once() -> None:
    """Results and modules enter it by themselves; all other pages are named in mkdocs.yml."""
    nav = re.findall(r"^ +- (?:\w+: )?([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(nav) == len(set(nav))
    written = {path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.md")}
    assert {page for page in written if not page.startswith("results/")} <= set(nav)
