"""What every system is made of: towers, the batches they learn from, and the loss of a batch."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from groundling import settings as all_settings
from groundling.batches import DeviceBatch, Sampler, TrainingData
from groundling.corpus import Corpus
from groundling.dataset import Dataset
from groundling.settings import TextSettings, TrainingSettings
from groundling.text import Tokeniser


class Towers(nn.Module):
    """A text tower and a picture tower into one space."""

    def __init__(self, text: nn.Module, picture: nn.Module) -> None:
        super().__init__()
        self.text = text
        self.picture = picture


class JudgingTowers(Towers):
    """Towers with a head that tells whether a sentence is true of a picture, from the vectors of both.

    Towers in `frozen` ("text", "picture") get no gradient and stay in evaluation mode, as do their statistics.
    """

    def __init__(self, text: nn.Module, picture: nn.Module, verdict: nn.Module, frozen: tuple[str, ...] = ()) -> None:
        super().__init__(text, picture)
        self.verdict = verdict
        self.frozen = frozen
        for name in frozen:
            self.get_submodule(name).requires_grad_(False)

    def train(self, mode: bool = True) -> "JudgingTowers":
        super().train(mode)
        for name in self.frozen:
            self.get_submodule(name).eval()
        return self


@dataclass(frozen=True)
class Earlier:
    """A finished training that another one starts from."""

    system: "System"
    tokeniser: Tokeniser
    towers: Towers
    languages: tuple[str, ...] = ()  # that it was trained on


class System(ABC):
    """A named assembly from a paper, or ours.

    Class attributes:
        name: how recipes call it.
        paper: the citation.
        Settings: its own settings, beside those that every system shares.

    Attributes:
        seed, device: those of the training, for a system that has something to learn before it; set by the loop.
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    Settings: ClassVar[type[all_settings.Settings]]
    seed: int = 0
    device: torch.device = torch.device("cpu")

    def __init__(self, settings: all_settings.Settings) -> None:
        self.settings = settings

    @property
    def similarity(self) -> str:
        """How its captions and pictures are compared: "cosine", or "order" (see `towers.similarity`)."""
        return "cosine"

    @property
    def task(self) -> Literal["retrieval", "entailment"]:
        """What it learns: to find pictures and captions by each other, or to judge statements about pictures."""
        return "retrieval"

    @property
    def needs_before(self) -> bool:
        """Whether it starts from an earlier run, which a recipe describes or names under `before`."""
        return False

    @property
    def takes_before(self) -> bool:
        """Whether it can start from an earlier run."""
        return self.needs_before

    def follow(self, earlier: Earlier) -> None:
        """Get to know the earlier run that `begin` will take over; called before all else of a training."""
        return None

    def material(self, dataset: Dataset) -> Dataset:
        """What it learns from: captions, or statements in their place."""
        return dataset.judged() if self.task == "entailment" else dataset

    def prepare(self, dataset: Dataset, text: TextSettings) -> None:
        """Find what is needed for training beside captions and pictures: files that settings name, word vectors.

        Called before `tokeniser`, never when a model is loaded: a run holds all that it needs.
        """
        return None

    def ready(self, corpus: Corpus, text: TextSettings) -> None:
        """Make what takes long on training captions and is kept between runs, such as word vectors; called after
        `prepare`, where a table is made ready for another machine."""
        return None

    @abstractmethod
    def tokeniser(self, corpus: Corpus, settings: TextSettings) -> Tokeniser:
        """Built from the captions of `corpus`, which are training captions only."""

    def resumed_tokeniser(self, corpus: Corpus, settings: TextSettings, saved: dict[str, object]) -> Tokeniser:
        """What `tokeniser` built when the training began that now goes on, and saved as JSON.

        Built anew where that depends on captions and settings alone.
        """
        return self.tokeniser(corpus, settings)

    @abstractmethod
    def load_tokeniser(self, saved: dict[str, object]) -> Tokeniser:
        """What `tokeniser` built, from the JSON it was saved as."""

    @abstractmethod
    def towers(self, tokeniser: Tokeniser, features: int) -> Towers:
        """Freshly initialised towers for pictures of so many features."""

    def features_in(self, weights: Mapping[str, Tensor]) -> int:
        """The number of features that saved towers look at."""
        return int(weights["picture.project.weight"].shape[1])

    def begin(self, towers: Towers, tokeniser: Tokeniser, earlier: Earlier) -> None:
        """Take over what an earlier run has learned, in place; called once, before the first step."""
        raise NotImplementedError(f"system {self.name} starts from no earlier run")

    @abstractmethod
    def sampler(self, data: TrainingData, training: TrainingSettings) -> Sampler: ...

    @abstractmethod
    def loss(self, towers: Towers, data: TrainingData, batch: DeviceBatch) -> Tensor:
        """The loss of a batch that this system's sampler drew (see `batches.Batch`)."""
