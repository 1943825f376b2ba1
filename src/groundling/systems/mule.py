"""MULE: one universal embedding for the words of all languages, and one sentence branch over it.

Kim, Saito, Saenko, Sclaroff and Plummer 2020, "MULE: Multimodal universal language embedding"
(https://arxiv.org/abs/1909.03493); the base of SMALR (Burns et al. 2020, https://arxiv.org/abs/2004.04312). Every word
of every language has a vector of its own, and every language a map. Its losses are in `objectives.two_branch` and
`objectives.language_alignment`.

A smaller vocabulary: `pca`, `dictionary`, or `text.minimum_count`.

>>> from groundling import systems
>>> mapped = {"name": "mule", "dictionary": 5, "base": "de"}
>>> systems.make(mapped).vocabulary.mapping.below
5
"""

from typing import ClassVar, Literal

from pydantic import Field, PositiveInt

from groundling.encoders.tokenisers.own_vocabulary import OwnVocabulary
from groundling.objectives.language_alignment import AlignmentSettings
from groundling.objectives.two_branch import TwoBranchSettings
from groundling.systems.base import register
from groundling.systems.embedding_network import EmbeddingNetwork, EmbeddingNetworkSettings
from groundling.words.dictionary_mapping import DictionaryMapping


class MULESettings(EmbeddingNetworkSettings, TwoBranchSettings, AlignmentSettings):
    name: Literal["mule"] = "mule"
    pca: PositiveInt | None = Field(None, description="reduce word vectors to so many dimensions")
    dictionary: PositiveInt | None = Field(
        None, description="words of other languages that occur less often are read as words of the base language"
    )
    dictionaries: str = Field(
        "dictionaries/{base}-{language}.dict.gz",
        description="the dictionaries' files, also below the data folder; {base} and {language} stand for codes",
    )
    base: str = Field("en", description="the language that rare words are mapped to")


@register
class MULE(EmbeddingNetwork):
    name = "mule"
    paper = "Kim et al. 2020 (MULE)"
    Settings: ClassVar = MULESettings
    settings: MULESettings

    @property
    def vocabulary(self) -> OwnVocabulary:
        own = self.settings
        mapping = DictionaryMapping(own.dictionary, own.base, own.dictionaries) if own.dictionary else None
        return OwnVocabulary(self.vectors, own.pca, mapping)

    @property
    def alignment(self) -> AlignmentSettings:
        return self.settings
