"""What a metric is: a name, which way is better, its range, how it is printed, and what it is computed from."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from groundling.errors import UserError

if TYPE_CHECKING:
    from groundling.evaluation.entailment_scores import Predictions
    from groundling.evaluation.ranks import Integers, Ranks

#: The directions of retrieval, in words and in short.
DIRECTIONS = {"text_to_image": "text→image", "image_to_text": "image→text"}
SHORT_DIRECTIONS = {"text_to_image": "T→I", "image_to_text": "I→T"}


@dataclass(frozen=True, kw_only=True)
class Metric:
    """A number that says how good a model is.

    Attributes:
        name: its key in JSON and in recipes.
        about: what it is, to stand in a note below a table.
        better: whether more or less of it is better.
        lowest, highest: its range.
        decimals: digits after the point.
        unit: what a chart of it has on its axis.
        label: its heading in tables; the name when left out.
        in_tables: whether the table of an evaluation has a column for it; JSON always has it.
        task: what kind of model it is measured of.
        of_direction: whether it is measured of one direction of retrieval, and asked for by its name (`toward`).
        asks_training: whether what was asked is compared with the training split: an evaluation has it, validation not.
    """

    name: str
    about: str = ""
    better: Literal["high", "low"] = "high"
    lowest: float = 0.0
    highest: float = 100.0
    decimals: int = 1
    unit: str = "%"
    label: str = ""
    in_tables: bool = True
    task: ClassVar[str]
    of_direction: ClassVar[bool] = False
    asks_training: ClassVar[bool] = False

    @property
    def heading(self) -> str:
        return self.label or self.name

    @property
    def sign(self) -> int:
        """Times this, more is better."""
        return 1 if self.better == "high" else -1

    def toward(self, direction: str) -> "Metric":
        """The same under the name that it has in recipes: `text_to_image.R@10`."""
        raise UserError(f'{self.name} is not a metric of one direction; write "{self.name}"')


@dataclass(frozen=True, kw_only=True)
class RankMetric(Metric):
    """Computed from the ranks of the queries of one direction, each the place of its first right answer, from 1.

    `chance` is what drawing at random among so many pictures would give, where that is known.
    """

    compute: "Callable[[Integers], float]"
    chance: Callable[[int], float] | None = None
    task: ClassVar[str] = "retrieval"
    of_direction: ClassVar[bool] = True

    def toward(self, direction: str) -> "RankMetric":
        label = f"{SHORT_DIRECTIONS[direction]} {self.heading}"
        return replace(self, name=f"{direction}.{self.name}", label=label)


@dataclass(frozen=True, kw_only=True)
class RetrievalMetric(Metric):
    """Computed from the ranks of both directions."""

    compute: "Callable[[Ranks], float]"
    task: ClassVar[str] = "retrieval"


@dataclass(frozen=True, kw_only=True)
class EntailmentMetric(Metric):
    """Computed from the probabilities of labels, and the true ones."""

    compute: "Callable[[Predictions], float]"
    task: ClassVar[str] = "entailment"


@dataclass(frozen=True, kw_only=True)
class SeenStatementMetric(Metric):
    """Of the statements that training has word for word, or of the others: the field of `Seen` that has its name."""

    task: ClassVar[str] = "entailment"
    asks_training: ClassVar[bool] = True


UNBOUNDED = math.inf
