"""The finished table: mean ± deviation over seeds for each row and column, published numbers beside, claims below."""

from statistics import fmean

from groundling.evaluation.metrics import find
from groundling.evaluation.significance import difference_interval, mean_interval
from groundling.experiments.finished import Numbers, Results
from groundling.experiments.record import numbers_of, record_of
from groundling.experiments.summary import (
    Axis,
    ClaimResult,
    Finding,
    RowResult,
    Statistics,
    TableColumn,
    TableSummary,
)
from groundling.experiments.table_entries import TableEntry, table_entries
from groundling.experiments.table_settings import Claim, Row, TableSettings, groups, mean_columns
from groundling.experiments.validated_columns import validated_columns
from groundling.experiments.validations import Validated

X_LABELS = {"at": "", "parameters": "parameters (millions)"}

Values = dict[tuple[str, str], dict[int, float]]  # (language, metric) → seed → number


def summarise(table: TableSettings, results: Results, seeds: list[int] | None = None) -> TableSummary:
    """For each row and column the values by seed, their mean, deviation and 95% interval.

    A column of means averages languages seed by seed first, so that its interval is one over seeds; a row that lacks
    one of its languages has none. Entries without a result are left out. A column is called by its language, and by its
    metric where there are several.
    """
    chosen = list(dict.fromkeys(seeds or table.seeds))
    by_row: dict[str, Values] = {row.name: {} for row in table.rows}
    sizes: dict[str, dict[tuple[str, ...], dict[str, int]]] = {row.name: {} for row in table.rows}
    models: dict[str, dict[str, tuple[int, Validated]]] = {row.name: {} for row in table.rows}
    seconds: dict[str, dict[str, float | None]] = {row.name: {} for row in table.rows}
    trainings = []
    for entry in table_entries(table, chosen):
        if entry.key not in results:
            continue
        found = results[entry.key]
        models[entry.row][entry.key] = entry.recipe.training.seed, found.validated(table.reaches)
        seconds[entry.row][entry.folder] = None if found.known and not found.run.steps else found.run.seconds
        if table.parameters or table.x == "parameters":
            sizes[entry.row][(*entry.group, *entry.answers)] = found.sizes()
        answered = _answered(table, entry, found.result)
        trainings.append(record_of(table, entry, found, answered))
        for code in answered:
            for metric, number in numbers_of(found.result, code, table.metrics).items():
                by_row[entry.row].setdefault((code, metric), {})[entry.recipe.training.seed] = number
    columns = [(code, metric) for code in table.languages for metric in table.metrics]
    means = mean_columns(table)
    for values in by_row.values():
        values.update(_means(table, means, values))
    columns += [(name, metric) for name in means for metric in table.metrics]
    common = _common_languages(table, by_row)
    return TableSummary(
        title=table.title,
        metrics=list(table.metrics),
        languages=table.languages,
        means=means,
        common_languages=common,
        published_on=table.published_on,
        seeds=chosen,
        columns=[TableColumn(column_name(table, *column), *column) for column in columns],
        folds=table.base.get("evaluation", {}).get("folds", 1),
        parameters=table.parameters,
        x=Axis(table.x_label or X_LABELS[table.x], table.log_x, table.x),
        rows=[
            RowResult(
                name=row.name,
                line=row.line or row.name,
                at=row.at if table.x == "at" else _millions(table, sizes[row.name]),
                own_mean={metric: _own_mean(table, row, by_row[row.name], metric) for metric in table.metrics},
                common_mean={metric: _mean_over(common, by_row[row.name], metric) for metric in table.metrics}
                if common
                else None,
                columns={
                    column_name(table, *column): _statistics(list(by_row[row.name][column].values()))
                    for column in columns
                    if by_row[row.name].get(column)
                },
                published=published(table, row),
                parameters=_added_up(sizes[row.name]) if table.parameters else None,
                seconds=_mean_seconds(list(seconds[row.name].values())) if table.seconds else None,
                empty=row.empty,
                validated=validated_columns(models[row.name].values(), table.reaches) if table.validation else {},
            )
            for row in table.rows
        ],
        claims=[_weighed(table, claim, by_row) for claim in table.claims],
        trainings=trainings,
    )


def column_name(table: TableSettings, language: str, metric: str) -> str:
    return language if len(table.metrics) == 1 else f"{language} {metric}"


def _answered(table: TableSettings, entry: TableEntry, result: Numbers) -> list[str]:
    """The columns that a model has a number for: what it was trained on, or what was translated for it."""
    translated = entry.ask is not None and entry.ask.translate_to
    asked = table.languages if translated else entry.answers
    return [code for code in asked if code in result.languages]


def _millions(table: TableSettings, sizes: dict[tuple[str, ...], dict[str, int]]) -> float | None:
    """Where a row stands on an axis of parameters."""
    added = _added_up(sizes)
    key = "trainable" if table.parameters == "trainable" else "all"
    return added[key] / 1e6 if added is not None and key in added else None


def published(table: TableSettings, row: Row) -> dict[str, float]:
    """The published numbers of a row by column."""
    found = {}
    for language, numbers in row.published.items():
        listed = numbers if isinstance(numbers, list) else [numbers]
        for metric, number in zip(table.metrics, listed, strict=True):
            found[column_name(table, language, metric)] = number
    return found


def _means(table: TableSettings, means: dict[str, list[str]], values: Values) -> Values:
    """For each column of means and each metric, the mean over its languages, for the seeds that have all of them."""
    found: Values = {}
    for name, languages in means.items():
        for metric in table.metrics:
            parts = [values.get((code, metric), {}) for code in languages]
            whole = [seed for seed in parts[0] if all(seed in part for part in parts)]
            if whole:
                found[name, metric] = {seed: sum(part[seed] for part in parts) / len(parts) for seed in whole}
    return found


def _added_up(sizes: dict[tuple[str, ...], dict[str, int]]) -> dict[str, int] | None:
    """The parameters of all models of a row together; None where those of one are not known."""
    keys = [key for key in ("all", "words", "trainable") if sizes and all(key in size for size in sizes.values())]
    return {key: sum(size[key] for size in sizes.values()) for key in keys} or None


def _mean_seconds(noted: list[float | None]) -> float | None:
    """Of the trainings of a row; None where one has none noted."""
    known = [each for each in noted if each is not None]
    return fmean(known) if known and len(known) == len(noted) else None


def _own_mean(table: TableSettings, row: Row, values: Values, metric: str) -> Statistics | None:
    """The mean over those of the table's languages that the row is trained on."""
    return _mean_over(_own_languages(table, row, values), values, metric)


def _mean_over(languages: list[str], values: Values, metric: str) -> Statistics | None:
    """Seed by seed, for those that have all of the languages."""
    parts = [values.get((code, metric), {}) for code in languages]
    whole = [seed for seed in parts[0] if all(seed in part for part in parts)] if parts else []
    return _statistics([sum(part[seed] for part in parts) / len(parts) for seed in whole]) if whole else None


def _own_languages(table: TableSettings, row: Row, values: Values) -> list[str]:
    """Those of the table's languages that a row is trained on, or that were translated for it."""
    if row.ask is not None and row.ask.translate_to:
        return [code for code in table.languages if any((code, metric) in values for metric in table.metrics)]
    own = {code for group in groups(table, row) for code in group}
    return [code for code in table.languages if code in own]


def _common_languages(table: TableSettings, by_row: dict[str, Values]) -> list[str] | None:
    """Where points of lines have different languages, those that all of them have; None where they are the same.

    Means over each row's own languages cannot be compared then: some languages are harder than others.
    """
    found = [set(_own_languages(table, row, by_row[row.name])) for row in table.rows if row.at is not None]
    own = [languages for languages in found if languages]
    if all(languages == own[0] for languages in own):
        return None
    return [code for code in table.languages if all(code in languages for languages in own)]


def _weighed(table: TableSettings, claim: Claim, by_row: dict[str, Values]) -> ClaimResult:
    """A claim against our seeds: for each language the difference of the two rows, averaged over the metrics."""
    rows = {row.name: row for row in table.rows}
    languages = {}
    for code in claim.languages or table.languages:
        ours, theirs = (_over_metrics(table, claim, by_row[name], code) for name in (claim.better, claim.than))
        better, than = (_published_mean(table, claim, rows[name], code) for name in (claim.better, claim.than))
        published = None if better is None or than is None else better - than
        languages[code] = Finding(published)
        if ours and theirs:
            difference, half_width = _difference(ours, theirs, claim.by_seed)
            languages[code] = Finding(published, difference, half_width, outcome(difference, half_width, claim.equal))
    return ClaimResult(claim.says, claim.better, claim.than, claim.metric, languages, claim.by_seed)


def _difference(better: dict[int, float], than: dict[int, float], by_seed: bool) -> tuple[float, float | None]:
    """The difference of two rows and half of its 95% interval: Welch's, or of the differences within seeds."""
    both = [seed for seed in better if seed in than]
    if by_seed and both:
        difference, _, half_width = mean_interval([better[seed] - than[seed] for seed in both])
        return difference, half_width
    return difference_interval(list(better.values()), list(than.values()))


def outcome(difference: float, half_width: float | None, equal: bool = False) -> str:
    """What an interval says about a claim. That two rows are equal cannot be shown, only that they are not."""
    if half_width is None:
        return "one seed"
    if abs(difference) <= half_width:
        return "no difference seen" if equal else "not resolved"
    if equal:
        return "better" if difference > 0 else "worse"
    return "holds" if difference > 0 else "opposite"


def _over_metrics(table: TableSettings, claim: Claim, values: Values, code: str) -> dict[int, float]:
    """Seed by seed the mean over the metrics of a claim, ranks and losses with a minus: more is better."""
    parts = [(values.get((code, metric), {}), find(metric).sign) for metric in _metrics(table, claim)]
    whole = [seed for seed in parts[0][0] if all(seed in part for part, _ in parts)]
    return {seed: sum(sign * part[seed] for part, sign in parts) / len(parts) for seed in whole}


def _metrics(table: TableSettings, claim: Claim) -> list[str]:
    return table.metrics if claim.metric is None else [claim.metric]


def _published_mean(table: TableSettings, claim: Claim, row: Row, code: str) -> float | None:
    numbers = row.published.get(code)
    if numbers is None:
        return None
    listed = dict(zip(table.metrics, numbers if isinstance(numbers, list) else [numbers], strict=True))
    chosen = _metrics(table, claim)
    return sum(find(metric).sign * listed[metric] for metric in chosen) / len(chosen)


def _statistics(values: list[float]) -> Statistics:
    return Statistics(values, *mean_interval(values))
