"""Tables of vocabularies: how many words languages have and share, beside the published numbers. Nothing is trained."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pydantic import Field

from groundling.corpus import catalogue
from groundling.errors import UserError
from groundling.settings import Settings
from groundling.text.overlap import overlap


class PublishedSizes(Settings):
    corpus: str
    sum: int = Field(description="the published sum of the languages' vocabularies")
    union: int = Field(description="the published number of different words")


class OverlapSettings(Settings):
    """A table of the overlap of vocabularies."""

    title: str
    about: str = ""
    overlap: str = Field(description="the corpus")
    languages: list[str] = Field(min_length=2)
    minimum_count: int = Field(4, ge=1)
    special_symbols: int = Field(0, ge=0, description="symbols that stand in every vocabulary and count as words")
    published: dict[str, float] = Field({}, description="pair of languages (en-de) → published Jaccard coefficient")
    sizes: list[PublishedSizes] = Field([], description="published sizes of vocabularies")


@dataclass(frozen=True)
class PairOverlap:
    """The words that two languages share among all that they have."""

    languages: list[str]
    jaccard: float
    published: float | None


@dataclass(frozen=True)
class VocabularySize:
    """Words of each language of a corpus, their sum, and how many are different; `published` has the last two."""

    corpus: str
    words: dict[str, int]
    sum: int
    union: int
    published: dict[str, int]


@dataclass(frozen=True)
class OverlapSummary:
    title: str
    corpus: str
    pairs: list[PairOverlap]
    sizes: list[VocabularySize]

    def to_json(self) -> dict[str, object]:
        return asdict(self)

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "OverlapSummary":
        pairs, sizes = [PairOverlap(**pair) for pair in data["pairs"]], [VocabularySize(**s) for s in data["sizes"]]
        return OverlapSummary(data["title"], data["corpus"], pairs, sizes)


def measure(table: OverlapSettings, data: Path | None) -> OverlapSummary:
    """The table, published numbers beside ours."""
    found = overlap(catalogue.load(table.overlap, data=data), table.minimum_count, symbols=table.special_symbols)
    pairs = []
    for place, one in enumerate(table.languages):
        for other in table.languages[place + 1 :]:
            key = next((key for key in (f"{one}-{other}", f"{other}-{one}") if key in found.jaccard), None)
            if key is None:
                raise UserError(f"corpus {table.overlap} has no captions in both {one} and {other}")
            published = table.published.get(f"{one}-{other}", table.published.get(f"{other}-{one}"))
            pairs.append(PairOverlap([one, other], found.jaccard[key], published))
    sizes = []
    for size in table.sizes:
        counted = overlap(catalogue.load(size.corpus, data=data), table.minimum_count)
        theirs = {"sum": size.sum, "union": size.union}
        sizes.append(VocabularySize(size.corpus, counted.words, counted.sum, counted.union, theirs))
    return OverlapSummary(table.title, table.overlap, pairs, sizes)
