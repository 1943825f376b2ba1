"""Ours, for short captions and two cores: bags of words and character n-grams against pictures, all languages mixed.

A minute of training gives a usable model in fifteen languages; it is what `groundling demo` trains.

>>> from groundling import systems
>>> systems.make({"name": "bag"}).settings.objective
Contrastive(temperature=0.05)
"""

from typing import ClassVar, Literal

from pydantic import Field, PositiveInt

from groundling.batches import LanguageSampler, Sampler, TrainingData
from groundling.encoders import picture as pictures
from groundling.encoders import text as captions
from groundling.encoders.picture import PictureChoice
from groundling.encoders.settings import Named
from groundling.encoders.text import TextChoice
from groundling.objectives import Contrastive
from groundling.objectives.objective import AnyObjective
from groundling.systems.base import register
from groundling.systems.plan import Context
from groundling.systems.vse import VSE, VSESettings


class BagSettings(VSESettings):
    name: Literal["bag"] = "bag"  # type: ignore[assignment]
    dimensions: PositiveInt = 256
    word_dimensions: PositiveInt = 256
    text: Named = Field("bag", description="the text encoder: its name, or {name: …, and its own settings}")
    buckets: PositiveInt = Field(2**16, description="rows for hashed character n-grams")
    dropout: float = Field(0.3, ge=0, lt=1, description="of the caption's mean vector")
    picture_dropout: float = Field(0.5, ge=0, lt=1, description="of the picture's features")
    objective: AnyObjective = Contrastive()
    mask_false_negatives: bool = True
    caption_pairs: float = Field(0.0, ge=0, lt=1, description="share of the steps spent on caption–caption ranking")


@register
class Bag(VSE):
    name = "bag"
    paper = "groundling; n-grams after Bojanowski et al. 2017"
    Settings: ClassVar = BagSettings
    settings: BagSettings

    @property
    def text_encoder(self) -> TextChoice:
        own = self.settings
        bag = {"buckets": own.buckets, "dropout": own.dropout}
        return captions.chosen(own.text, "system.text", {"bag": bag}, word_dimensions=own.word_dimensions)

    @property
    def picture_encoder(self) -> PictureChoice:
        own = self.settings
        return pictures.chosen(own.picture, "system.picture", {"linear": {"dropout": own.picture_dropout}})

    def sampler(self, context: Context, data: TrainingData) -> Sampler:
        training = context.recipe.training
        pairs, pool = self.settings.caption_pairs, training.length_pool
        return LanguageSampler(data, training.batch_size, training.seed, [data.codes], pairs, pool)
