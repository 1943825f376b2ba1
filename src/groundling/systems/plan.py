"""What a system is given when a training begins (`Context`), and what it answers (`Plan`)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import torch
from torch import Tensor

from groundling.batches import TrainingData
from groundling.batches.stage import Learn, Stage
from groundling.dataset import Dataset
from groundling.encoders.pair import Encoders
from groundling.objectives.mixed_languages import TeacherVectors
from groundling.settings import Recipe
from groundling.text import Tokeniser

if TYPE_CHECKING:
    from groundling.systems.base import System

#: How a training is validated: rsum of pictures and captions, how well statements are judged, or how well a student
#: agrees with its teacher.
Validation = Literal["retrieval", "entailment", "agreement"]


@dataclass(frozen=True)
class Start:
    """A finished training that another one starts from.

    Attributes:
        languages: those that it was trained on.
    """

    system: "System"
    tokeniser: Tokeniser
    encoders: Encoders
    languages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Context:
    """All that a system may know of a training.

    Attributes:
        train, dev: what it learns from and is validated on (see `System.material`).
        learn: trains what has to be learned before the encoders can be made.
        start: the training that this one starts from.
        teachers: what other models make of the training captions and pictures, where the recipe names any.
        saved: the tokeniser, as JSON, of a training that was stopped and now goes on; None where it begins.
    """

    recipe: Recipe
    train: Dataset
    dev: Dataset
    device: torch.device
    learn: Learn
    start: Start | None = None
    saved: Mapping[str, Any] | None = None
    teachers: TeacherVectors | None = None

    @property
    def data(self) -> Path | None:
        """The folder that files named in settings may lie below."""
        return self.train.data

    @property
    def seed(self) -> int:
        return self.recipe.training.seed


@dataclass(frozen=True)
class Plan:
    """A training, ready to run: what is trained is the module of its stage, the encoders.

    Attributes:
        system: that made the plan.
        dev_features: the features of the dev pictures, where the encoders have a picture network that changes.
    """

    system: "System"
    tokeniser: Tokeniser
    stage: Stage
    validation: Validation
    dev_features: Callable[[Encoders], Tensor] | None = None

    @property
    def encoders(self) -> Encoders:
        return cast(Encoders, self.stage.module)

    @property
    def data(self) -> TrainingData:
        return self.stage.data
