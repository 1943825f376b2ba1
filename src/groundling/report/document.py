"""The frame of every page: one HTML file that needs nothing beside it."""

import re
from collections.abc import Mapping
from importlib.resources import files

from groundling.report.escape import escape

WIDE = 700  # in units of a drawing


def document(title: str, header: str, sections: Mapping[str, str], more_style: str = "") -> str:
    """A page from finished HTML: a header, then sections under their names; empty ones are left out."""
    body = "\n".join(f"<section><h2>{name}</h2>\n{html}\n</section>" for name, html in sections.items() if html)
    style = files("groundling.report").joinpath("style.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)} – groundling report</title>\n<style>\n{style}{more_style}</style>\n</head>\n"
        f"<body>\n<main>\n{header}\n{body}\n</main>\n</body>\n</html>\n"
    )


def figure(svg: str, caption: str) -> str:
    """A drawing with words below it; one that was drawn for the whole width of the page has it."""
    size = re.search(r'viewBox="0 0 (\d+) ', svg)
    wide = ' class="wide"' if size and int(size[1]) >= WIDE else ""
    return f"<figure{wide}>{svg}<figcaption>{escape(caption)}</figcaption></figure>"
