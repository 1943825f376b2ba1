"""Recalls and the other numbers that papers print, from ranks."""

from groundling.evaluation.metrics import RankMetric, RetrievalMetric, of_kind
from groundling.evaluation.ranks import Ranks
from groundling.evaluation.results import RetrievalScores


def recalls(found: Ranks) -> RetrievalScores:
    """Every metric of each direction (R@1, R@5 and R@10 in percent, median and mean rank) and of both together (the
    sum and the mean of the six recalls).

    Pictures without captions are counted (every caption is ranked against them) but ask nothing themselves.
    """
    image_to_text, text_to_image = (
        {metric.name: metric.compute(found.of(direction)) for metric in of_kind(RankMetric)}
        for direction in ("image_to_text", "text_to_image")
    )
    both = {metric.name: metric.compute(found) for metric in of_kind(RetrievalMetric)}
    return RetrievalScores(image_to_text, text_to_image, both, len(found.image_to_text), len(found.text_to_image))
