"""Language-invariant word embeddings: words from their characters, no vocabulary.

Wehrmann, Souza, Lopes and Barros 2019, "Language-agnostic visual-semantic embeddings"
(https://doi.org/10.1109/ICCV.2019.00590): a word is its first 26 characters side by side, through a few layers to 300
dimensions; a bidirectional GRU reads the words. Its loss and batches are in `cross_language`.

>>> from groundling import systems
>>> systems.make({"name": "liwe", "objective": {"rate": 0.999}}).settings.objective
HardeningHinges(margin=0.2, rate=0.999)
"""

from typing import ClassVar, Literal

from pydantic import Field, PositiveInt

from groundling.encoders import text as captions
from groundling.encoders.text import TextChoice
from groundling.systems.base import register
from groundling.systems.cross_language import CrossLanguage, CrossLanguageSettings


class LIWESettings(CrossLanguageSettings):
    name: Literal["liwe"] = "liwe"
    word_dimensions: PositiveInt = 300
    character_dimensions: PositiveInt = Field(24, description="24 for S-LIWE, 120 for L-LIWE")
    longest_word: PositiveInt = Field(26, le=200, description="characters of a word that are read; the rest is cut")
    words: Literal["layers", "charGRU"] = Field("layers", description="how a word comes from its characters")
    layers: list[PositiveInt] = Field([384, 384], description="sizes (f1, f2, …) of the layers before the word vector")
    boundaries: bool = Field(
        False,
        description="a start symbol before the first character of a caption and an end symbol after its last one, as "
        "in the released code",
    )


@register
class LIWE(CrossLanguage):
    name = "liwe"
    paper = "Wehrmann et al. 2019 (LIWE-GRU)"
    Settings: ClassVar = LIWESettings
    settings: LIWESettings

    @property
    def text_encoder(self) -> TextChoice:
        own = self.settings
        return captions.chosen(
            "characters",
            "system",
            word_dimensions=own.word_dimensions,
            character_dimensions=own.character_dimensions,
            longest_word=own.longest_word,
            words=own.words,
            layers=own.layers,
            boundaries=own.boundaries,
            pooling=own.pooling,
            renormalise=own.sampling == "lessons",  # its batches are of one language each
        )
