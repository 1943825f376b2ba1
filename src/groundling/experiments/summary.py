"""A finished table as data: what its rows found by language and metric, and what that says about its claims."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from groundling.evaluation.results.values import Json
from groundling.experiments.record import KEY, SHARED, Record, records_from_json, records_to_json


@dataclass(frozen=True)
class Statistics:
    """Numbers of several seeds: their mean, standard deviation, and half of the 95% interval of the mean."""

    values: list[float]
    mean: float
    deviation: float | None
    interval: float | None


@dataclass(frozen=True)
class TableColumn:
    """`language` may be the name of a mean over several. It is called by it, and by its metric where there are more."""

    name: str
    language: str
    metric: str


@dataclass(frozen=True)
class Axis:
    """The x axis of a table's figures: what is on it, and whether `kind` is each row's `at` or its parameters."""

    label: str
    log: bool
    kind: str


@dataclass(frozen=True)
class RowResult:
    """A row of a table.

    Attributes:
        line, at: in a figure of lines, the line that it is a point of, and where on the x axis.
        own_mean: metric → the mean over those of the table's languages that the row has.
        common_mean: metric → the mean over those that all rows have; None where that is the same.
        columns: name of a column → what was found; nothing where there is no result.
        published: name of a column → the published number.
        parameters: those of all its models together, in all and for words.
        seconds: that one of its trainings took, on average, where the table asks for it.
        empty: why it has no numbers of ours, where it shall have none.
        validated: how its trainings went on the dev split (see `validated_columns`), where the table asks for it.
    """

    name: str
    line: str
    at: float | None
    own_mean: dict[str, Statistics | None]
    common_mean: dict[str, Statistics | None] | None
    columns: dict[str, Statistics]
    published: dict[str, float]
    parameters: dict[str, int] | None
    validated: dict[str, Statistics] = field(default_factory=dict)
    seconds: float | None = None
    empty: str = ""

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "RowResult":
        def each(found: Mapping[str, Any] | None) -> dict[str, Any]:
            return {key: None if cell is None else Statistics(**cell) for key, cell in (found or {}).items()}

        common = None if data.get("common_mean") is None else each(data["common_mean"])
        cells = {key: each(data.get(key)) for key in ("own_mean", "columns", "validated")}
        return RowResult(**{"parameters": None, **data, **cells, "common_mean": common})


@dataclass(frozen=True)
class Finding:
    """What our seeds say about a claim in one language: the difference, half of its interval, and what follows."""

    published: float | None
    difference: float | None = None
    interval: float | None = None
    outcome: str | None = None

    def to_json(self) -> Json:
        # What follows is called "verdict" in the JSON of all tables that there are.
        ours = {"difference": self.difference, "interval": self.interval, "verdict": self.outcome}
        return {"published": self.published, **(ours if self.outcome is not None else {})}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "Finding":
        return Finding(data["published"], data.get("difference"), data.get("interval"), data.get("verdict"))


@dataclass(frozen=True)
class ClaimResult:
    says: str
    better: str
    than: str
    metric: str | None
    languages: dict[str, Finding]
    by_seed: bool = False  # the intervals are those of differences within seeds

    def to_json(self) -> Json:
        told: Json = {} if self.metric is None else {"metric": self.metric}
        if self.by_seed:
            told["by_seed"] = True
        found = {code: finding.to_json() for code, finding in self.languages.items()}
        return {"says": self.says, "better": self.better, "than": self.than, **told, "languages": found}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "ClaimResult":
        found = {code: Finding.from_json(finding) for code, finding in data["languages"].items()}
        told = data.get("metric"), found, data.get("by_seed", False)
        return ClaimResult(data["says"], data["better"], data["than"], *told)


@dataclass(frozen=True)
class TableSummary:
    """A finished table.

    Attributes:
        means: column of a mean → the languages that it is over.
        common_languages: where points of lines have different languages, those that all of them have.
        parameters: whether, and which, parameters have columns.
        trainings: what its numbers are made of, row by row; tables of earlier versions have none.
    """

    title: str
    metrics: list[str]
    languages: list[str]
    means: dict[str, list[str]]
    common_languages: list[str] | None
    published_on: str
    seeds: list[int]
    columns: list[TableColumn]
    folds: int
    parameters: bool | str
    x: Axis
    rows: list[RowResult]
    claims: list[ClaimResult]
    trainings: list[Record] = field(default_factory=list)

    def to_json(self) -> Json:
        data = asdict(self)
        axis = {"label": self.x.label, "log": self.x.log, "is": self.x.kind}
        claims = [claim.to_json() for claim in self.claims]
        return {**data, "x": axis, "claims": claims, **records_to_json(self.trainings)}

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "TableSummary":
        """What `to_json` wrote, also that of earlier versions, which had no means, parameters or common languages."""
        axis = data["x"]
        told: dict[str, Any] = {"means": {}, "common_languages": None, "parameters": False} | {
            key: value for key, value in data.items() if key in TableSummary.__dataclass_fields__
        }
        told |= {
            "columns": [TableColumn(**column) for column in data["columns"]],
            "x": Axis(axis["label"], axis["log"], axis.get("is", "at")),
            "rows": [RowResult.from_json(row) for row in data["rows"]],
            "claims": [ClaimResult.from_json(claim) for claim in data["claims"]],
            "trainings": records_from_json(data.get(KEY, []), data.get(SHARED, {}), data["title"]),
        }
        return TableSummary(**told)
