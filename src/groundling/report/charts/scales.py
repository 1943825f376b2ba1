"""From data to the places on a chart: round ticks, linear and logarithmic scales, widths of labels."""

import math
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

LARGEST = 1e300  # beyond it differences overflow; such a value is treated as missing
FEW_TICKS = 8  # values up to so many may each have a tick of their own
_SLACK = 1e-7  # in steps: 0.3 / 0.1 is a little less than 3, and still 3


def usable(value: float | None) -> bool:
    """Whether a value has a place on a chart; None, NaN and infinities leave a gap."""
    return value is not None and math.isfinite(value) and abs(value) < LARGEST


def extent(values: Iterable[float | None]) -> tuple[float, float]:
    """Lowest and highest usable value, widened where they (almost) coincide so that there is a range to draw."""
    known = [value for value in values if value is not None and usable(value)]
    if not known:
        return 0.0, 1.0
    low, high = min(known), max(known)
    size = max(abs(low), abs(high))
    if high - low <= 1e-8 * size or high - low < 1e-290:
        room = 0.1 * size if size > 1e-280 else 1.0
        return low - room, high + room
    return low, high


def tick_step(low: float, high: float, count: int) -> float:
    """The step of 1, 2 or 5 times a power of ten that gives about `count` ticks."""
    rough = (high - low) / max(count, 1)
    power = 10.0 ** math.floor(math.log10(rough))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)


def ticks_around(low: float, high: float, count: int) -> list[float]:
    """Round ticks of which the first is not above `low` and the last is not below `high`."""
    step = tick_step(low, high, count)
    first, last = math.floor(low / step + _SLACK), math.ceil(high / step - _SLACK)
    return [number * step for number in range(first, last + 1)]


def ticks_inside(low: float, high: float, count: int) -> list[float]:
    """Round ticks between `low` and `high`; at least two, or they would not tell the scale."""
    while True:
        step = tick_step(low, high, count)
        first, last = math.ceil(low / step - _SLACK), math.floor(high / step + _SLACK)
        if last > first:
            return [number * step for number in range(first, last + 1)]
        count += 1


def ticks_inside_log(low: float, high: float, count: int) -> list[float]:
    """Powers of ten, with more between them where there are few; plain round ticks within less than a decade."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)

    def inside(*factors: float) -> list[float]:
        ticks = [factor * 10.0**power for power in powers for factor in factors]
        return [tick for tick in ticks if low * (1 - _SLACK) <= tick <= high * (1 + _SLACK)]

    coarse, fine, finest = inside(1), inside(1, 2, 5), inside(1, 1.5, 2, 3, 5, 7)
    if len(coarse) >= 3:
        return coarse[:: math.ceil(len(coarse) / max(count, 3))]
    if len(fine) <= 3 <= len(finest) <= count:
        return finest
    if 3 <= len(fine) <= 2 * count:
        return fine
    return coarse if len(coarse) == 2 else ticks_inside(low, high, max(2, count // 2))


def tick_labels(ticks: list[float]) -> list[str]:
    """All with the same number of decimals, thousands separated; very large and very small ones with an exponent."""
    size = max(map(abs, ticks), default=0.0)
    gaps = [b - a for a, b in pairwise(ticks)]
    step = min(gaps) if gaps else size
    if size >= 1e7 or (0 < step < 1e-4):
        exact = 2 if not step else max(0, math.floor(math.log10(size)) - math.floor(math.log10(step) + 1e-9))
        digits = next((n for n in range(exact) if all(_tells(f"{tick:.{n}e}", tick) for tick in ticks)), exact)
        parts = [f"{tick:.{min(digits, 9)}e}".split("e") for tick in ticks]
        return [f"{shown}e{int(power)}" if float(shown) else "0" for shown, power in parts]
    decimals = 0 if step == 0 else max(0, -math.floor(math.log10(step) + 1e-9))
    return [f"{round(tick, decimals) + 0.0:,.{decimals}f}" for tick in ticks]


def _tells(label: str, value: float) -> bool:
    return abs(float(label.replace(",", "")) - value) <= 1e-9 * abs(value)


def ticks_at(values: Iterable[float], scale: "Scale", size: float) -> list[float]:
    """A tick at each value; none at all where they are many, where labels would touch, or where one is not exact."""
    ticks = sorted(set(values))
    if not 2 <= len(ticks) <= FEW_TICKS:
        return []
    labels = tick_labels(ticks)
    if not all(map(_tells, labels, ticks)):
        return []
    for (tick, label), (after, following) in pairwise(zip(ticks, labels, strict=True)):
        if scale(after) - scale(tick) < (text_width(label, size) + text_width(following, size)) / 2 + 6:
            return []
    return ticks


def text_width(text: str, size: float) -> float:
    """About how wide a browser sets the text: no font is at hand, so rather too wide than clipped."""
    units = 0.0
    for character in text:
        if unicodedata.combining(character):
            continue
        units += 1.05 if unicodedata.east_asian_width(character) in "WF" else 0.62
    return units * size


def shortened(text: str, size: float, width: float) -> str:
    """The text, or as much of its beginning as fits with an ellipsis."""
    if text_width(text, size) <= width:
        return text
    while text and text_width(text + "…", size) > width:
        text = text[:-1]
    return text.rstrip() + "…"


@dataclass(frozen=True)
class Scale:
    """Maps values from `low`…`high` to places from `start`…`end` (which may run backwards, as y does)."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        return self.start + (value - low) / (high - low) * (self.end - self.start)
