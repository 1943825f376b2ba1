"""The pictures found for a query, as one HTML page that needs nothing beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from groundling.errors import UserError
from groundling.report.html import Header, Page, Section, TemplateBlock
from groundling.report.picture_sheet import thumbnail
from groundling.search.index import Found, FoundPicture, Index

SIDE = 400  # pixels; shown at half to full size


@dataclass(frozen=True)
class Tile:
    """A small copy of a picture, which opens the file itself; its name where it cannot be shown.

    `same` is how many more look the same.
    """

    path: str
    score: float
    source: str | None
    target: str
    same: int = 0

    @property
    def short(self) -> str:
        return PurePosixPath(self.path).name


@dataclass(frozen=True)
class SearchBlock(TemplateBlock):
    template = "search.html"
    tiles: Sequence[Tile]


def page(index: Index, query: str, language: str, found: Sequence[Found]) -> str:
    """The query, and a small copy of each picture with its path and score; a click on one opens the file."""
    tiles = [_tile(index, one) for one in found if isinstance(one, FoundPicture)]
    lead = f"{len(tiles)} of {len(index):,} pictures, the best first"
    header = Header("groundling search", query, lead, language=language)
    return Page(header, [Section("Pictures", [SearchBlock(tiles)])]).html()


def _tile(index: Index, one: FoundPicture) -> Tile:
    small, target = None, ""
    try:
        small = thumbnail(index.read(one.path), SIDE)  # with all limits; never through a link
        if index.root is not None:
            target = (index.root / one.path).as_uri()
    except UserError:
        pass  # removed since; its name is shown
    return Tile(one.path, one.score, small if target else None, target, len(one.duplicates))
