"""Metrics by name.

One of your own is a file, and a line below or, in another package, an entry point of the group `groundling.metrics`:

>>> def mean_reciprocal_rank(ranks):
...     return 100 * float((1 / ranks).mean())
>>> metric = RankMetric(name="MRR", about="MRR: mean of 1 / rank, in percent", compute=mean_reciprocal_rank)
>>> METRICS.register("MRR", metric)  # doctest: +SKIP

It is then measured by every evaluation, printed in its tables and reports, and may stand in a table's `metrics`.
"""

from typing import TypeVar

from groundling.errors import UserError
from groundling.evaluation.metrics.entailment import (
    ACCURACY,
    CALIBRATION_ERROR,
    LOG_LOSS,
    NEW_ACCURACY,
    SEEN_ACCURACY,
)
from groundling.evaluation.metrics.metric import (
    DIRECTIONS,
    SHORT_DIRECTIONS,
    EntailmentMetric,
    Metric,
    RankMetric,
    RetrievalMetric,
)
from groundling.evaluation.metrics.retrieval import DEPTHS, MEAN_RANK, MEAN_RECALL, MEDIAN, RSUM, recall
from groundling.registry import Registry

__all__ = [
    "DIRECTIONS",
    "METRICS",
    "SHORT_DIRECTIONS",
    "EntailmentMetric",
    "Metric",
    "RankMetric",
    "RetrievalMetric",
    "find",
    "of_kind",
]

METRICS: Registry[Metric] = Registry("metric", "groundling.metrics")
RETRIEVAL = (*map(recall, DEPTHS), MEDIAN, MEAN_RANK, RSUM, MEAN_RECALL)
ENTAILMENT = (ACCURACY, LOG_LOSS, CALIBRATION_ERROR, SEEN_ACCURACY, NEW_ACCURACY)
for each in (*RETRIEVAL, *ENTAILMENT):
    METRICS.register(each.name, each)

Kind = TypeVar("Kind", bound=Metric)


def of_kind(kind: type[Kind]) -> list[Kind]:
    """All metrics that are computed from the same."""
    return [metric for metric in METRICS.values() if isinstance(metric, kind)]


def find(name: str) -> Metric:
    """A metric by the name that recipes have for it: `mR`, `text_to_image.R@10`, `accuracy`."""
    direction, _, short = name.partition(".")
    if direction in DIRECTIONS and short:
        return METRICS[short].toward(direction)
    metric = METRICS[name]
    if metric.of_direction:
        raise UserError(f"{name} is a metric of one direction: {' or '.join(f'{way}.{name}' for way in DIRECTIONS)}")
    return metric
