"""What every system is made of: towers, the batches they learn from, and the loss of a batch."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

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


@dataclass(frozen=True)
class Earlier:
    """A finished training that another one starts from."""

    system: "System"
    tokeniser: Tokeniser
    towers: Towers


class System(ABC):
    """A named assembly from a paper, or ours.

    Class attributes:
        name: how recipes call it.
        paper: the citation.
        Settings: its own settings, beside those that every system shares.
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    Settings: ClassVar[type[all_settings.Settings]]

    def __init__(self, settings: all_settings.Settings) -> None:
        self.settings = settings

    @property
    def similarity(self) -> str:
        """How its captions and pictures are compared: "cosine", or "order" (see `towers.similarity`)."""
        return "cosine"

    @property
    def needs_before(self) -> bool:
        """Whether it starts from an earlier run, which a recipe describes or names under `before`."""
        return False

    def prepare(self, dataset: Dataset, text: TextSettings) -> None:
        """Find what is needed for training beside captions and pictures: files that settings name, word vectors.

        Called before `tokeniser`, never when a model is loaded: a run holds all that it needs.
        """
        return None

    @abstractmethod
    def tokeniser(self, corpus: Corpus, settings: TextSettings) -> Tokeniser:
        """Built from the captions of `corpus`, which are training captions only."""

    @abstractmethod
    def load_tokeniser(self, saved: dict[str, object]) -> Tokeniser:
        """What `tokeniser` built, from the JSON it was saved as."""

    @abstractmethod
    def towers(self, tokeniser: Tokeniser, features: int) -> Towers:
        """Freshly initialised towers for pictures of so many features."""

    def begin(self, towers: Towers, tokeniser: Tokeniser, earlier: Earlier) -> None:
        """Take over what an earlier run has learned, in place; called once, before the first step."""
        raise NotImplementedError(f"system {self.name} starts from no earlier run")

    @abstractmethod
    def sampler(self, data: TrainingData, training: TrainingSettings) -> Sampler: ...

    @abstractmethod
    def loss(self, towers: Towers, data: TrainingData, batch: DeviceBatch) -> Tensor:
        """The loss of a batch that this system's sampler drew (see `batches.Batch`)."""
