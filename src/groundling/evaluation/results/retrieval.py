"""How well a model finds pictures and captions: what is asked in one way or another, and what comes out."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from groundling.errors import UserError
from groundling.evaluation.metrics import DIRECTIONS
from groundling.evaluation.results.values import ByLanguage, Json, Values, known_value


@dataclass(frozen=True)
class RetrievalScores:
    """The metrics of one language, or a mean of several.

    Attributes:
        image_to_text, text_to_image: metrics of each direction.
        both: metrics of both together.
        pictures, captions: how many there were.
    """

    image_to_text: Values
    text_to_image: Values
    both: Values
    pictures: int
    captions: int

    def names(self) -> set[str]:
        """The metrics that were measured."""
        return {*self.image_to_text, *self.text_to_image, *self.both}

    def value(self, metric: str) -> float:
        """By the name that recipes have for it: `mR`, `text_to_image.R@10`."""
        direction, _, short = metric.partition(".")
        values, name = (getattr(self, direction), short) if direction in DIRECTIONS else (self.both, metric)
        return known_value(values, name, metric, "retrieval")

    def numbers(self) -> Values:
        """Every metric by the name that recipes have for it."""
        apart = {direction: getattr(self, direction) for direction in DIRECTIONS}
        return {f"{way}.{name}": value for way, values in apart.items() for name, value in values.items()} | self.both

    def to_json(self) -> Json:
        counts = {"pictures": self.pictures, "captions": self.captions}
        return {"image_to_text": self.image_to_text, "text_to_image": self.text_to_image, **self.both, **counts}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "RetrievalScores":
        apart = ("image_to_text", "text_to_image", "pictures", "captions")
        both = {key: value for key, value in data.items() if key not in apart}
        return RetrievalScores(both=both, **{key: data[key] for key in apart})

    @staticmethod
    def average(several: Sequence["RetrievalScores"]) -> "RetrievalScores":
        """The mean number by number; counts are averaged too, and rounded."""
        if not several:
            raise UserError("there is no language to average over")

        def mean(parts: Sequence[Values]) -> Values:
            return {name: sum(part[name] for part in parts) / len(parts) for name in parts[0]}

        return RetrievalScores(
            mean([one.image_to_text for one in several]),
            mean([one.text_to_image for one in several]),
            mean([one.both for one in several]),
            round(sum(one.pictures for one in several) / len(several)),
            round(sum(one.captions for one in several) / len(several)),
        )


@dataclass(frozen=True, repr=False)
class RetrievalResult(ByLanguage):
    """How well a model finds pictures and captions on one split of a corpus.

    Attributes:
        folds: how many parts the pictures were divided into, each ranked by itself.
        mean: the average over languages, in which each counts the same.
        chance: what drawing at random would give, of text→image.
        skipped: pictures that could not be read.
    """

    corpus: str
    split: str
    pictures: int
    captions: int
    languages: dict[str, RetrievalScores]
    mean: RetrievalScores
    chance: Values
    folds: int = 1
    skipped: tuple[str, ...] = ()
    task: ClassVar[str] = "retrieval"
    headline: ClassVar[str] = "mR"

    def scores(self) -> dict[str, RetrievalScores]:
        return self.languages

    def value(self, language: str, metric: str) -> float:
        return self.languages[language].value(metric)

    def to_json(self) -> Json:
        return {
            "corpus": self.corpus,
            "split": self.split,
            **({"folds": self.folds} if self.folds > 1 else {}),
            "pictures": self.pictures,
            "captions": self.captions,
            "languages": {code: part.to_json() for code, part in self.languages.items()},
            "mean": self.mean.to_json(),
            "chance": self.chance,
            **({"skipped": list(self.skipped)} if self.skipped else {}),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "RetrievalResult":
        return RetrievalResult(
            **{key: data[key] for key in ("corpus", "split", "pictures", "captions", "chance")},
            languages={code: RetrievalScores.from_json(part) for code, part in data["languages"].items()},
            mean=RetrievalScores.from_json(data["mean"]),
            folds=data.get("folds", 1),
            skipped=tuple(data.get("skipped", ())),
        )


@dataclass(frozen=True)
class Learning:
    """How languages were combined by what dev queries taught.

    Attributes:
        parameters: how many weights were learned.
        learned_from: from how many queries.
        loss: the first and the last one.
        importance: for each language, its share of the score when all languages score alike.
    """

    parameters: int
    learned_from: int
    loss: list[float]
    importance: Values


@dataclass(frozen=True)
class ConsistencyResult:
    """Each query together with its translations, and alone.

    Attributes:
        how: average or learned.
        source: where translations came from.
        languages: those that were asked in.
        translated: for each language the share of its queries, in percent, with at least one translation.
        upper_bound: whether translations tell more than anybody knows who searches.
    """

    together: RetrievalResult
    alone: RetrievalResult
    how: str
    source: str
    languages: list[str]
    translated: Values
    upper_bound: bool = False
    learning: Learning | None = None

    def to_json(self) -> Json:
        alone = self.alone.to_json()
        facts: Json = {
            "how": self.how,
            "source": self.source,
            "languages": self.languages,
            "translated": self.translated,
        }
        facts |= {"upper_bound": True} if self.upper_bound else {}
        facts |= asdict(self.learning) if self.learning else {}
        return {
            **self.together.to_json(),
            "consistency": facts,
            "alone": {key: alone[key] for key in ("languages", "mean")},
            "skipped": list(self.together.skipped),
        }


@dataclass(frozen=True)
class TranslatedResult:
    """Captions of all languages translated to one.

    Attributes:
        untranslated: by language how many captions have no translation.
    """

    result: RetrievalResult
    translated_to: str
    source: str
    untranslated: dict[str, int]

    def to_json(self) -> Json:
        return {
            **self.result.to_json(),
            "translated_to": self.translated_to,
            "source": self.source,
            "untranslated": self.untranslated,
            "skipped": list(self.result.skipped),
        }


@dataclass(frozen=True)
class OriginsResult:
    """People's captions, their translations and a machine's, each a test set of its own."""

    corpus: str
    split: str
    pictures: int
    origins: dict[str, RetrievalResult]
    skipped: tuple[str, ...]

    def to_json(self) -> Json:
        return {
            **{key: getattr(self, key) for key in ("corpus", "split", "pictures")},
            "origins": {origin: result.to_json() for origin, result in self.origins.items()},
            "skipped": list(self.skipped),
        }
