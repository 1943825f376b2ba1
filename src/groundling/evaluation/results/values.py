"""The numbers of an evaluation by the names of their metrics."""

from typing import Any

from groundling.errors import UserError
from groundling.evaluation.metrics import find

Json = dict[str, Any]
Values = dict[str, float]  # name of a metric → its number


def known_value(values: Values, name: str, metric: str, task: str) -> float:
    if name in values:
        return values[name]
    if find(metric).task != task:
        raise UserError(f"metrics: {metric} is no measure of {task}, but of another kind of system")
    raise UserError(f"metrics: no {metric} was measured here; evaluate the run again")
