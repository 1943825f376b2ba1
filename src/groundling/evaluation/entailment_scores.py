"""How well statements about pictures are judged: accuracy, log loss, confusions, and whether sureness is deserved.

Plain functions of the true classes and the probabilities a model gave, so that any model can be measured. Classes and
columns are in the order of `corpus.entailment.LABELS`. Where two labels are equally probable, the one that comes first
in that order is the answer.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from groundling.corpus.entailment import LABELS

BINS = 15  # of the reliability diagram, of about as many statements each
NORMAL = 1.959964  # half of a 95% interval in standard errors
LEAST = 1e-12  # a probability of 0 given to the truth costs −ln of this rather than everything

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Bin:
    """Statements whose verdict was about equally sure.

    Attributes:
        low, high: the least and the greatest sureness (probability of the verdict) in the bin.
        statements: how many fell into it.
        sureness: their mean sureness, in percent; None for an empty bin, which older evaluations have.
        accuracy: how many of them were right, in percent; the two are equal where the model is calibrated.
    """

    low: float
    high: float
    statements: int
    sureness: float | None
    accuracy: float | None


@dataclass(frozen=True)
class StatementScores:
    """The measures of one set of statements. Shares are in percent.

    Attributes:
        statements: how many there are.
        accuracy: how many were judged right.
        low, high: the 95% interval of the accuracy (Wilson's).
        log_loss: the mean of −ln of the probability of the true label; a guess of a third each has 1.0986.
        majority: the accuracy of always saying the same label, the most frequent one.
        confusion: for each true label how often each label was said.
        calibration_error: how far sureness is from accuracy, in mean over statements (expected calibration error).
        bins: the reliability diagram behind it.
    """

    statements: int
    accuracy: float
    low: float
    high: float
    log_loss: float
    majority: float
    confusion: list[list[int]]
    calibration_error: float
    bins: list[Bin]


@dataclass(frozen=True)
class EntailmentScores:
    """All statements together, and those of each language."""

    overall: StatementScores
    languages: dict[str, StatementScores]

    def mean(self) -> dict[str, float]:
        """The plain average over languages, in which each counts the same however many statements it has."""
        names = ("accuracy", "log_loss", "majority", "calibration_error")
        return {
            name: math.fsum(getattr(part, name) for part in self.languages.values()) / len(self.languages)
            for name in names
        }

    def as_json(self) -> dict[str, Any]:
        """Plain data for evaluation.json, where languages stand as those of retrieval do."""
        return {
            "task": "entailment",
            "labels": list(LABELS),
            "statements": self.overall.statements,
            "overall": asdict(self.overall),
            "languages": {code: asdict(part) for code, part in self.languages.items()},
            "mean": self.mean(),
        }

    @staticmethod
    def from_json(data: Mapping[str, Any]) -> "EntailmentScores":
        """Reads what `as_json` gave; other keys may stand beside its own. Raises ValueError for anything else."""
        try:
            if list(data["labels"]) != list(LABELS):
                raise ValueError(f"labels are {data['labels']}, not {list(LABELS)}")
            return EntailmentScores(
                _read(data["overall"]), {str(code): _read(part) for code, part in data["languages"].items()}
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a judgement of statements ({error!r})") from None


def judge(
    classes: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    languages: Sequence[str] | npt.NDArray[np.str_],
    groups: npt.ArrayLike | None = None,
    most_frequent: int | None = None,
) -> EntailmentScores:
    """Measures of n statements, overall and by language (in order of their codes).

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
    found = truth.astype(np.int64)
    return EntailmentScores(
        _measure(found, shares, numbers, most_frequent),
        {
            str(code): _measure(found[rows], shares[rows], numbers[rows], most_frequent)
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


def _measure(classes: Integers, probabilities: Floats, groups: Integers, most_frequent: int | None) -> StatementScores:
    said = probabilities.argmax(axis=1)
    right = said == classes
    count, labels = len(classes), len(LABELS)
    confusion = np.bincount(classes * labels + said, minlength=labels**2).reshape(labels, labels)
    truths = confusion.sum(axis=1)
    low, high = _interval(right, groups)
    error, bins = calibration(probabilities.max(axis=1), right)
    given = probabilities[np.arange(count), classes]
    return StatementScores(
        statements=count,
        accuracy=100 * float(right.mean()),
        low=100 * low,
        high=100 * high,
        log_loss=math.fsum(-np.log(np.maximum(given, LEAST))) / count,
        majority=100 * float(truths.max() if most_frequent is None else truths[most_frequent]) / count,
        confusion=confusion.tolist(),
        calibration_error=error,
        bins=bins,
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


def _read(data: Mapping[str, Any]) -> StatementScores:
    known = {field.name: data[field.name] for field in fields(StatementScores)}
    return StatementScores(**{**known, "bins": [Bin(**part) for part in known["bins"]]})
