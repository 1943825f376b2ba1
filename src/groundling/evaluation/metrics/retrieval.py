"""The metrics of retrieval: recalls, ranks, and what is made of both directions together."""

from typing import TYPE_CHECKING

from groundling.evaluation.metrics.metric import UNBOUNDED, RankMetric, RetrievalMetric

if TYPE_CHECKING:
    from groundling.evaluation.ranks import Integers, Ranks

DEPTHS = (1, 5, 10)


def recall(depth: int) -> RankMetric:
    """R@depth in percent."""
    return RankMetric(
        name=f"R@{depth}",
        about="R@K: share of queries, in percent, with a right answer among the first K",
        compute=lambda ranks: _recall(ranks, depth),
        chance=lambda pictures: min(100.0, 100.0 * depth / pictures),
    )


def _recall(ranks: "Integers", depth: int) -> float:
    return 100 * float((ranks <= depth).mean())


def _median(ranks: "Integers") -> float:
    import numpy as np

    return float(np.median(ranks))


def _six(found: "Ranks") -> list[float]:
    """R@1, R@5 and R@10 of both directions."""
    return [_recall(found.of(direction), depth) for direction in ("image_to_text", "text_to_image") for depth in DEPTHS]


MEDIAN = RankMetric(
    name="median",
    about="Median: the middle rank of the first right answer",
    better="low",
    lowest=1,
    highest=UNBOUNDED,
    unit="rank",
    compute=_median,
)
MEAN_RANK = RankMetric(
    name="mean",
    about="Mean: the mean rank of the first right answer",
    better="low",
    lowest=1,
    highest=UNBOUNDED,
    unit="rank",
    in_tables=False,
    compute=lambda ranks: float(ranks.mean()),
)
RSUM = RetrievalMetric(
    name="rsum",
    about="rsum: sum of the six recalls",
    highest=600,
    in_tables=False,
    compute=lambda found: sum(_six(found)),
)
MEAN_RECALL = RetrievalMetric(
    name="mR",
    about="mR: mean of the six recalls",
    compute=lambda found: sum(_six(found)) / 6,
)
