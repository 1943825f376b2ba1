"""Sentence readers: word vectors into a sentence. What a recurrent encoder learns about sentences is in its reader.

A reader makes a sentence in three steps, which can be looked at one by one:

    states(words, lengths)   [captions, longest, d], one for each word
    pool(states, lengths)    [captions, d], what of them stands for the sentence
    finish(pooled)           [captions, dimensions] unit vectors

Put together they are the encoder, so that what was learned of words is read in the very way it was learned.

>>> import torch
>>> reader = RecurrentSentence(word_dimensions=4, dimensions=8)
>>> reader(torch.randn(2, 5, 4), torch.tensor([5, 3])).shape
torch.Size([2, 8])
"""

from abc import ABC, abstractmethod
from copy import deepcopy

from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.batches.packing import Packing
from groundling.encoders.onnx_parts import LastState
from groundling.encoders.padding import last
from groundling.encoders.text.packing import read_packed
from groundling.errors import UserError


class SentenceReader(nn.Module, ABC):
    """Padding must not change a sentence."""

    @property
    @abstractmethod
    def word_dimensions(self) -> int:
        """Of the word vectors that it reads."""

    @abstractmethod
    def states(self, words: Tensor, lengths: Tensor) -> Tensor: ...

    @abstractmethod
    def pool(self, states: Tensor, lengths: Tensor) -> Tensor: ...

    def unscaled(self, pooled: Tensor) -> Tensor:
        """[captions, dimensions] the sentence before it is brought to unit length, where it has such a vector."""
        raise UserError(f"system.distance: {type(self).__name__} has no vectors but those of unit length; use share")

    def finish(self, pooled: Tensor) -> Tensor:
        return normalize(pooled.float(), dim=-1)

    @abstractmethod
    def export_graph(self) -> nn.Module:
        """A module that traces to ONNX: word vectors [n, longest, d] and lengths [n] → sentences."""

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest, word dimensions] and [captions] lengths → [captions, dimensions]"""
        return self.finish(self.pool(self.states(words, lengths), lengths))

    def freeze_finish(self) -> None:
        """Leave what follows the states as it is: a student that learns states alone must not change it."""
        return None


class LastStateReader(SentenceReader):
    """Word vectors → forward GRU → its state at the last real word.

    The GRU runs over the padding too, which needs no packing and suits batches of similar length: a forward state never
    sees what comes after it.
    """

    recurrent: nn.GRU

    @property
    def word_dimensions(self) -> int:
        return self.recurrent.input_size

    def states(self, words: Tensor, lengths: Tensor) -> Tensor:
        states: Tensor = self.recurrent(words)[0]
        return states

    def pool(self, states: Tensor, lengths: Tensor) -> Tensor:
        return last(states, lengths)


class RecurrentSentence(LastStateReader):
    """That state → unit vector."""

    def __init__(self, word_dimensions: int, dimensions: int) -> None:
        super().__init__()
        self.recurrent = nn.GRU(word_dimensions, dimensions, batch_first=True)

    @classmethod
    def around(cls, recurrent: nn.GRU) -> "RecurrentSentence":
        """With a GRU that is there already, its own weights and no copy."""
        shared = cls(1, 1)
        shared.recurrent = recurrent
        return shared

    def unscaled(self, pooled: Tensor) -> Tensor:
        return pooled

    def export_graph(self) -> nn.Module:
        return LastStateGraph(self.recurrent)


class ProjectedSentence(LastStateReader):
    """That state → linear → unit vector (MULE's reader)."""

    def __init__(self, recurrent: nn.GRU, project: nn.Linear) -> None:
        super().__init__()
        self.recurrent, self.project = recurrent, project

    def unscaled(self, pooled: Tensor) -> Tensor:
        vectors: Tensor = self.project(pooled)
        return vectors

    def finish(self, pooled: Tensor) -> Tensor:
        return normalize(self.project(pooled).float(), dim=-1)

    def packed(self, words: Tensor, lengths: Tensor, packing: Packing) -> Tensor:
        """The same as `forward`; with a packing most of the padding is not read."""
        return self.finish(read_packed(self.recurrent, words, lengths, packing)) if packing else self(words, lengths)

    def export_graph(self) -> nn.Module:
        return LastStateGraph(self.recurrent, self.project)

    def freeze_finish(self) -> None:
        self.project.requires_grad_(False)


class LastStateGraph(nn.Module):
    """State at the last real word → a linear layer, where there is one → unit vector."""

    def __init__(self, recurrent: nn.GRU, project: nn.Module | None = None) -> None:
        super().__init__()
        self.last, self.project = LastState(recurrent), nn.Identity() if project is None else project

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return normalize(self.project(self.last(words, lengths)), dim=-1)


def own_reader(teacher: SentenceReader | None, dimensions: int, word_dimensions: int) -> SentenceReader:
    """A reader to begin with: a copy of the teacher's, or a new GRU."""
    if teacher is None:
        return RecurrentSentence(word_dimensions, dimensions)
    return deepcopy(teacher).requires_grad_(True)
