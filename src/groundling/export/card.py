"""README.md of an exported model: what it reads, how well it does, what it was made from, and how to load it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from groundling.errors import UserError
from groundling.files import read_json, write_text
from groundling.model.catalogue import CATALOGUE
from groundling.model.catalogue import UNKNOWN as NOT_KNOWN
from groundling.report.languages import language_name
from groundling.run import Run

if TYPE_CHECKING:
    from jinja2 import Template

FILE = "README.md"
CODE = re.compile(r"[a-z]{2,3}(-\w{2,8})*")  # of a language; models also say "multilingual"
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
        trained_on: the corpus that it was trained on; "" where that is not known.
        corpus: what it was evaluated on, with so many captions and pictures in the test split.
        start: models of others that it began with, or is made of.
    """

    title: str
    languages: list[str]
    trained_on: str = ""
    corpus: str = ""
    captions: int = 0
    pictures: int = 0
    numbers: list[Numbers] = field(default_factory=list)
    start: list[StartModel] = field(default_factory=list)

    def with_numbers(self, found: Mapping[str, Any]) -> "Card":
        """The same with the numbers of an evaluation, as its JSON has them."""
        numbers = []
        for code, scores in found.get("languages", {}).items():
            if "text_to_image" in scores:
                ways = (scores["text_to_image"]["R@10"], scores["image_to_text"]["R@10"])
                numbers.append(Numbers(code, float(ways[0]), float(ways[1])))
        captions, pictures = int(found.get("captions", 0)), int(found.get("pictures", 0))
        corpus = str(found.get("corpus", ""))
        return replace(self, corpus=corpus, captions=captions, pictures=pictures, numbers=numbers)

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
    facts = run.facts()
    start = [StartModel(name, licence(folder, name)) for name, folder in started.items()]
    card = Card(facts.name or run.folder.name, run.languages(), facts.corpus, start=start)
    try:
        return card.with_numbers(read_json(run.evaluation_file)) if run.evaluation_file.exists() else card
    except (UserError, AttributeError, KeyError, TypeError, ValueError):
        return card  # an evaluation of another time says things in another way


def card_of_pretrained(names: dict[str, Path]) -> Card:
    """Of somebody's models, by name and folder: the picture side, and the text side where that is another."""
    start = [StartModel(name, licence(folder, name)) for name, folder in names.items()]
    return Card(next(iter(names)), languages(list(names.values())[-1]), start=start)


def licence(folder: Path | None, name: str = "") -> str:
    """What the card of a model in a folder says of its licence; where it says nothing, what is known of that name."""
    said = facts_of(folder)
    found = said.get("license")
    if found == "other":
        found = said.get("license_name") or found
    known = [model.licence for model in CATALOGUE if name in (model.pictures, model.text)]
    if not found and known and known[0] != NOT_KNOWN:
        found = known[0]
    return str(found or UNKNOWN)


def languages(folder: Path | None) -> list[str]:
    """The codes of languages that the card of a model in a folder lists."""
    said = facts_of(folder).get("language") or []
    listed = [said] if isinstance(said, str) else list(said) if isinstance(said, list) else []
    return [code for code in map(str, listed) if CODE.fullmatch(code)]


def facts_of(folder: Path | None) -> dict[str, Any]:
    """What stands at the head of a card, between two lines of dashes; nothing where that cannot be read."""
    if folder is None or not (folder / FILE).is_file():
        return {}
    head = re.match(r"---\s*\n(.*?)\n---", (folder / FILE).read_text(encoding="utf-8", errors="replace"), re.DOTALL)
    try:
        said = yaml.load(head[1], Loader=yaml.BaseLoader) if head else {}  # noqa: S506 (text only: "no" is Norwegian)
    except yaml.YAMLError:
        return {}
    return said if isinstance(said, dict) else {}


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
