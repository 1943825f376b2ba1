"""The table of retrieval: the metrics of one evaluation by language."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

from groundling.evaluation.metrics import DIRECTIONS, Metric, RankMetric, RetrievalMetric, of_kind
from groundling.evaluation.metrics.retrieval import DEPTHS
from groundling.evaluation.results import RetrievalResult, RetrievalScores
from groundling.report.formatted_table import Column, Table
from groundling.report.languages import language_name
from groundling.report.numbers import Value

Kind = TypeVar("Kind", bound=Metric)


def recall_table(result: RetrievalResult) -> Table:
    """One row per language; below them the mean over languages, and what drawing at random would give."""
    table = score_table(result.languages, f"{result.corpus} {result.split}", result.folds, result.pictures)
    foot = [_row("mean", result.mean, table)] if len(result.languages) != 1 else []
    return replace(table, foot=[*foot, _row("chance", chance_scores(result), table)])


def score_table(languages: Mapping[str, RetrievalScores], where: str, folds: int, pictures: int) -> Table:
    """The numbers of each language alone."""
    counted = len({part.captions for part in languages.values()}) > 1  # a column of equal numbers says nothing
    ranks, both = _shown(RankMetric), _shown(RetrievalMetric)
    columns = [Column("language", text=True), *([Column("captions")] if counted else [])]
    columns += [Column(metric.heading, way, "", metric.decimals) for way in DIRECTIONS.values() for metric in ranks]
    columns += [Column(metric.heading, "", "", metric.decimals) for metric in both]
    told = fold_words(folds, pictures)
    notes = [f"{'. '.join(abouts([*ranks, *both]))}."]
    notes += [f"Every number is a {told}: consecutive pictures, each fold ranked by itself."] if told else []
    table = Table(", ".join(part for part in ("Recall by language", where, told) if part), columns, [], notes)
    rows = [_row(language_name(code) or "all", part, table, part.captions) for code, part in languages.items()]
    return replace(table, rows=rows)


def _shown(kind: type[Kind]) -> list[Kind]:
    return [metric for metric in of_kind(kind) if metric.in_tables]


def _row(name: str, scores: RetrievalScores, table: Table, captions: int | None = None) -> list[Value]:
    cells: list[Value] = [name, *([captions] if table.columns[1].name == "captions" else [])]
    for direction in DIRECTIONS:
        cells += [getattr(scores, direction).get(metric.name) for metric in _shown(RankMetric)]
    return [*cells, *(scores.both.get(metric.name) for metric in _shown(RetrievalMetric))]


def abouts(metrics: Sequence[Metric]) -> list[str]:
    """What metrics are, a sentence for each, or for several that are alike."""
    return list(dict.fromkeys(metric.about or metric.heading for metric in metrics))


def chance_scores(result: RetrievalResult) -> RetrievalScores:
    """What drawing at random would give, as far as it is known.

    That is known of text→image, K of all pictures. It holds for image→text, too, where every picture has one caption in
    each language.
    """
    one_each = all(part.captions == result.pictures for part in result.languages.values())
    mean = sum(result.chance[f"R@{depth}"] for depth in DEPTHS) / len(DEPTHS)
    other, both = (result.chance, {"mR": mean}) if one_each else ({}, {})
    return RetrievalScores(other, result.chance, both, result.pictures, result.captions)


def fold_words(folds: int, pictures: int) -> str:
    """ "mean over 5 folds of 1,000 pictures"; nothing where all pictures were ranked together."""
    return "" if folds == 1 else f"mean over {folds} folds of {pictures // folds:,} pictures"
