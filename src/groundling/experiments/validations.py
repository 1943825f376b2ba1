"""What the validations of a training found, step by step, and what a table asks of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from groundling.run import Run

Curve = tuple[tuple[int, float], ...]


@dataclass(frozen=True)
class Validated:
    """How a training went on the dev split.

    Attributes:
        dev: the number at the step that was kept; None where there is none.
        best_step: that step.
        reached: a number, as it is written → the first step that had it; None where no step had.
    """

    dev: float | None = None
    best_step: int = 0
    reached: Mapping[str, int | None] = field(default_factory=dict)


def curve(run: Run) -> Curve:
    """(step, number) of each validation: mR, or the accuracy of statements, the mean over languages."""
    from groundling.training.metrics import read_metrics  # knows torch, which a list of tables does not need

    rows = [(row["step"], row.get("mR", row.get("accuracy"))) for row in read_metrics(run.metrics_file)]
    return tuple((step, number) for step, number in rows if number is not None)


def validated(points: Curve, best_step: int, reaches: float | None) -> Validated:
    """What a table that times trainings by `reaches` asks of the validations of one."""
    reached = {}
    if reaches is not None:
        reached[written(reaches)] = min((step for step, number in points if number >= reaches), default=None)
    return Validated(dict(points).get(best_step), best_step, reached)


def written(reaches: float) -> str:
    return f"{reaches:g}"
