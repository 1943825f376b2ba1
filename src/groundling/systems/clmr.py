"""Cross-language multimodal retrieval: words from a table, read by a bidirectional GRU.

Wehrmann, Souza, Lopes and Barros 2019, "Language-agnostic visual-semantic embeddings": the word model (CLMR-GRU) that
the paper's own LIWE is measured against. Its loss and batches are in `cross_language`.
"""

from typing import Any, ClassVar, Literal

from pydantic import PositiveInt

from groundling.systems.cross_language import CrossLanguage, CrossLanguageSettings
from groundling.systems.plan import Context
from groundling.text import Tokeniser, WordTokeniser
from groundling.towers.bidirectional import BidirectionalTower
from groundling.towers.pair import Towers
from groundling.towers.picture import PictureTower


class CLMRSettings(CrossLanguageSettings):
    name: Literal["clmr"] = "clmr"
    word_dimensions: PositiveInt = 300


class CLMR(CrossLanguage):
    name = "clmr"
    paper = "Wehrmann et al. 2019 (CLMR-GRU)"
    Settings: ClassVar = CLMRSettings
    settings: CLMRSettings

    def tokeniser(self, context: Context) -> Tokeniser:
        corpus = context.train.corpus
        return WordTokeniser.build(corpus.texts, corpus.languages.tolist(), context.recipe.text)

    def load_tokeniser(self, saved: dict[str, Any]) -> Tokeniser:
        return WordTokeniser.from_json(saved)

    def towers(self, tokeniser: Tokeniser, features: int) -> Towers:
        own = self.settings
        text = BidirectionalTower(tokeniser.size, own.word_dimensions, own.dimensions, own.pooling)
        return Towers(text, PictureTower(features, own.dimensions))
