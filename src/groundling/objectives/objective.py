"""What an objective is: a loss over the similarities of a batch, with settings of its own.

An objective of one's own is a class in a file, and a line that registers it:

>>> import torch
>>> from groundling.objectives import Objective
>>> class MeanMargin(Objective):
...     name = "mean_margin"
...     paper = "nobody"
...     margin: float = 1.0
...     def __call__(self, scores, positives=None, step=None):
...         return (self.margin + scores.mean() - scores.diagonal().mean()).clamp(min=0)
>>> objective = MeanMargin(margin=0.5)
>>> round(objective(torch.eye(2)).item(), 2)
0.0

With `@register` above the class, or an entry point of the group `groundling.objectives`, a recipe can say
`objective: mean_margin`, or `objective: {name: mean_margin, margin: 0.5}`.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, TypeVar

import torch
from pydantic import BeforeValidator, SerializeAsAny, SerializerFunctionWrapHandler, model_serializer
from torch import Tensor, nn

from groundling.registry import Registry
from groundling.settings import Settings, check, notice


class Objective(Settings):
    """A loss over similarities, `scores[i, j]` of item i of one side and item j of the other; the diagonal holds the
    matching pairs. Its fields are its settings.

    Class attributes:
        name: how recipes call it.
        paper: the citation.
    """

    name: ClassVar[str]
    paper: ClassVar[str]

    @abstractmethod
    def __call__(self, scores: Tensor, positives: Tensor | None = None, step: Tensor | None = None) -> Tensor:
        """
        Args:
            scores: [n, n]
            positives: [n, n] further pairs that match in truth, such as two captions of one picture: they cost nothing.
            step: steps of training that are over, by which an objective may change.
        """

    def module(self) -> nn.Module:
        """The same over several batches at once, with the parameters that it learns itself, where it has any: a module
        of scores [batches, n, n], positives of the same shape, which pairs are there, [batches, n], and the step."""
        return BatchByBatch(self)

    @model_serializer(mode="wrap")
    def _with_its_name(self, fields: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return {"name": self.name, **fields(self)}


class BatchByBatch(nn.Module):
    """The mean cost of a pair. Wrong pairs with what is not there cost nothing, as those that match in truth."""

    def __init__(self, objective: Objective) -> None:
        super().__init__()
        self.objective = objective

    def forward(self, scores: Tensor, positives: Tensor, real: Tensor, step: Tensor | None = None) -> Tensor:
        absent = positives | ~(real[..., None] & real[..., None, :])
        costs = [self.objective(batch, out, step) for batch, out in zip(scores, absent, strict=True)]
        return torch.stack(costs).sum() / real.sum().clamp(min=1)


OBJECTIVES: Registry[type[Objective]] = Registry("objective", "groundling.objectives")
Kind = TypeVar("Kind", bound=type[Objective])


def register(kind: Kind) -> Kind:
    """A decorator: recipes find the objective by its name."""
    OBJECTIVES.register(kind.name, kind)
    return kind


def _read(value: Any) -> Any:
    if isinstance(value, str):
        value = {"name": value}
    if not isinstance(value, Mapping) or not isinstance(value.get("name"), str):
        return value  # an objective already, or a mistake that is told by its type
    kind = OBJECTIVES[value["name"]]
    return check(kind, {key: own for key, own in value.items() if key != "name"}, f"objective {value['name']}")


#: In settings: an objective by its name, or by its name and settings.
AnyObjective = Annotated[SerializeAsAny[Objective], BeforeValidator(_read)]


def completed(kind: type[Settings], values: Any, key: str, former: Mapping[str, str]) -> Any:
    """Settings of a system in which the objective `key` is given in part, or by keys of former times, made whole.

    What is left out is as the system has it: its objective where there is no name, and that objective's settings.

    Args:
        former: key beside the objective → setting of the objective that it became. One that the chosen objective has
            not, such as the margin of a contrastive one, was of no account and is dropped.
    """
    if not isinstance(values, dict) or not (key in values or any(name in values for name in former)):
        return values
    default: Objective = kind.model_fields[key].default
    given = values.get(key, {})
    given = {"name": given} if isinstance(given, str) else given
    if not isinstance(given, Mapping):
        return values
    name = given.get("name", default.name)
    whole = {"name": name, **(default.model_dump() if name == default.name else {}), **given}
    for old, new in former.items():
        if old in values:
            notice(f"system.{old}", f"system.{key}.{new}")
            if new in OBJECTIVES[name].model_fields and new not in given:
                whole[new] = values[old]
    return {**{other: value for other, value in values.items() if other not in former}, key: whole}
