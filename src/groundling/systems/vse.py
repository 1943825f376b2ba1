"""Visual-semantic embedding: a recurrent word encoder and a picture encoder, trained by a ranking loss.

Kiros et al. 2014 (sum of hinges); VSE++, Faghri et al. 2018 (hardest negative); order embeddings, Vendrov et al. 2015
(`similarity: order`). The base of most systems here.
"""

from typing import Any, ClassVar, Literal

from pydantic import Field, PositiveFloat, PositiveInt, model_validator
from torch import Tensor

from groundling.batches import LanguageSampler, Sampler, TrainingData
from groundling.batches.stage import Loss
from groundling.encoders import picture as pictures
from groundling.encoders import text as captions
from groundling.encoders.picture import PictureChoice
from groundling.encoders.settings import Named
from groundling.encoders.text import TextChoice
from groundling.objectives import OBJECTIVES
from groundling.objectives.ranking import RankingLoss
from groundling.settings import Settings
from groundling.systems.base import System
from groundling.systems.plan import Context


class VSESettings(Settings):
    name: Literal["vse"] = "vse"
    dimensions: PositiveInt = Field(1024, description="of the shared space, and of the recurrent state")
    word_dimensions: PositiveInt = Field(300, description="of a word vector, where the text encoder has such")
    text: Named = Field("recurrent", description="the text encoder: its name, or {name: …, and its own settings}")
    picture: Named = Field("linear", description="the picture encoder: its name, or {name: …, and its own settings}")
    objective: Literal["max_of_hinges", "sum_of_hinges", "contrastive"] = "max_of_hinges"
    similarity: Literal["cosine", "order"] = Field(
        "cosine", description="order: captions lie below their pictures (order embeddings)"
    )
    margin: PositiveFloat = Field(0.2, description="of the hinges; 0.05 with similarity order, unless set")
    temperature: PositiveFloat = Field(0.05, description="of the contrastive objective")
    spare_positives: bool = Field(
        False, description="a wrong pair of a batch that is right in truth (same picture, or same text) costs nothing"
    )

    @model_validator(mode="before")
    @classmethod
    def _margin_of_the_order(cls, values: Any) -> Any:
        """Order scores of unit vectors lie closer together than cosines; 0.05 is Vendrov et al.'s margin."""
        if isinstance(values, dict) and values.get("similarity") == "order":
            return {"margin": 0.05, **values}
        return values


class VSE(System):
    """One stream of all captions, whatever their language, each against its picture."""

    name = "vse"
    paper = "Kiros et al. 2014; Faghri et al. 2018 (VSE++); Vendrov et al. 2015 (order embeddings)"
    Settings: ClassVar = VSESettings
    settings: VSESettings

    @property
    def similarity(self) -> str:
        return self.settings.similarity

    @property
    def text_encoder(self) -> TextChoice:
        return captions.chosen(self.settings.text, "system.text", word_dimensions=self.settings.word_dimensions)

    @property
    def picture_encoder(self) -> PictureChoice:
        return pictures.chosen(self.settings.picture, "system.picture")

    def sampler(self, context: Context, data: TrainingData) -> Sampler:
        training = context.recipe.training
        return LanguageSampler(data, training.batch_size, training.seed, [data.codes], 0.0, training.length_pool)

    def loss(self, context: Context, data: TrainingData, sampler: Sampler) -> Loss:
        return self.ranking()

    def ranking(self) -> RankingLoss:
        own = self.settings
        sharpness = own.temperature if own.objective == "contrastive" else own.margin

        def objective(scores: Tensor, positives: Tensor | None) -> Tensor:
            return OBJECTIVES[own.objective](scores, sharpness, positives)

        return RankingLoss(objective, self.similarity, own.spare_positives)
