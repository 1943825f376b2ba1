"""Words from their spelling, in a form that becomes an ONNX graph: [words, pieces] → [words, word dimensions]."""

from typing import cast

import torch
from torch import Tensor, nn
from torch.nn.functional import leaky_relu, normalize

from groundling.encoders.text.characters import LayeredWords, RecurrentWords
from groundling.encoders.text.mapped import MappedEncoder
from groundling.encoders.text.students import SentenceMap
from groundling.export.recurrence import LastState


def letters_graph(words: LayeredWords | RecurrentWords) -> nn.Module:
    return RecurrentLetters(words) if isinstance(words, RecurrentWords) else LayeredLetters(words)


class LayeredLetters(nn.Module):
    """Without the parts of weight normalisation, which training alone needs."""

    def __init__(self, words: LayeredWords) -> None:
        super().__init__()
        self.characters, self.norms = words.characters, words.norms
        self.maps = nn.ModuleList(_plain(linear) for linear in words.maps)

    def forward(self, spellings: Tensor) -> Tensor:
        words: Tensor = self.characters(spellings).flatten(-2)
        for linear, norm in zip(self.maps, self.norms, strict=True):
            words = leaky_relu(norm(linear(words), spellings[:, 0] != 0), 0.1)
        return words


def _plain(linear: nn.Module) -> nn.Linear:
    weight = cast(Tensor, linear.weight)
    plain = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    plain.weight = nn.Parameter(weight.detach().clone(), requires_grad=False)
    return plain


class RecurrentLetters(nn.Module):
    def __init__(self, words: RecurrentWords) -> None:
        super().__init__()
        self.characters, self.last = words.characters, LastState(words.recurrent)

    def forward(self, spellings: Tensor) -> Tensor:
        vectors: Tensor = self.last(self.characters(spellings), (spellings != 0).sum(dim=1).clamp(min=1))
        return vectors


class MappedPieces(nn.Module):
    """The table stays in half precision, as the run keeps it."""

    def __init__(self, encoder: MappedEncoder) -> None:
        super().__init__()
        self.words = nn.Embedding.from_pretrained(encoder.words.weight.half(), freeze=True)
        self.map = nn.Identity() if encoder.map is None else encoder.map

    def forward(self, spellings: Tensor) -> Tensor:
        vectors: Tensor = self.map(normalize(self.words(spellings).float().sum(dim=1), dim=-1))
        return vectors


class SentenceVector(nn.Module):
    """See `encoders.text.students.SentenceMap.spell`."""

    def __init__(self, encoder: SentenceMap) -> None:
        super().__init__()
        self.steps = encoder.steps

    def forward(self, spellings: Tensor) -> Tensor:
        vectors = (spellings.float() - 1) * (2 / self.steps) - 1
        return normalize(torch.where(spellings[:, :1] > 0, vectors, 0.0), dim=-1)
