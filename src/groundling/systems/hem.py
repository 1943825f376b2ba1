"""HEM: frequent words have a vector of their own, all others share latent tokens across languages.

The hybrid embedding model of SMALR (Burns et al. 2020, https://arxiv.org/abs/2004.04312, section 3.1), with the losses
of MULE. See `words.hybrid_vocabulary`.

>>> from groundling import systems
>>> words = systems.make({"name": "hem", "own_words": 1000}).vocabulary
>>> words.own_words, words.own_dimensions
(1000, 50)
"""

from typing import ClassVar, Literal

from pydantic import Field, PositiveInt

from groundling.encoders.tokenisers.hybrid_vocabulary import HybridVocabulary
from groundling.objectives.language_alignment import AlignmentSettings
from groundling.objectives.latent_words import LatentSettings, LatentTokenSettings
from groundling.objectives.two_branch import TwoBranchSettings
from groundling.settings import Settings
from groundling.systems.base import register
from groundling.systems.embedding_network import EmbeddingNetwork, EmbeddingNetworkSettings


class FrequentWordSettings(Settings):
    """Of a hybrid vocabulary: which words keep a vector."""

    own_words: PositiveInt = Field(
        5000, description="of each language, the most frequent: they keep a vector (the paper's K)"
    )
    own_dimensions: PositiveInt = Field(50, description="of these vectors, by principal components")


class HEMSettings(
    EmbeddingNetworkSettings, TwoBranchSettings, AlignmentSettings, LatentTokenSettings, FrequentWordSettings
):
    name: Literal["hem"] = "hem"


@register
class HEM(EmbeddingNetwork):
    name = "hem"
    paper = "Burns et al. 2020 (HEM)"
    Settings: ClassVar = HEMSettings
    settings: HEMSettings

    @property
    def vocabulary(self) -> HybridVocabulary:
        return HybridVocabulary(self.vectors, self.settings.own_words, self.settings.own_dimensions)

    @property
    def latent(self) -> LatentSettings:
        return self.settings.latent

    @property
    def alignment(self) -> AlignmentSettings:
        return self.settings
