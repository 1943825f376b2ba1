"""LA: every word of every language is one of the latent tokens that all languages share; none has a vector of its own.

The language-agnostic baseline of SMALR (Burns et al. 2020; seed 001, section 4). See `hybrid`.
"""

from typing import ClassVar, Literal

from pydantic import Field

from groundling.systems.hybrid import Hybrid, HybridSettings


class LASettings(HybridSettings):
    name: Literal["la"] = "la"
    align_epochs: float = Field(
        0, ge=0, description="passes that learn alignment only; with the tokens frozen there is nothing to align here"
    )


class LA(Hybrid):
    name = "la"
    paper = "Burns et al. 2020 (Language-Agnostic)"
    Settings: ClassVar = LASettings
    settings: LASettings

    @property
    def own_words(self) -> int:
        return 0

    @property
    def own_dimensions(self) -> int:
        return self.settings.universal_dimensions
