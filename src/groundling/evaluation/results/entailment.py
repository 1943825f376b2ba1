"""How well a model judges statements, how sure it is of it, and what needs no picture at all."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import fsum
from typing import Any, ClassVar

from groundling.corpus.entailment import LABELS
from groundling.evaluation.results.values import ByLanguage, Json, Values, known_value


@dataclass(frozen=True)
class Bin:
    """Statements of whose label the model was about equally sure.

    Attributes:
        low, high: the least and the greatest sureness (probability of the predicted label) in the bin.
        statements: how many fell into it.
        sureness: their mean sureness, in percent; None for an empty bin, which older evaluations have.
        accuracy: how many of them were right, in percent; the two are equal where the model is calibrated.
    """

    low: float
    high: float
    statements: int
    sureness: float | None
    accuracy: float | None


@dataclass(frozen=True)
class Calibration:
    """How sure a model was beside how right it was."""

    log_loss: float
    calibration_error: float
    bins: list[Bin]

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Calibration":
        return Calibration(data["log_loss"], data["calibration_error"], [Bin(**part) for part in data["bins"]])


@dataclass(frozen=True)
class EntailmentScores:
    """The metrics of one set of statements. Shares are in percent.

    Attributes:
        statements: how many there are.
        values: the metrics.
        low, high: the 95% interval of the accuracy (Wilson's).
        majority: the accuracy of always saying the same label, the most frequent one.
        confusion: for each true label how often each label was predicted.
        bins: the reliability diagram behind the calibration error.
    """

    statements: int
    values: Values
    low: float
    high: float
    majority: float
    confusion: list[list[int]]
    bins: list[Bin]

    @property
    def accuracy(self) -> float:
        return self.values["accuracy"]

    @property
    def log_loss(self) -> float:
        return self.values["log_loss"]

    @property
    def calibration_error(self) -> float:
        return self.values["calibration_error"]

    @property
    def calibration(self) -> Calibration:
        return Calibration(self.log_loss, self.calibration_error, self.bins)

    def names(self) -> set[str]:
        """The metrics that were measured."""
        return set(self.values)

    def value(self, metric: str) -> float:
        return known_value(self.values, metric, metric, "entailment")

    def numbers(self) -> Values:
        """Every metric by the name that recipes have for it."""
        return dict(self.values)

    def to_json(self) -> Json:
        data = asdict(self)
        return data.pop("values") | data

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "EntailmentScores":
        apart = ("statements", "low", "high", "majority", "confusion", "bins")
        values = {key: value for key, value in data.items() if key not in apart}
        parts = {key: data[key] for key in apart}
        return EntailmentScores(values=values, **{**parts, "bins": [Bin(**part) for part in parts["bins"]]})


@dataclass(frozen=True)
class TextOnly:
    """What is right without a look at any picture: shares, which an evaluation has in percent.

    Attributes:
        split: which statements were asked.
        train, asked: how many there were to learn from, and to ask about.
        majority: always the label that is most frequent in training.
        words: logistic regression on the words of a statement.
    """

    split: str
    train: int
    asked: int
    majority: float
    words: float


@dataclass(frozen=True)
class Seen:
    """Statements that training has word for word, about other pictures, and those that it has not; in percent.

    A statement that is met again can be judged by what it was true of most often; what a model has learned to read
    shows where it is new. None where there are no such statements.
    """

    seen: int
    seen_accuracy: float | None
    new: int
    new_accuracy: float | None


@dataclass(frozen=True)
class Uncalibrated:
    """The calibration that a model would have without its temperature."""

    overall: Calibration
    languages: dict[str, Calibration]

    def to_json(self) -> Json:
        parts = list(self.languages.values())
        mean = {
            key: fsum(getattr(part, key) for part in parts) / len(parts) for key in ("log_loss", "calibration_error")
        }
        return {**asdict(self), "mean": mean}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Uncalibrated":
        parts = {code: Calibration.from_json(part) for code, part in data["languages"].items()}
        return Uncalibrated(Calibration.from_json(data["overall"]), parts)


@dataclass(frozen=True, repr=False)
class EntailmentResult(ByLanguage):
    """How well a model judges statements: all together, and those of each language.

    Attributes:
        text_only: by language what is right without pictures.
        seen: by language the accuracy on statements that training has word for word, and on the others; nothing where
            the corpus has no training statements.
        temperature: what the model's logits were divided by.
        uncalibrated: what it changes; None where there is none.
    """

    overall: EntailmentScores
    languages: dict[str, EntailmentScores]
    corpus: str = ""
    split: str = ""
    pictures: int = 0
    text_only: dict[str, TextOnly] = field(default_factory=dict)
    temperature: float = 1.0
    uncalibrated: Uncalibrated | None = None
    seen: dict[str, Seen] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    task: ClassVar[str] = "entailment"
    headline: ClassVar[str] = "accuracy"

    def scores(self) -> dict[str, EntailmentScores]:
        return self.languages

    def value(self, language: str, metric: str) -> float:
        apart = asdict(self.seen[language]).get(metric) if language in self.seen else None
        return self.languages[language].value(metric) if apart is None else float(apart)

    @property
    def mean(self) -> Values:
        """The plain average over languages, in which each counts the same however many statements it has."""
        parts = list(self.languages.values())
        numbers = {name: [part.values[name] for part in parts] for name in parts[0].values}
        numbers["majority"] = [part.majority for part in parts]
        return {name: fsum(values) / len(values) for name, values in numbers.items()}

    def to_json(self) -> Json:
        return {
            "corpus": self.corpus,
            "split": self.split,
            "pictures": self.pictures,
            "task": self.task,
            "labels": list(LABELS),
            "statements": self.overall.statements,
            "overall": self.overall.to_json(),
            "languages": {code: part.to_json() for code, part in self.languages.items()},
            "mean": self.mean,
            "text_only": {code: asdict(found) for code, found in self.text_only.items()},
            **({"seen": {code: asdict(found) for code, found in self.seen.items()}} if self.seen else {}),
            "temperature": self.temperature,
            **({"uncalibrated": self.uncalibrated.to_json()} if self.uncalibrated else {}),
            **({"skipped": list(self.skipped)} if self.skipped else {}),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "EntailmentResult":
        """Raises ValueError where the labels are others than ours."""
        if list(data["labels"]) != list(LABELS):
            raise ValueError(f"labels are {data['labels']}, not {list(LABELS)}")
        return EntailmentResult(
            EntailmentScores.from_json(data["overall"]),
            {code: EntailmentScores.from_json(part) for code, part in data["languages"].items()},
            **{key: data[key] for key in ("corpus", "split", "pictures", "temperature") if key in data},
            text_only={code: TextOnly(**found) for code, found in data.get("text_only", {}).items()},
            seen={code: Seen(**found) for code, found in data.get("seen", {}).items()},
            uncalibrated=Uncalibrated.from_json(data["uncalibrated"]) if "uncalibrated" in data else None,
            skipped=tuple(data.get("skipped", ())),
        )
