"""Frozen word vectors, a map into the words of another language, and that language's sentence encoder.

Fangyu Liu, Rémi Lebret and Karl Aberer, "Visually grounded cross-lingual transfer learning" (TRANSLATOR):
f(M·t)/‖f(M·t)‖, where t are the vectors of the words, M the map and f a recurrent encoder.
"""

from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.encoders.onnx_parts import Spelled
from groundling.encoders.settings import EncoderSettings
from groundling.encoders.text.base import SpellingEncoder
from groundling.encoders.text.readers import RecurrentSentence
from groundling.encoders.tokenisers.vectors import VectorTokeniser

AT_ONCE = 1024  # words put together from pieces at a time; a word can have hundreds


class MappedSettings(EncoderSettings):
    mapped: bool = Field(True, description="whether there is a map; the language first trained on needs none")


class MappedEncoder(SpellingEncoder):
    """Rows of a table that is not trained → unit word vectors → map → sentence.

    Args:
        tokeniser: with the table, [rows, word dimensions] float16, where it was just made; its row 0, the padding, is
            zero. One that was loaded has none: the table is among the weights.
        dimensions: of the shared space, and of the recurrent state.

    The map starts as a random rotation: as the ones that Procrustes finds, it leaves lengths and angles as they are.
    """

    tokeniser_class: ClassVar = VectorTokeniser
    Settings: ClassVar = MappedSettings
    tokeniser: VectorTokeniser

    def __init__(self, tokeniser: VectorTokeniser, dimensions: int, settings: MappedSettings) -> None:
        super().__init__(tokeniser)
        size = tokeniser.dimensions
        table = torch.zeros(tokeniser.size, size, dtype=torch.float16)
        if tokeniser.table is not None:
            table = torch.from_numpy(tokeniser.table)
        self.words = nn.Embedding.from_pretrained(table, freeze=True)
        self.map = nn.Linear(size, size, bias=False) if settings.mapped else None
        if self.map is not None:
            nn.init.orthogonal_(self.map.weight)
        self.sentence = RecurrentSentence(size, dimensions)

    def forward(self, spellings: Tensor, lengths: Tensor) -> Tensor:
        """[captions, longest, pieces] rows of the table and [captions] lengths → [captions, dimensions]"""
        return self.sentences(self.word_vectors(spellings, lengths), lengths)

    def reader(self) -> RecurrentSentence:
        return self.sentence

    def word_vectors(self, entries: Tensor, lengths: Tensor) -> Tensor:
        return self.mapped(self.vectors(entries))

    def vectors(self, spellings: Tensor) -> Tensor:
        """[…, pieces] → […, word dimensions]: the direction of the sum of the pieces, which is that of their mean."""
        return normalize(self.words(spellings).float().sum(dim=-2), dim=-1)

    def mapped(self, vectors: Tensor) -> Tensor:
        """M·t; padding, which is zero, stays zero."""
        return vectors if self.map is None else self.map(vectors)

    def spell(self, spellings: Tensor) -> Tensor:
        return torch.cat([self.mapped(self.vectors(part)).float() for part in spellings.split(AT_ONCE)])

    def sentences(self, words: Tensor, lengths: Tensor) -> Tensor:
        vectors: Tensor = self.sentence(words, lengths)
        return vectors

    def export_graph(self) -> nn.Module:
        return Spelled(MappedPiecesGraph(self), self.sentence.export_graph())


class MappedPiecesGraph(nn.Module):
    """The words of `MappedEncoder` as they trace to ONNX; the table stays in half precision, as the run keeps it."""

    def __init__(self, encoder: MappedEncoder) -> None:
        super().__init__()
        self.words = nn.Embedding.from_pretrained(encoder.words.weight.half(), freeze=True)
        self.map = nn.Identity() if encoder.map is None else encoder.map

    def forward(self, spellings: Tensor) -> Tensor:
        vectors: Tensor = self.map(normalize(self.words(spellings).float().sum(dim=1), dim=-1))
        return vectors
