"""Cross-language multimodal retrieval: words from a table, read by a bidirectional GRU.

Wehrmann, Souza, Lopes and Barros 2019, "Language-agnostic visual-semantic embeddings"
(https://doi.org/10.1109/ICCV.2019.00590): the word model (CLMR-GRU) that the paper's own LIWE is measured against. Its
loss and batches are in `cross_language`.

>>> from groundling import systems
>>> systems.make({"name": "clmr"}).settings.pair_objective
HardeningHinges(margin=0.2, rate=0.91)
"""

from typing import ClassVar, Literal

from pydantic import PositiveInt

from groundling.encoders import text as captions
from groundling.encoders.text import TextChoice
from groundling.systems.base import register
from groundling.systems.cross_language import CrossLanguage, CrossLanguageSettings


class CLMRSettings(CrossLanguageSettings):
    name: Literal["clmr"] = "clmr"
    word_dimensions: PositiveInt = 300


@register
class CLMR(CrossLanguage):
    name = "clmr"
    paper = "Wehrmann et al. 2019 (CLMR-GRU)"
    Settings: ClassVar = CLMRSettings
    settings: CLMRSettings

    @property
    def text_encoder(self) -> TextChoice:
        own = self.settings
        return captions.chosen("bidirectional", "system", word_dimensions=own.word_dimensions, pooling=own.pooling)
