"""Alternative texts of pictures in web pages: <img src="…" alt="…"> of all pages in a folder, as rows of a table."""

import os
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from posixpath import normpath
from urllib.parse import unquote, urlsplit

from groundling.corpus.formats.rows import Row
from groundling.errors import UserError

PAGES = (".html", ".htm", ".xhtml")
# Elements that have no end.
VOID = ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
LARGEST_PAGE = 16 * 2**20  # bytes


def alternative_texts(folder: Path) -> list[Row]:
    """Rows with picture, text and language, and the page and line that they stand on.

    Pictures of other servers are left out, and so are those whose alternative text is meant to be empty (alt="");
    those that have none at all are there, with an empty text.
    """
    folder = folder.expanduser()
    if not folder.is_dir():
        raise UserError(f"{folder}: no such folder of pages")
    rows: list[Row] = []
    pages = 0
    for name in _pages(folder):
        path = folder / name
        if path.is_symlink() or path.stat().st_size > LARGEST_PAGE:
            continue
        pages += 1
        reader = _Images()
        reader.feed(path.read_bytes().decode("utf-8", "replace"))
        for line, source, text, language in reader.found:
            picture = _picture(name, source)
            if picture:
                fields = {"picture": picture, "text": text, "language": language, "page": name, "page_line": line}
                rows.append(Row(len(rows) + 1, fields))
    if not rows:
        raise UserError(f"{folder}: {pages:,} pages, and no picture of this folder with an alternative text in them")
    return rows


def _pages(folder: Path) -> list[str]:
    found = []
    for place, folders, files in os.walk(folder):
        folders.sort()
        found += [Path(place, file).relative_to(folder).as_posix() for file in sorted(files)]
    return [name for name in found if PurePosixPath(name).suffix.lower() in PAGES]


def _picture(page: str, source: str) -> str:
    """The picture's path below the folder; "" for one that is elsewhere or in the page itself."""
    try:
        address = urlsplit(source.strip())
    except ValueError:
        return ""
    path = unquote(address.path)
    if address.scheme or address.netloc or not path:
        return ""
    if path.startswith("/"):  # of the site, whose root is the folder
        return path.lstrip("/")
    return normpath(str(PurePosixPath(page).parent / path))


class _Images(HTMLParser):
    """Each picture with the language of the nearest element around it that says one."""

    VOID = frozenset(
        ["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"]
    )

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[int, str, str, str]] = []
        self._around: list[tuple[str, str]] = []  # elements that are open, with their languages

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        language = given.get("lang") or given.get("xml:lang") or (self._around[-1][1] if self._around else "")
        if tag == "img":
            text = given.get("alt") if "alt" in given else None
            if given.get("src") and (text is None or text.strip()):
                self.found.append((self.getpos()[0], given["src"] or "", (text or "").strip(), language))
        if tag not in VOID:
            self._around.append((tag, language))

    def handle_endtag(self, tag: str) -> None:
        for place in range(len(self._around) - 1, -1, -1):
            if self._around[place][0] == tag:
                del self._around[place:]
                return
