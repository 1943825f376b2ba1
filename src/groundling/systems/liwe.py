"""Language-invariant word embeddings: words from their characters, no vocabulary.

Wehrmann, Souza, Lopes and Barros 2019, "Language-agnostic visual-semantic embeddings": a word is its first 26
characters side by side, through a few layers to 300 dimensions; a bidirectional GRU reads the words. Its loss and
batches are in `cross_language`.
"""

from typing import Any, ClassVar, Literal

from pydantic import Field, PositiveInt

from groundling.encoders.pair import Encoders
from groundling.encoders.picture.linear import LinearPictureEncoder
from groundling.encoders.text.bidirectional import BidirectionalSentence
from groundling.encoders.text.characters import CharacterEncoder, LayeredWords, RecurrentWords
from groundling.encoders.tokenisers.characters import CharacterTokeniser
from groundling.systems.cross_language import CrossLanguage, CrossLanguageSettings
from groundling.systems.plan import Context
from groundling.text import Tokeniser


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


class LIWE(CrossLanguage):
    name = "liwe"
    paper = "Wehrmann et al. 2019 (LIWE-GRU)"
    Settings: ClassVar = LIWESettings
    settings: LIWESettings

    def tokeniser(self, context: Context) -> Tokeniser:
        corpus = context.train.corpus
        own, languages = self.settings, corpus.languages.tolist()
        return CharacterTokeniser.build(corpus.texts, languages, context.recipe.text, own.longest_word, own.boundaries)

    def load_tokeniser(self, saved: dict[str, Any]) -> Tokeniser:
        return CharacterTokeniser.from_json(saved)

    def encoders(self, tokeniser: Tokeniser, features: int) -> Encoders:
        own = self.settings
        words = (
            RecurrentWords(tokeniser.size, own.character_dimensions, own.word_dimensions)
            if own.words == "charGRU"
            else LayeredWords(
                tokeniser.size,
                own.character_dimensions,
                own.layers,
                own.word_dimensions,
                own.longest_word,
                renormalise=own.sampling == "lessons",  # its batches are of one language each
            )
        )
        sentence = BidirectionalSentence(own.word_dimensions, own.dimensions, own.pooling)
        return Encoders(CharacterEncoder(words, sentence), LinearPictureEncoder(features, own.dimensions))
