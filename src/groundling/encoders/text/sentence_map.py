"""A map from the sentence vectors of a frozen encoder, the Universal Sentence Encoder. Needs the extra `use`.

Yang et al. 2020, "Multilingual universal sentence encoder for semantic retrieval", https://arxiv.org/abs/1907.04307

>>> encoder = SentenceMap.build([], [], TextSettings(), 512, SentenceMapSettings())     # doctest: +SKIP
>>> encoder.encode(["ein Hund"], "de").shape                                            # doctest: +SKIP
torch.Size([1, 512])
"""

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
from pydantic import Field, PositiveInt
from torch import Tensor, nn
from torch.nn.functional import normalize

from groundling.encoders.onnx_parts import Spelled
from groundling.encoders.padding import entry
from groundling.encoders.settings import EncoderSettings
from groundling.encoders.text.base import TEXT_ENCODERS, SpellingEncoder
from groundling.encoders.tokenisers.use import LANGUAGES, LETTERS, STEPS, UseTokeniser
from groundling.errors import UserError
from groundling.settings import TextSettings
from groundling.text import Tokeniser


class SentenceMapSettings(EncoderSettings):
    hidden: PositiveInt = Field(1024, description="of the map's hidden layer")
    dropout: float = Field(0.1, ge=0, lt=1, description="of the map's hidden layer")


@TEXT_ENCODERS.register("use")
class SentenceMap(SpellingEncoder):
    """A frozen encoder's sentence vector, spelled as `tokenisers.use` spells it → hidden layer → unit vector."""

    tokeniser_class: ClassVar = UseTokeniser
    Settings: ClassVar = SentenceMapSettings

    def __init__(self, tokeniser: Tokeniser, dimensions: int, settings: SentenceMapSettings) -> None:
        super().__init__(tokeniser)
        self.map = nn.Sequential(
            nn.Linear(LETTERS, settings.hidden),
            nn.GELU(),
            nn.Dropout(settings.dropout),
            nn.Linear(settings.hidden, dimensions),
        )

    @classmethod
    def learn_tokeniser(
        cls, texts: Sequence[str], languages: Sequence[str], text: TextSettings, settings: Any
    ) -> Tokeniser:
        return UseTokeniser.build()

    @classmethod
    def check_languages(cls, languages: Sequence[str]) -> None:
        if strange := [code for code in languages if code not in LANGUAGES]:
            raise UserError(f'the Universal Sentence Encoder does not know "{strange[0]}", only {", ".join(LANGUAGES)}')

    def spell(self, spellings: Tensor) -> Tensor:
        return sentence_vectors(spellings)

    def sentences(self, words: Tensor, lengths: Tensor) -> Tensor:
        """[captions, 1 or more, letters]: the first word is the sentence → [captions, dimensions]"""
        return normalize(self.map(words[:, 0]).float(), dim=-1)

    def forward(self, spellings: Tensor, lengths: Tensor) -> Tensor:
        return self.sentences(self.spell(spellings[:, :1]), lengths)

    def export_graph(self) -> nn.Module:
        return Spelled(SentenceVectorGraph(), FirstWordGraph(self.map))


class SentenceVectorGraph(nn.Module):
    """`SentenceMap.spell` as it traces to ONNX."""

    def forward(self, spellings: Tensor) -> Tensor:
        return sentence_vectors(spellings)


class FirstWordGraph(nn.Module):
    """The one word that is a whole sentence, mapped. A graph must have a use for each of its inputs."""

    def __init__(self, map: nn.Module) -> None:
        super().__init__()
        self.map = map

    def forward(self, words: Tensor, lengths: Tensor) -> Tensor:
        return normalize(self.map(entry(words, lengths - lengths)), dim=-1)


def sentence_vectors(spellings: Tensor) -> Tensor:
    """[…, letters] → […, letters] the encoder's unit vectors; padding, which has no letters, is zero"""
    vectors = (spellings.float() - 1) * (2 / STEPS) - 1
    return normalize(torch.where(spellings[..., :1] > 0, vectors, 0.0), dim=-1)
