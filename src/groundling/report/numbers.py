"""Numbers as people read them: a fixed number of decimals, means with deviations, durations."""

import math
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

MISSING = "–"


@dataclass(frozen=True)
class Measured:
    """A mean over several seeds and their standard deviation (None with a single seed)."""

    mean: float
    deviation: float | None = None


Value = str | int | float | Measured | None


def rounded(value: float | None, decimals: int = 1) -> str:
    """41.25 → "41.3": halves go up as people expect, not to the even digit; what is not a number is a dash."""
    if value is None or not math.isfinite(value):
        return MISSING
    text = str(Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP))
    return text.lstrip("-") if float(text) == 0 else text


def mean_and_deviation(mean: float | None, deviation: float | None = None, decimals: int = 1) -> str:
    """ "41.2 ± 0.6", or the mean alone where there is no deviation."""
    text = rounded(mean, decimals)
    if text == MISSING or deviation is None or not math.isfinite(deviation):
        return text
    return f"{text} ± {rounded(deviation, decimals)}"


def shown(cell: Value, decimals: int = 1) -> str:
    """A table's cell as text: whole numbers with separators, others rounded."""
    if cell is None:
        return MISSING
    if isinstance(cell, Measured):
        return mean_and_deviation(cell.mean, cell.deviation, decimals)
    if isinstance(cell, str | bool):
        return str(cell)
    return f"{cell:,}" if isinstance(cell, int) else rounded(cell, decimals)


def value_of(cell: Value) -> float | None:
    """The number to compare a cell by; None where there is none."""
    if isinstance(cell, Measured):
        cell = cell.mean
    if cell is None or isinstance(cell, str | bool) or not math.isfinite(cell):
        return None
    return float(cell)


def duration(seconds: float) -> str:
    """ "42 s", "12 min", "3 h 05 min"."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
