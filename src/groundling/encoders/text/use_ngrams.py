"""A caption as what a frozen encoder of sentences knows of it, and as its own words and letters. Extra `use`.

The Universal Sentence Encoder (Yang et al. 2020, https://arxiv.org/abs/1907.04307) has read far more than any captions,
in sixteen languages; words and n-grams (Bojanowski et al. 2017, https://arxiv.org/abs/1607.04606) know the names in the
captions, and languages that it has not met. For names and keywords, of which there are few.

>>> from groundling.settings import TextSettings                                        # doctest: +SKIP
>>> encoder = UseNgramEncoder.build(["dog"], ["en"], TextSettings(), 64, UseNgramSettings())  # doctest: +SKIP
>>> encoder.encode(["ein Hund"], "de").shape                                            # doctest: +SKIP
torch.Size([1, 64])
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from pydantic import Field, PositiveInt
from torch import Tensor, nn
from torch.nn.functional import embedding_bag, normalize

from groundling.encoders.onnx_parts import Spelled
from groundling.encoders.padding import entry
from groundling.encoders.settings import EncoderSettings
from groundling.encoders.text.base import TEXT_ENCODERS, SpellingEncoder
from groundling.encoders.text.sentence_map import sentence_vectors
from groundling.encoders.tokenisers.use import LETTERS
from groundling.encoders.tokenisers.use_ngrams import UseNgramTokeniser
from groundling.settings import TextSettings
from groundling.text import Tokeniser


class UseNgramSettings(EncoderSettings):
    word_dimensions: PositiveInt = Field(256, description="of a word or an n-gram")
    buckets: PositiveInt = Field(2**16, description="rows for hashed character n-grams")
    dropout: float = Field(0.3, ge=0, lt=1, description="of the sentence vector and of the mean of the pieces")
    alone: float = Field(
        0.2, ge=0, lt=1, description="how often, in training, a caption is read by its words and letters alone"
    )


@TEXT_ENCODERS.register("use_ngrams")
class UseNgramEncoder(SpellingEncoder):
    """Sentence vector → dropout → linear, mean of the pieces → dropout → linear; their sum → unit vector."""

    tokeniser_class: ClassVar = UseNgramTokeniser
    Settings: ClassVar = UseNgramSettings

    def __init__(self, tokeniser: Tokeniser, dimensions: int, settings: UseNgramSettings) -> None:
        super().__init__(tokeniser)
        self.pieces = nn.Embedding(tokeniser.size, settings.word_dimensions, padding_idx=0)
        self.dropout, self.alone = nn.Dropout(settings.dropout), settings.alone
        self.map = nn.Linear(LETTERS, dimensions)
        self.project = nn.Linear(settings.word_dimensions, dimensions)
        nn.init.normal_(self.pieces.weight, std=0.1)

    @classmethod
    def learn_tokeniser(
        cls, texts: Sequence[str], languages: Sequence[str], text: TextSettings, settings: Any
    ) -> Tokeniser:
        return UseNgramTokeniser.build(texts, languages, text, settings.buckets)

    def spell(self, spellings: Tensor) -> Tensor:
        """[captions, letters] → [captions, 512 + word dimensions] the sentence vector, then the mean of the pieces"""
        pieces = embedding_bag(spellings[:, LETTERS:].long(), self.pieces.weight, mode="mean", padding_idx=0)
        return torch.cat([sentence_vectors(spellings[:, :LETTERS]), pieces], dim=-1)

    def sentences(self, words: Tensor, lengths: Tensor) -> Tensor:
        return joined(self, words[:, 0])

    def forward(self, spellings: Tensor, lengths: Tensor) -> Tensor:
        known = self.spell(spellings[:, 0])
        if self.training and self.alone:
            kept = torch.rand(len(known), 1, device=known.device) >= self.alone
            known = torch.cat([known[:, :LETTERS] * kept, known[:, LETTERS:]], dim=-1)
        return joined(self, known)

    def export_graph(self) -> nn.Module:
        return Spelled(PiecesGraph(self.pieces), JoinedGraph(self))


def joined(encoder: UseNgramEncoder, known: Tensor) -> Tensor:
    """[captions, 512 + word dimensions] → [captions, dimensions] unit vectors"""
    both = encoder.dropout(known)
    vectors = encoder.map(both[..., :LETTERS]) + encoder.project(both[..., LETTERS:])
    return normalize(vectors.float(), dim=-1)


class PiecesGraph(nn.Module):
    """`UseNgramEncoder.spell` as it traces to ONNX."""

    def __init__(self, pieces: nn.Embedding) -> None:
        super().__init__()
        self.pieces = pieces

    def forward(self, spellings: Tensor) -> Tensor:
        pieces = spellings[:, LETTERS:]
        real = (pieces > 0)[:, :, None]
        mean = (self.pieces(pieces) * real).sum(dim=1) / real.sum(dim=1).clamp(min=1)
        return torch.cat([sentence_vectors(spellings[:, :LETTERS]), mean], dim=-1)


class JoinedGraph(nn.Module):
    """What follows. A graph must have a use for each of its inputs."""

    def __init__(self, encoder: UseNgramEncoder) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return joined(self.encoder, entry(words, lengths - lengths))
