"""The pictures found for a query, as one HTML page that needs nothing beside it."""

from collections.abc import Sequence
from pathlib import PurePosixPath

from groundling.errors import UserError
from groundling.report.document import document
from groundling.report.escape import escape
from groundling.report.languages import direction
from groundling.report.sheet import thumbnail
from groundling.search.index import Found, FoundPicture, Index

SIDE = 240  # pixels


def page(index: Index, query: str, language: str, found: Sequence[Found]) -> str:
    """The query, and a small copy of each picture with its path and score; a click on one opens the file."""
    tiles = [_tile(index, one) for one in found if isinstance(one, FoundPicture)]
    heading = f'<h1 dir="{direction(language)}" lang="{escape(language)}">{escape(query)}</h1>'
    count = f"{len(tiles)} of {len(index):,} pictures, the best first"
    head = f'<header><p class="kind">groundling search</p>{heading}<p class="lead">{escape(count)}</p></header>'
    return document(query, head, {"Pictures": f'<div class="large"><div class="tiles">{"".join(tiles)}</div></div>'})


def _tile(index: Index, one: FoundPicture) -> str:
    name = escape(one.path)
    inside = f'<span class="lost">{name}</span>'
    try:
        small = thumbnail(index.read(one.path), SIDE)  # with all limits; never through a link
        if small and index.root is not None:
            target = escape((index.root / one.path).as_uri())
            inside = f'<a href="{target}"><img src="{small}" alt="{name}" title="{name}"></a>'
    except UserError:
        pass  # removed since; its name is shown
    score = f'<span class="score">{one.score:.3f}</span>'
    short = f'<span style="overflow-wrap:anywhere" title="{name}">{escape(PurePosixPath(one.path).name)}</span>'
    return f'<figure class="tile"><div class="frame">{inside}</div><figcaption>{short} {score}</figcaption></figure>'
