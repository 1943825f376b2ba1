"""Ours, for short captions and two cores: bags of words and character n-grams against pictures, all languages mixed.

A minute of training gives a usable model in fifteen languages; it is what `groundling demo` trains.
"""

from typing import Any, ClassVar, Literal

from pydantic import Field, PositiveInt

from groundling.batches import LanguageSampler, Sampler, TrainingData
from groundling.encoders.pair import Encoders
from groundling.encoders.picture.linear import LinearPictureEncoder
from groundling.encoders.text.bag import BagEncoder
from groundling.encoders.tokenisers.ngrams import NgramTokeniser
from groundling.systems.plan import Context
from groundling.systems.vse import VSE, VSESettings
from groundling.text import Tokeniser


class BagSettings(VSESettings):
    name: Literal["bag"] = "bag"  # type: ignore[assignment]
    dimensions: PositiveInt = 256
    word_dimensions: PositiveInt = 256
    buckets: PositiveInt = Field(2**16, description="rows for hashed character n-grams")
    dropout: float = Field(0.3, ge=0, lt=1, description="of the caption's mean vector")
    picture_dropout: float = Field(0.5, ge=0, lt=1, description="of the picture's features")
    objective: Literal["max_of_hinges", "sum_of_hinges", "contrastive"] = "contrastive"
    spare_positives: bool = True
    caption_pairs: float = Field(0.0, ge=0, lt=1, description="share of the steps spent on caption–caption ranking")


class Bag(VSE):
    name = "bag"
    paper = "groundling; n-grams after Bojanowski et al. 2017"
    Settings: ClassVar = BagSettings
    settings: BagSettings

    def tokeniser(self, context: Context) -> Tokeniser:
        corpus = context.train.corpus
        return NgramTokeniser.build(corpus.texts, corpus.languages.tolist(), context.recipe.text, self.settings.buckets)

    def load_tokeniser(self, saved: dict[str, Any]) -> Tokeniser:
        return NgramTokeniser.from_json(saved)

    def encoders(self, tokeniser: Tokeniser, features: int) -> Encoders:
        text = BagEncoder(
            tokeniser.size, self.settings.word_dimensions, self.settings.dimensions, self.settings.dropout
        )
        return Encoders(text, LinearPictureEncoder(features, self.settings.dimensions, self.settings.picture_dropout))

    def sampler(self, context: Context, data: TrainingData) -> Sampler:
        training = context.recipe.training
        pairs, pool = self.settings.caption_pairs, training.length_pool
        return LanguageSampler(data, training.batch_size, training.seed, [data.codes], pairs, pool)
