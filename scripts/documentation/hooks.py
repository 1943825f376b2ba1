"""Pages that are made when the site is built: of the files beside `docs/`, of `--help`, of settings, of docstrings.

MkDocs calls these functions (`hooks:` in mkdocs.yml). What can be read from the code is never written by hand.
"""

import posixpath
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import command_pages
import module_pages
import offline
import setting_pages
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
# Files of the repository that are pages of the site, too, and where they are there.
BESIDE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "benchmarks/README.md": "results/speed.md",
    "LICENSE": "LICENSE.txt",
    "CITATION.cff": "CITATION.cff",
    **{f"examples/{path.name}": f"examples/{path.stem}.md" for path in sorted(ROOT.glob("examples/*.py"))},
}
MADE = {
    "reference/command-line.md": command_pages.page,
    "reference/settings.md": setting_pages.page,
    "reference/tables.md": setting_pages.tables_page,
    "reference/recipes.md": setting_pages.recipes_page,
}
LINK = re.compile(r"(?<=\]\()(?![a-z]+:|#)([^)\s#]+)")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Modules, results and examples enter the navigation where mkdocs.yml leaves their lists empty."""
    _fill(config.nav, "Modules", [f"reference/modules/{name}.md" for name in module_pages.PACKAGES])
    _fill(config.nav, "Results", _results(Path(config.docs_dir)))
    _fill(config.nav, "Examples", [page for page in BESIDE.values() if page.startswith("examples/")])
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for page, make in made_pages().items():
        files.append(File.generated(config, page, content=make()))
    return files


def made_pages() -> dict[str, Callable[[], str]]:
    """Every page that has no file below `docs/`, and what makes it."""
    beside = {page: partial(_beside, ROOT / source) for source, page in BESIDE.items()}
    modules = {f"reference/modules/{name}.md": partial(module_pages.page, name) for name in module_pages.PACKAGES}
    return {**beside, **MADE, **modules}


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links are written as the repository has them; those from and to the files beside `docs/` lead to their pages."""
    place = page.file.src_uri
    written_at = next((source for source, made in BESIDE.items() if made == place), f"docs/{place}")

    def moved(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(written_at), match[1]))
        if target in BESIDE:
            target = f"docs/{BESIDE[target]}"
        elif written_at.startswith("docs/"):
            return match[1]
        return posixpath.relpath(target, posixpath.dirname(f"docs/{place}"))

    return LINK.sub(moved, markdown)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    if found := offline.external(output):
        raise PluginError(f"{page.file.src_uri}: would load {found[0]} from another host")
    return output


def on_post_build(config: MkDocsConfig) -> None:
    for style in Path(config.site_dir).rglob("*.css"):
        if found := offline.external_in_styles(style.read_text(encoding="utf-8")):
            raise PluginError(f"{style}: would load {found[0]} from another host")


def _beside(source: Path) -> str:
    """A file as it is; a script under its name, in a block of code."""
    text = source.read_text(encoding="utf-8")
    title = source.stem.replace("_", " ").capitalize()
    return f"# {title}\n\n`examples/{source.name}`\n\n```python\n{text}```\n" if source.suffix == ".py" else text


def _fill(nav: Any, title: str, pages: list[Any]) -> None:
    for entry in nav:
        for name, inside in entry.items() if isinstance(entry, dict) else ():
            if name == title:
                inside[:] = pages
            elif isinstance(inside, list):
                _fill(inside, title, pages)


def _results(docs: Path) -> list[Any]:
    """The overviews, then each page of results, with the tables that lie in a folder of its name, then other tables."""
    overviews = ["README.md", "claims.md", "not-run.md"]
    nav: list[Any] = [*(f"results/{name}" for name in overviews), "results/speed.md"]
    for page in _pages(docs / "results", "*.md"):
        if page.name in overviews:
            continue
        tables = [path.relative_to(docs).as_posix() for path in _pages(page.with_suffix(""), "**/*.md")]
        own = page.relative_to(docs).as_posix()
        nav.append({_title(page): [own, *tables]} if tables else own)
    inside = _pages(docs / "results", "*/*.md")
    alone = [path for path in inside if not path.parent.with_suffix(".md").exists()]
    return [*nav, *(path.relative_to(docs).as_posix() for path in alone)]


def _pages(folder: Path, pattern: str) -> list[Path]:
    """Prose that becomes a part of another page is no page (nor for MkDocs, see `exclude_docs`)."""
    return [path for path in sorted(folder.glob(pattern)) if not path.name.endswith(".prose.md")]


def _title(page: Path) -> str:
    return page.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
