"""Pages from templates: a header, then sections of blocks, each of which has a template of its own in `templates/`.

Whatever stands in a template between braces is escaped. A page is one file that needs nothing beside it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from markupsafe import Markup

from groundling.report.escape import clean
from groundling.report.languages import direction, language_name
from groundling.report.numbers import rounded

if TYPE_CHECKING:
    from jinja2 import Environment

    from groundling.report.formatted_table import Table

WIDE = 700  # in units of a drawing


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("groundling.report"),
        autoescape=True,
        finalize=lambda value: value if isinstance(value, Markup) else clean(value),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "direction": direction,
        "file_name": lambda path: Path(path).name,
        "language_name": language_name,
        "picture_name": lambda shown: Path(shown.picture).name if shown.picture else shown.name or "no picture",
        "percent": lambda value: f"{min(max(value, 0), 100):.2f}",
        "rounded": rounded,
    }
    return environment


def render(template: str, **values: Any) -> Markup:
    return Markup(_environment().get_template(template).render(**values))  # noqa: S704 (escaped by its template)


class Block(Protocol):
    """A part of a section."""

    def html(self) -> Markup: ...


class TemplateBlock:
    """A block whose template is given itself."""

    template: ClassVar[str]

    def html(self) -> Markup:
        return render(self.template, block=self)


@dataclass(frozen=True)
class Note(TemplateBlock):
    """A sentence in small print."""

    template = "note.html"
    text: str


@dataclass(frozen=True)
class Figure:
    """A drawing, as the text of an SVG, with words below it."""

    drawing: str
    caption: str

    @property
    def svg(self) -> Markup:
        return Markup(self.drawing)  # noqa: S704 (charts escape what they are given)

    @property
    def wide(self) -> bool:
        """Whether it was drawn for the whole width of the page."""
        size = re.search(r'viewBox="0 0 (\d+) ', self.drawing)
        return bool(size and int(size[1]) >= WIDE)


@dataclass(frozen=True)
class Charts(TemplateBlock):
    """Figures side by side."""

    template = "charts.html"
    figures: Sequence[Figure]
    heading: str = ""
    small: bool = False
    style: str = ""


@dataclass(frozen=True)
class Facts(TemplateBlock):
    """Names and what they stand for, below a command line."""

    template = "facts.html"
    rows: Sequence[tuple[str, object]]
    command: str = ""


@dataclass(frozen=True)
class Details(TemplateBlock):
    """A table that is folded away."""

    template = "details.html"
    summary: str
    table: "Table"


@dataclass(frozen=True)
class Meter:
    """A share in percent as a bar, with that of chance marked on it where it is known."""

    value: float
    chance: float | None
    about: str


@dataclass(frozen=True)
class Choice:
    """One of several that can be chosen; `count` says how many things it shows."""

    value: str
    text: str
    count: int


@dataclass(frozen=True)
class Filter:
    """Radio buttons; the style sheet of the page hides what is not chosen."""

    legend: str
    name: str
    choices: Sequence[Choice]


@dataclass(frozen=True)
class Header:
    """What a page begins with. `language` is that of the title, where it is not ours."""

    kind: str
    title: str
    lead: str = ""
    notes: Sequence[str] = ()
    meters: Sequence[Meter] = ()
    filters: Sequence[Filter] = ()
    language: str | None = None


@dataclass(frozen=True)
class Section:
    """A part of a page under its own title; one without blocks is left out."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Page:
    """A whole page; `style` is added to the style sheet that all pages share, `script` is at its end."""

    header: Header
    sections: Sequence[Section]
    style: Markup | str = ""
    script: Markup | str = ""

    def html(self) -> str:
        return str(render("page.html", page=self))
