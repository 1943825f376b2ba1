"""Recalls and the other numbers that papers print, from ranks."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from groundling.errors import UserError
from groundling.evaluation.ranks import Integers, Ranks

DIRECTIONS = ("image_to_text", "text_to_image")
DEPTHS = (1, 5, 10)

Result = dict[str, Any]


def recalls(found: Ranks) -> Result:
    """R@1, R@5 and R@10 (percent), median and mean rank of each direction; the sum and the mean of the six recalls.

    Pictures without captions are counted (every caption is ranked against them) but ask nothing themselves.
    """
    queries = {
        "image_to_text": found.image_to_text[found.image_to_text > 0],
        "text_to_image": found.text_to_image,
    }
    result: Result = {direction: _one_direction(queries[direction]) for direction in DIRECTIONS}
    six = [result[direction][f"R@{depth}"] for direction in DIRECTIONS for depth in DEPTHS]
    result["rsum"] = sum(six)
    result["mR"] = sum(six) / len(six)
    result["pictures"] = len(found.image_to_text)
    result["captions"] = len(found.text_to_image)
    return result


def _one_direction(found: Integers) -> dict[str, float]:
    shares = {f"R@{depth}": 100 * float((found <= depth).mean()) for depth in DEPTHS}
    return {**shares, "median": float(np.median(found)), "mean": float(found.mean())}


def mean_over_languages(results: dict[str, Result]) -> Result:
    """The plain average of each number over the languages, in the shape of one result."""
    if not results:
        raise UserError("there is no language to average over")
    return average(list(results.values()))


def average(results: Sequence[Result]) -> Result:
    """The mean of several results, number by number; counts are averaged too, and rounded."""
    mean: Result = {}
    for key, example in results[0].items():
        values = [result[key] for result in results]
        if isinstance(example, dict):
            mean[key] = average(values)
        else:
            value = sum(values) / len(values)
            mean[key] = round(value) if isinstance(example, int) else value
    return mean
