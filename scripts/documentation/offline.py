"""No page may load anything from another host: scripts, styles, fonts and pictures all come with the site."""

import re
from html.parser import HTMLParser

LOADED = {"src", "srcset", "poster", "data"}  # attributes that a browser loads by itself, on any element
LINKS = {"stylesheet", "preload", "prefetch", "preconnect", "dns-prefetch", "modulepreload", "icon", "manifest"}
OTHER_HOST = re.compile(r"^\s*(?:https?:)?//", re.IGNORECASE)
IN_STYLES = re.compile(r"""(?:url\(|@import)\s*['"]?\s*((?:https?:)?//[^'")\s;]+)""", re.IGNORECASE)


def external(html: str) -> list[str]:
    """What a browser would fetch from other hosts to show this page. Links that a reader may follow are not meant."""
    parser = _Parser()
    parser.feed(html)
    return parser.found + external_in_styles(html)


def external_in_styles(css: str) -> list[str]:
    return IN_STYLES.findall(css)


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        loaded = [value for name, value in values.items() if name in LOADED]
        if tag == "link" and LINKS & set(values.get("rel", "").lower().split()):
            loaded.append(values.get("href", ""))
        if tag in ("use", "image"):
            loaded += [values.get("href", ""), values.get("xlink:href", "")]
        self.found += [value for value in loaded if OTHER_HOST.match(value)]
