"""Text encoders that learn a further language from the teacher's sentence vectors (seed 003, generalised).

A recurrent teacher is a table of words and a reader of word vectors. What it has learned about sentences is in the
reader, so that students take it over: as it is (`words`), or as a beginning (`encoder`, `characters`).
"""

from copy import deepcopy
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.encoders.text.mapped import RecurrentSentence
from groundling.encoders.text.recurrent import RecurrentEncoder
from groundling.encoders.text.taught import TaughtEncoder
from groundling.encoders.text.universal import UniversalEncoder, last_state
from groundling.errors import UserError


class ProjectedSentence(nn.Module):
    """Word vectors → GRU → its state at the last real word → linear → unit vector (MULE's reader)."""

    def __init__(self, recurrent: nn.Module, project: nn.Module) -> None:
        super().__init__()
        self.recurrent, self.project = recurrent, project

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return last_state(self.recurrent, self.project, words, lengths)

    def states(self, words: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest, states], one for each word (see `tokens`)"""
        states: Tensor = self.recurrent(words)[0]
        return states

    def pool(self, states: Tensor, lengths: Tensor) -> Tensor:
        return states[torch.arange(len(states), device=states.device), lengths - 1]

    def finish(self, pooled: Tensor) -> Tensor:
        return normalize(self.project(pooled).float(), dim=-1)


def reader(encoder: nn.Module) -> nn.Module | None:
    """What makes a sentence of word vectors in this encoder, its own weights and no copy; None where nothing does."""
    if isinstance(encoder, TaughtEncoder):
        return reader(encoder.teacher)
    if isinstance(encoder, RecurrentEncoder):
        shared = RecurrentSentence(1, 1)
        shared.recurrent = encoder.recurrent
        return shared
    if isinstance(encoder, UniversalEncoder):
        return ProjectedSentence(encoder.recurrent, encoder.project)
    sentence = getattr(encoder, "sentence", None)
    return sentence if isinstance(sentence, nn.Module) else None


def word_dimensions(sentence: nn.Module) -> int:
    """Of the word vectors that it reads."""
    return next(part.input_size for part in sentence.modules() if isinstance(part, nn.GRU))


def own_reader(encoder: nn.Module, dimensions: int, words: int) -> tuple[nn.Module, int]:
    """A reader to begin with, and the word dimensions it wants: the teacher's, copied, or a new GRU."""
    found = reader(encoder)
    if found is None:
        return RecurrentSentence(words, dimensions), words
    return deepcopy(found).requires_grad_(True), word_dimensions(found)


class NewWords(nn.Module):
    """A table of new words before the teacher's reader, which is not trained and not saved a second time."""

    def __init__(self, vocabulary: int, teacher: nn.Module, dropout: float) -> None:
        super().__init__()
        found = reader(teacher)
        if found is None:
            raise UserError("student words needs a teacher with a recurrent encoder; choose the student tower")
        self._reader = (found,)  # in a tuple it is no part of this module
        self.words = word_table(vocabulary, word_dimensions(found))
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest] rows of the table and [captions] lengths → [captions, dimensions]"""
        vectors: Tensor = self._reader[0](self.dropout(self.words(ids)), lengths)
        return vectors


class OwnWords(nn.Module):
    """A table of new words before a reader of its own."""

    def __init__(self, vocabulary: int, sentence: nn.Module, words: int, dropout: float) -> None:
        super().__init__()
        self.words = word_table(vocabulary, words)
        self.sentence = sentence
        self.dropout = nn.Dropout(dropout)

    def forward(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest] rows of the table and [captions] lengths → [captions, dimensions]"""
        vectors: Tensor = self.sentence(self.dropout(self.words(ids)), lengths)
        return vectors


class SentenceMap(nn.Module):
    """A frozen encoder's sentence vector, spelled as `tokenisers.use` spells it → hidden layer → unit vector."""

    def __init__(self, letters: int, steps: int, dimensions: int, hidden: int, dropout: float) -> None:
        super().__init__()
        self.steps = steps
        self.map = nn.Sequential(
            nn.Linear(letters, hidden), nn.GELU(), nn.Dropout(dropout), nn.Linear(hidden, dimensions)
        )

    def spell(self, spellings: Tensor) -> Tensor:
        """[…, letters] → […, letters] the encoder's unit vectors; padding, which has no letters, is zero"""
        vectors = (spellings.float() - 1) * (2 / self.steps) - 1
        return normalize(torch.where(spellings[..., :1] > 0, vectors, 0.0), dim=-1)

    def sentence(self, words: Tensor, lengths: Tensor) -> Tensor:
        """[captions, 1, letters] → [captions, dimensions]"""
        return normalize(self.map(words[:, 0]).float(), dim=-1)

    def forward(self, spellings: Tensor, lengths: Tensor) -> Tensor:
        """[captions, 1 or more, letters]: the first word is the sentence → [captions, dimensions]"""
        return self.sentence(self.spell(spellings[:, :1]), lengths)


def pretrained_student(folder: Path, dimensions: int, trainable: bool) -> nn.Module:
    """As published: encoder → layer normalisation → state of the final [SEP] → linear without bias."""
    from groundling.encoders.text.pooled import PooledEncoder  # transformers is imported where it is used

    encoder = PooledEncoder(folder, dimensions, "last")
    encoder.encoder.requires_grad_(trainable)
    normed = nn.Sequential(nn.LayerNorm(encoder.project.in_features, eps=1e-12), encoder.project)
    encoder.project = normed  # type: ignore[assignment]  # whatever maps states to sentences
    return encoder


def word_table(rows: int, dimensions: int) -> nn.Embedding:
    table = nn.Embedding(rows, dimensions)
    nn.init.uniform_(table.weight, -0.1, 0.1)
    return table
