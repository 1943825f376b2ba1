"""LA: every word of every language is one of the latent tokens that all languages share; none has a vector of its own.

The language-agnostic baseline of SMALR (Burns et al. 2020, https://arxiv.org/abs/2004.04312, section 4). See
`words.hybrid_vocabulary`.

>>> from groundling import systems
>>> systems.make({"name": "la"}).vocabulary.own_words
0
"""

from typing import ClassVar, Literal

from pydantic import Field

from groundling.encoders.tokenisers.hybrid_vocabulary import HybridVocabulary
from groundling.objectives.language_alignment import AlignmentSettings
from groundling.objectives.latent_words import LatentSettings, LatentTokenSettings
from groundling.objectives.two_branch import TwoBranchSettings
from groundling.systems.base import register
from groundling.systems.embedding_network import EmbeddingNetwork, EmbeddingNetworkSettings


class LASettings(EmbeddingNetworkSettings, TwoBranchSettings, AlignmentSettings, LatentTokenSettings):
    name: Literal["la"] = "la"
    align_epochs: float = Field(
        0, ge=0, description="passes that learn alignment only; with the tokens frozen there is nothing to align here"
    )


@register
class LA(EmbeddingNetwork):
    name = "la"
    paper = "Burns et al. 2020 (Language-Agnostic)"
    Settings: ClassVar = LASettings
    settings: LASettings

    @property
    def vocabulary(self) -> HybridVocabulary:
        return HybridVocabulary(self.vectors, 0, self.settings.universal_dimensions)

    @property
    def latent(self) -> LatentSettings:
        return self.settings.latent

    @property
    def alignment(self) -> AlignmentSettings:
        return self.settings
