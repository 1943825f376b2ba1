"""What a table keeps of each of its trainings: its numbers, and where they come from.

These stand in the JSON of a table. So a table can be made once more when its runs are gone, or lie on another machine,
with other claims or with more rows: `groundling reproduce --known results.json` does not train again what is known.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, Any

from pydantic import Field, TypeAdapter, ValidationError

from groundling.errors import UserError
from groundling.evaluation.results.values import Json
from groundling.experiments.finished import Earlier, EntryResult, Numbers
from groundling.experiments.record_settings import Flat, settings_of, shared
from groundling.experiments.table_entries import TableEntry
from groundling.experiments.table_settings import TableSettings
from groundling.experiments.validations import Validated
from groundling.run_facts import RunFacts

Number = Annotated[float, Field(allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]
KEY = "trainings"  # in the JSON of a table
SHARED = "settings of all trainings"
EITHER = " or "  # between commits of which one has trained it


@dataclass(frozen=True)
class Record:
    """One training of a table, or what was asked of it.

    Attributes:
        training: the key of its entry, which tells what was trained: the same settings have the same key.
        values: language → metric → number, for the languages and metrics of the table; nothing where a question had no
            answer in any of them.
        columns: the languages that were asked, also those that had no answer.
        settings: all that it was told (see `record_settings`); nothing where nobody noted it.
        parameters: "all" and "words", and "trainable" where that was noted.
        dev, reached: how it went on the dev split, where the table looks at that (see `validations.Validated`).
        asked: language → the start of a hash of the captions that it was tested on.
        builds_on: folder → the trainings that it started from or learned from, where they were there.
        commit: of the code that trained it; "a or b" where only that is known. What is not known is left out.
    """

    training: str
    row: str
    seed: Count
    values: dict[str, dict[str, Number]] = field(default_factory=dict)
    columns: list[str] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)
    commit: str | None = None
    device: str | None = None
    precision: str | None = None
    steps: Count | None = None
    best_step: Count | None = None
    seconds: Annotated[Number, Field(ge=0)] | None = None
    parameters: dict[str, Count] = field(default_factory=dict)
    dev: Number | None = None
    reached: dict[str, Count | None] = field(default_factory=dict)
    asked: dict[str, str] = field(default_factory=dict)
    builds_on: dict[str, Earlier] = field(default_factory=dict)

    def to_json(self, told: Flat) -> Json:
        """What is known of it; `told` is written down elsewhere, for all trainings of its table."""
        own = {key: value for key, value in self.settings.items() if key not in told}
        earlier = {folder: _noted(asdict(one)) for folder, one in self.builds_on.items()}
        return _noted({**asdict(self), "settings": own, "builds_on": earlier})

    def found(self) -> EntryResult:
        """As if it had been read from the run."""
        run = RunFacts(
            seed=self.seed,
            parameters=self.parameters.get("all", 0),
            word_parameters=self.parameters.get("words", 0),
            trainable_parameters=self.parameters.get("trainable"),
            steps=self.steps or 0,
            best_step=self.best_step or 0,
            seconds=self.seconds or 0.0,
            device=self.device or "",
            precision=self.precision or "",
            commit=self.commit,
        )
        went = Validated(self.dev, run.best_step, self.reached)
        numbers = KnownNumbers(self.values)
        return EntryResult(numbers, run, on_record=went, asked=self.asked, builds_on=self.builds_on)


def _noted(told: Json) -> Json:
    return {key: value for key, value in told.items() if value not in (None, {}, [])}


@dataclass(frozen=True)
class KnownNumbers:
    """The numbers of an evaluation that a record has."""

    languages: Mapping[str, Mapping[str, float]]

    def value(self, language: str, metric: str) -> float:
        return self.languages[language][metric]


def numbers_of(found: Numbers, language: str, metrics: Sequence[str]) -> dict[str, float]:
    """Of some metrics, those that are there: what is known from JSON may have been kept for a table of other ones."""
    kept = found.languages[language] if isinstance(found, KnownNumbers) else metrics
    return {metric: found.value(language, metric) for metric in metrics if metric in kept}


_RECORDS = TypeAdapter(list[Record])


def records_to_json(records: Sequence[Record]) -> Json:
    """The trainings of a table, and once what all of them were told."""
    told = shared([record.settings for record in records])
    return {SHARED: told, KEY: [record.to_json(told) for record in records]}


def records_from_json(data: Any, told: Any, where: str) -> list[Record]:
    """What `records_to_json` gave. `where` names the file."""
    try:
        records = _RECORDS.validate_python(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join([KEY, *map(str, first["loc"])])
        raise UserError(f"{where}: {place}: {first['msg'].lower()}; not the JSON of a table") from None
    if not isinstance(told, dict):
        raise UserError(f"{where}: {SHARED}: should be names and values; not the JSON of a table")
    return [replace(record, settings={**told, **record.settings}) for record in records]


def record_of(table: TableSettings, entry: TableEntry, found: EntryResult, languages: Sequence[str]) -> Record:
    """What the table keeps of an entry that has numbers for `languages`."""
    run, went = found.run, found.validated(table.reaches) if table.validation else Validated()
    translated = entry.ask is not None and entry.ask.translate_to
    return Record(
        entry.key,
        entry.row,
        entry.recipe.training.seed,
        {code: numbers for code in languages if (numbers := numbers_of(found.result, code, table.metrics))},
        [code for code in table.languages if translated or code in entry.answers],
        settings_of(entry.recipe),
        run.commit,
        run.device or None,
        run.precision or None,
        run.steps or None,
        run.best_step or None,
        run.seconds if run.steps else None,  # noted together
        found.sizes(),
        went.dev,
        dict(went.reached),
        {code: digest for code, digest in found.asked.items() if code in languages and entry.ask is None},
        dict(found.builds_on),
    )
