"""Cross-language multimodal retrieval: words from a table, read by a bidirectional GRU.

Wehrmann, Souza, Lopes and Barros 2019, "Language-agnostic visual-semantic embeddings": the word model (CLMR-GRU) that
the paper's own LIWE is measured against. Its loss and batches are in `cross_language`.
"""

from typing import Any, ClassVar, Literal

from pydantic import PositiveInt

from groundling.encoders.pair import Encoders
from groundling.encoders.picture.linear import LinearPictureEncoder
from groundling.encoders.text.bidirectional import BidirectionalEncoder
from groundling.encoders.tokenisers.words import WordTokeniser
from groundling.systems.cross_language import CrossLanguage, CrossLanguageSettings
from groundling.systems.plan import Context
from groundling.text import Tokeniser


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

    def encoders(self, tokeniser: Tokeniser, features: int) -> Encoders:
        own = self.settings
        text = BidirectionalEncoder(tokeniser.size, own.word_dimensions, own.dimensions, own.pooling)
        return Encoders(text, LinearPictureEncoder(features, own.dimensions))
