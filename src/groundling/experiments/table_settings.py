"""A table of experiments as data: rows that change a base recipe, each trained with several seeds.

A row is one model for all languages of the recipe, or with `each` several models, one per group of languages; a column
is a language and a metric, and its number comes from the model that was trained on that language. A row may ask the
models of another row something else (`ask`): they are trained once.
"""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from groundling.errors import UserError, did_you_mean
from groundling.evaluation.metrics import find
from groundling.experiments.question import Question
from groundling.recipes import trained_languages
from groundling.settings import Settings


def known_metric(name: str) -> str:
    """The name of a metric, which must exist."""
    try:
        find(name)
    except UserError as error:
        raise ValueError(str(error)) from None
    return name


MetricName = Annotated[str, AfterValidator(known_metric)]  # such as text_to_image.R@10


class Row(Settings):
    name: str = Field(description="what the row is called in the table, and by claims")
    each: list[Annotated[list[str], Field(min_length=1)]] | Literal["language"] | None = Field(
        None, description="train one model per group of languages; `language`: one model per language"
    )
    select: Literal["language"] | None = Field(
        None,
        description="language: a model of several languages is trained anew for each column and validated on its "
        "language, as Kádár et al.'s `--primary` has it",
    )
    set: dict[str, Any] = Field({}, description="settings that differ from the base recipe, by dotted name")
    ask: Question | None = Field(
        None, description="what its models are asked, instead of their own test queries, without training them again"
    )
    empty: str = Field("", description="why there is no model of ours for this row, which has published numbers alone")
    line: str = Field("", description="in a figure of lines, the line that this row is a point of")
    at: float | None = Field(None, description="and where on the x axis")
    published: dict[str, float | list[float]] = Field(
        {}, description="for each language the published number, or one for each metric"
    )


class Claim(Settings):
    """A sentence of the paper that compares two rows; what the seeds say about it is printed below the table."""

    says: str = Field(description="the sentence, as the paper has it or shorter")
    better: str = Field(description="the row that is said to be better")
    than: str = Field(description="the row that it is said to be better than")
    languages: list[str] | None = Field(None, description="the columns it is said of; all when left out")
    equal: bool = Field(False, description="the two are said to be as good as each other")
    metric: MetricName | None = Field(
        None, description="the metric it is said of; the mean of all of the table's when left out"
    )
    by_seed: bool = Field(
        False,
        description="the interval is that of the differences within seeds, where both rows of a seed share what they "
        "start from, as students share a teacher; else seeds of one row are independent of those of the other",
    )


class TableSettings(Settings):
    title: str = Field(description="the heading of its page")
    about: str = Field("", description="a sentence below it")
    published_on: str = Field(
        "", description="what the published numbers were measured on, where it was something else"
    )
    metrics: list[MetricName] = Field(
        ["mR"],
        min_length=1,
        description="by name (`groundling recipes` lists them): mR; of one direction, text_to_image.R@10",
    )
    languages: list[str] = Field(min_length=1, description="the columns: what is reported")
    mean: bool | None = Field(
        None, description="a column for the mean over languages; where there is one metric if unset"
    )
    means: dict[str, Annotated[list[str], Field(min_length=1)]] | None = Field(
        None, description="instead of it, columns for means over some languages: name → languages, as HA and A of SMALR"
    )
    trained_on: list[str] | None = Field(
        None,
        min_length=1,
        description="languages of a row without `each`, whatever the columns are; when left out, those that the base "
        "names (`corpus.languages`), else every language of its corpus",
    )
    translations: str = Field("own", description="where rows that ask with translations have them from (--source)")
    parameters: bool | Literal["trainable"] = Field(
        False, description="columns for the number of parameters, and of those for words; trainable: also in training"
    )
    seconds: bool = Field(False, description="a column for the seconds that a training took, mean of its seeds")
    validation: bool = Field(
        False, description="a further table: each row's number on the dev split, by which settings are chosen"
    )
    reaches: float | None = Field(
        None, description="in that table, the steps until the dev split first had this number (mR, or accuracy)"
    )
    x: Literal["at", "parameters"] = Field(
        "at", description="a figure of lines over each row's `at`, or of all rows over their parameters, in millions"
    )
    x_label: str = Field("", description="in a figure of lines, what the x axis shows")
    log_x: bool = Field(False, description="the x axis by powers")
    seeds: list[int] = Field([0, 1, 2], min_length=1, description="every row is trained with each (--seed)")
    base: dict[str, Any] = Field(description="the recipe that every row starts from")
    one_language: dict[str, Any] | None = Field(
        None, description="settings of models that are trained on one language, by dotted name"
    )
    change: dict[str, Any] = Field({}, description="settings that every row gets, whatever it sets itself (--set)")
    rows: list[Row] = Field(min_length=1, description="what is trained, each in a line of the table")
    claims: list[Claim] = Field([], description="what the paper says about its rows")


def with_rows(table: TableSettings, wanted: Sequence[str]) -> TableSettings:
    """The table with these rows alone, and the claims about them; "MULE*" are all whose names begin so."""
    rows = [row for row in table.rows if any(_meant(row.name, name) for name in wanted)]
    names = {row.name for row in rows}
    claims = [claim for claim in table.claims if {claim.better, claim.than} <= names]
    return table.model_copy(update={"rows": rows, "claims": claims})


def _meant(name: str, wanted: str) -> bool:
    return name == wanted or (wanted.endswith("*") and name.startswith(wanted[:-1]))


def mean_columns(table: TableSettings) -> dict[str, list[str]]:
    """The columns that are means over languages."""
    if table.means is not None:
        return table.means
    one = len(table.metrics) == 1 and len(table.languages) > 1 if table.mean is None else table.mean
    return {"mean": table.languages} if one else {}


def check_means(table: TableSettings) -> None:
    for name, languages in mean_columns(table).items():
        if name in table.languages:
            raise UserError(f'{table.title}: means: "{name}" is the name of a language, too')
        for code in languages:
            if code not in table.languages:
                raise UserError(
                    f'{table.title}: means: {name}: no column is called "{code}"{did_you_mean(code, table.languages)}'
                )


def check_claims(table: TableSettings, names: list[str]) -> None:
    for claim in table.claims:
        for name in (claim.better, claim.than):
            if name not in names:
                raise UserError(f'{table.title}: claims: no row is called "{name}"{did_you_mean(name, names)}')
        for code in claim.languages or []:
            if code not in (*table.languages, *mean_columns(table)):
                raise UserError(f'{table.title}: claims: no column is called "{code}"')
        if claim.metric is not None and claim.metric not in table.metrics:
            raise UserError(f"{table.title}: claims: {claim.metric} is none of the table's metrics")


def check_published(table: TableSettings) -> None:
    """One number for each metric of each column, or none."""
    for row in table.rows:
        for code, numbers in row.published.items():
            where = f"{table.title}, {row.name}: published"
            if code not in (*table.languages, *mean_columns(table), "mean"):
                raise UserError(f'{where}: no column is called "{code}"{did_you_mean(code, table.languages)}')
            given = len(numbers) if isinstance(numbers, list) else 1
            if given != len(table.metrics):
                raise UserError(
                    f"{where}: {given} numbers for {code}, where the table has {len(table.metrics)} metrics"
                )


def trained_on_all(table: TableSettings, row: Row) -> bool:
    """Whether a model of the row reads every language of its corpus, for nothing says which ones."""
    said = row.each or row.set.get("corpus.languages") or trained_languages(table.trained_on, table.base)
    return not said


def groups(table: TableSettings, row: Row) -> list[tuple[str, ...]]:
    """The languages of each model of a row; of one that reads all languages of a corpus, those that are reported."""
    if row.each == "language":
        return [(code,) for code in table.languages]
    if row.each is not None:
        return [tuple(group) for group in row.each]
    said = row.set.get("corpus.languages") or trained_languages(table.trained_on, table.base)
    return [tuple(said or table.languages)]
