"""HEM: frequent words have a vector of their own, all others share latent tokens across languages.

The hybrid embedding model of SMALR (Burns et al. 2020; seed 001, section 3.1), with the losses of MULE. See `hybrid`.
"""

from typing import ClassVar, Literal

from pydantic import Field, PositiveInt

from groundling.systems.hybrid import Hybrid, HybridSettings


class HEMSettings(HybridSettings):
    name: Literal["hem"] = "hem"
    own_words: PositiveInt = Field(
        5000, description="of each language, the most frequent: they keep a vector (the paper's K)"
    )
    own_dimensions: PositiveInt = Field(50, description="of these vectors, by principal components")


class HEM(Hybrid):
    name = "hem"
    paper = "Burns et al. 2020 (HEM)"
    Settings: ClassVar = HEMSettings
    settings: HEMSettings

    @property
    def own_words(self) -> int:
        return self.settings.own_words

    @property
    def own_dimensions(self) -> int:
        return self.settings.own_dimensions
