"""The numbers of an evaluation by the names of their metrics."""

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol

from groundling.errors import UserError
from groundling.evaluation.metrics import find

Json = dict[str, Any]
Values = dict[str, float]  # name of a metric → its number


class Scores(Protocol):
    def numbers(self) -> Values:
        """Every metric by the name that recipes have for it."""


class ByLanguage:
    """A result with scores for each language: as a table, and printed in a line.

    Class attributes:
        headline: the metric that the line has.
    """

    headline: ClassVar[str]
    corpus: str
    split: str

    def scores(self) -> Mapping[str, Scores]:
        """Those of each language."""
        raise NotImplementedError

    def frame(self) -> Any:
        """A pandas table: a row for each language, a column for each metric."""
        try:
            import pandas
        except ImportError:
            raise UserError("a result as a table needs pandas: pip install pandas") from None
        rows = {language: scores.numbers() for language, scores in self.scores().items()}
        return pandas.DataFrame.from_dict(rows, orient="index").rename_axis("language")

    def __repr__(self) -> str:
        found = {language: scores.numbers()[self.headline] for language, scores in self.scores().items()}
        listed = ", ".join(f"{language} {value:.1f}" for language, value in found.items())
        return f"{type(self).__name__} {self.corpus}, {self.split}: {self.headline} {listed}"


def known_value(values: Values, name: str, metric: str, task: str) -> float:
    if name in values:
        return values[name]
    if find(metric).task != task:
        raise UserError(f"metrics: {metric} is no measure of {task}, but of another kind of system")
    raise UserError(f"metrics: no {metric} was measured here; evaluate the run again")
