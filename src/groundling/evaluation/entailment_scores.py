"""How well statements about pictures are judged: accuracy, log loss, confusions, and whether sureness is deserved.

Plain functions of the true classes and the probabilities a model gave, so that any model can be measured. Classes and
columns are in the order of `corpus.entailment.LABELS`. Where two labels are equally probable, the one that comes first
in that order is the answer.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from groundling.corpus.columns import Integers, Mask
from groundling.corpus.entailment import LABELS
from groundling.evaluation.metrics import EntailmentMetric, of_kind
from groundling.evaluation.results import Bin, EntailmentResult, EntailmentScores

BINS = 15  # of the reliability diagram, of about as many statements each
NORMAL = 1.959964  # half of a 95% interval in standard errors
LEAST = 1e-12  # a probability of 0 given to the truth costs −ln of this rather than everything

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Predictions:
    """What a model made of statements: what metrics are computed from.

    Attributes:
        classes: [n] places of the true labels in LABELS.
        probabilities: [n, 3] what the model gave each label.
    """

    classes: Integers
    probabilities: Floats

    @property
    def predicted(self) -> Integers:
        return self.probabilities.argmax(axis=1)

    @property
    def right(self) -> Mask:
        return self.predicted == self.classes

    def log_loss(self) -> float:
        given = self.probabilities[np.arange(len(self.classes)), self.classes]
        return math.fsum(-np.log(np.maximum(given, LEAST))) / len(self.classes)

    def calibration(self) -> tuple[float, list[Bin]]:
        return calibration(self.probabilities.max(axis=1), self.right)


def measure_entailment(
    classes: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    languages: Sequence[str] | npt.NDArray[np.str_],
    groups: npt.ArrayLike | None = None,
    most_frequent: int | None = None,
) -> EntailmentResult:
    """The metrics of n statements, overall and by language (in order of their codes).

    Args:
        classes: [n] places of the true labels in LABELS.
        probabilities: [n, 3] what a model gave each label; each row sums to 1.
        languages: [n] codes.
        groups: [n] for each statement a number for what it shares with others, its picture say: what stands or falls
            together says less than as many single statements, and intervals become wider. Each by itself where None.
        most_frequent: the label of the majority baseline, as training has it; where None, the most frequent one of the
            statements themselves, which is the best that saying one label could do.
    """
    truth, shares, codes = np.asarray(classes), np.asarray(probabilities, dtype=np.float64), np.asarray(languages)
    numbers = np.arange(len(truth)) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    if not len(truth):
        raise ValueError("there are no statements to judge")
    if shares.shape != (len(truth), len(LABELS)) or codes.shape != truth.shape or numbers.shape != truth.shape:
        raise ValueError(
            f"{truth.shape} classes, {shares.shape} probabilities, {codes.shape} languages and {numbers.shape} groups "
            "are not of the same statements"
        )
    if not np.issubdtype(truth.dtype, np.integer) or truth.min() < 0 or truth.max() >= len(LABELS):
        raise ValueError(f"classes are whole numbers from 0 to {len(LABELS) - 1}")
    if not np.isfinite(shares).all() or shares.min() < 0 or np.abs(shares.sum(axis=1) - 1).max() > 1e-3:
        raise ValueError("probabilities are not negative and sum to 1 in each row")
    found = Predictions(truth.astype(np.int64), shares)
    return EntailmentResult(
        _measure(found, numbers, most_frequent),
        {
            str(code): _measure(Predictions(found.classes[rows], shares[rows]), numbers[rows], most_frequent)
            for code, rows in ((code, codes == code) for code in np.unique(codes))
        },
    )


def wilson(right: float, count: float) -> tuple[float, float]:
    """The 95% interval of a share, as fractions: Wilson 1927, which never leaves 0 to 1 and is fit for few cases."""
    share, square = right / count, NORMAL**2
    middle = (share + square / (2 * count)) / (1 + square / count)
    half = NORMAL / (1 + square / count) * math.sqrt(share * (1 - share) / count + square / (4 * count**2))
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))


def calibration(sureness: Floats, right: Mask) -> tuple[float, list[Bin]]:
    """Expected calibration error (Guo et al. 2017), in percent, over bins of equal mass, and the bins.

    Bins hold about as many statements each, for most models are sure of most: of ten bins of equal width nine would be
    all but empty. What is equally sure is in one bin, so that no order of statements matters.
    """
    first = np.searchsorted(np.sort(sureness), sureness)  # how many are less sure
    places = first * BINS // len(sureness)
    bins, error = [], 0.0
    for number in np.unique(places):
        inside = places == number
        sure, count = sureness[inside], int(inside.sum())
        mean, share = 100 * float(sure.mean()), 100 * float(right[inside].mean())
        error += count / len(sureness) * abs(mean - share)
        bins.append(Bin(float(sure.min()), float(sure.max()), count, mean, share))
    return error, bins


def _measure(found: Predictions, groups: Integers, most_frequent: int | None) -> EntailmentScores:
    count, labels = len(found.classes), len(LABELS)
    confusion = np.bincount(found.classes * labels + found.predicted, minlength=labels**2).reshape(labels, labels)
    truths = confusion.sum(axis=1)
    low, high = _interval(found.right, groups)
    return EntailmentScores(
        statements=count,
        values={metric.name: metric.compute(found) for metric in of_kind(EntailmentMetric)},
        low=100 * low,
        high=100 * high,
        majority=100 * float(truths.max() if most_frequent is None else truths[most_frequent]) / count,
        confusion=confusion.tolist(),
        bins=found.calibration()[1],
    )


def _interval(right: Mask, groups: Integers) -> tuple[float, float]:
    """Wilson's interval for as many single statements as would say as much as these groups of them do."""
    count, share = len(right), float(right.mean())
    sums = np.bincount(groups, right - share)
    sizes = np.bincount(groups)
    present = int((sizes > 0).sum())
    alone = share * (1 - share) / count
    if present == count:
        effective = float(count)
    elif present == 1 or alone == 0:
        effective = float(present)  # all alike, so that nothing tells groups from their members
    else:
        together = present / (present - 1) * float(sums @ sums) / count**2
        effective = count / max(1.0, together / alone)
    return wilson(share * effective, effective)
