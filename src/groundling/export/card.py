"""README.md of an exported model: what it reads, how well it does, what it was made from, and how to load it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from groundling.errors import UserError
from groundling.files import read_json, write_text
from groundling.report.languages import language_name
from groundling.run import Run

if TYPE_CHECKING:
    from jinja2 import Template

FILE = "README.md"
UNKNOWN = "not noted in its files; see where it came from"


@dataclass(frozen=True)
class Numbers:
    """Recall at 10 in one language, in percent: pictures found by captions, captions found by pictures."""

    language: str
    text_to_image: float
    image_to_text: float


@dataclass(frozen=True)
class StartModel:
    """Somebody's model that this one began with, or is."""

    name: str
    licence: str


@dataclass(frozen=True)
class Card:
    """What is worth knowing of a model by whichever door it leaves.

    Attributes:
        title: its name.
        languages: codes; none where they are not known.
        corpus: what it was trained and evaluated on, with so many captions and pictures in the test split.
        start: models of others that it began with, or is made of.
    """

    title: str
    languages: list[str]
    corpus: str = ""
    captions: int = 0
    pictures: int = 0
    numbers: list[Numbers] = field(default_factory=list)
    start: list[StartModel] = field(default_factory=list)

    def write(self, folder: Path, library: str, dimensions: int, load: str, facts: Sequence[str]) -> None:
        """README.md in an export.

        Args:
            library: what loads it.
            dimensions: of its vectors.
            load: lines of Python or of a shell that use it.
            facts: sentences of what else is worth knowing.
        """
        about = {"library": library, "dimensions": dimensions, "load": load, "facts": facts}
        read = [language_name(code) for code in self.languages]
        write_text(folder / FILE, _template().render(card=self, read=read, **about))


def card_of_run(run: Run, started: dict[str, Path | None]) -> Card:
    """From what the run noted; `started` are the models of others that it began with, and where they lie."""
    facts, corpus, captions, pictures, numbers = run.facts(), "", 0, 0, []
    try:
        found = read_json(run.evaluation_file) if run.evaluation_file.exists() else {}
        for code, scores in found.get("languages", {}).items():
            if "text_to_image" in scores:
                ways = (scores["text_to_image"]["R@10"], scores["image_to_text"]["R@10"])
                numbers.append(Numbers(code, float(ways[0]), float(ways[1])))
        corpus, captions = str(found.get("corpus", "")), int(found.get("captions", 0))
        pictures = int(found.get("pictures", 0))
    except (UserError, AttributeError, KeyError, TypeError, ValueError):
        numbers = []  # an evaluation of another time says things in another way
    start = [StartModel(name, licence(folder)) for name, folder in started.items()]
    name = facts.name or run.folder.name
    return Card(name, run.languages(), corpus or facts.corpus, captions, pictures, numbers, start)


def card_of_pretrained(names: dict[str, Path]) -> Card:
    """Of somebody's models, by name and folder: the picture side, and the text side where that is another."""
    return Card(next(iter(names)), [], start=[StartModel(name, licence(folder)) for name, folder in names.items()])


def licence(folder: Path | None) -> str:
    """What the card of a model in a folder says of its licence."""
    if folder is None or not (folder / FILE).is_file():
        return UNKNOWN
    lines = (folder / FILE).read_text(encoding="utf-8", errors="replace").splitlines()
    if not lines or lines[0].strip() != "---":
        return UNKNOWN
    for line in lines[1:]:
        if line.strip() == "---":
            break
        key, _, value = line.partition(":")
        if key.strip() == "license" and value.strip():
            return value.strip().strip("\"'")
    return UNKNOWN


@cache
def _template() -> "Template":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    # Markdown, not HTML: names of models and languages are plain words, and what is in them is not run by anybody.
    environment = Environment(  # noqa: S701
        loader=PackageLoader("groundling.export"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("card.md")
