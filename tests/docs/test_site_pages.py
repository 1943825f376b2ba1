"""Pages that are made from the code say all that the code knows, and no page loads anything from elsewhere."""

from typing import Any

import pytest
import typer
from site_scripts import ROOT, script

from groundling import systems
from groundling.cli.app import app
from groundling.settings import TrainingSettings


def test_the_command_line_has_every_command_and_option() -> None:
    page, program = script("command_pages").page(), typer.main.get_command(app)
    words = program.commands["words"].commands
    assert {f"## groundling words {name}" for name in words} <= set(page.splitlines())
    for command in (program.commands["train"], words["train"]):
        for option in command.params:
            assert all(name in page for name in option.opts if name.startswith("--"))
            assert option.help.replace("[", "\\[") in page


def test_settings_have_their_defaults_and_every_system_its_own() -> None:
    page = script("setting_pages").page()
    for name, field in TrainingSettings.model_fields.items():
        assert f"| `{name}` |" in page
        assert (field.description or "") in page
    assert "| `patience` | <code>int</code> | <code>10</code> |" in page
    for name, system in systems.SYSTEMS.items():
        assert f"\n## system: {name}\n" in page
        assert system.paper in page


def test_a_package_s_page_has_all_of_its_modules() -> None:
    page = script("module_pages").page("objectives")
    assert "::: groundling.objectives.hinge\n" in page
    assert all(":::" in script("module_pages").page(name) for name in script("module_pages").PACKAGES)
    assert "::: groundling.encoders.text.recurrent\n" in script("module_pages").page("encoders")


@pytest.mark.parametrize(
    "html",
    [
        '<script src="https://cdn.example.org/a.js"></script>',
        '<link rel="stylesheet" href="//fonts.example.org/css">',
        '<link rel="preconnect" href="https://fonts.example.org" crossorigin>',
        '<img alt="" src="http://example.org/a.png">',
        "<style>@font-face { src: url('https://example.org/a.woff2') }</style>",
        '<style>@import "https://example.org/a.css";</style>',
    ],
)
def test_what_would_be_loaded_from_another_host_is_noticed(html: str) -> None:
    assert len(script("offline").external(f"<html><head>{html}</head></html>")) == 1


def test_links_for_readers_and_files_of_the_site_are_fine() -> None:
    html = """<a href="https://example.org">x</a> <script src="assets/a.js"></script> <img src="data:image/png,x">
    <link rel="canonical" href="https://example.org/"> <style>a { background: url(x.png) }</style>"""
    assert script("offline").external(html) == []


def test_the_navigation_has_every_page_of_results() -> None:
    """The site is built strictly: a page that nothing leads to stops it."""

    def pages(nav: list[Any]) -> list[str]:
        return [page for one in nav for page in ([one] if isinstance(one, str) else pages(*one.values()))]

    there = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs" / "results").rglob("*.md")}
    there = {page for page in there if not page.endswith(".prose.md")}  # parts of other pages
    listed = pages(script("hooks")._results(ROOT / "docs"))
    assert set(listed) == there | {"results/speed.md"} and len(listed) == len(set(listed))
