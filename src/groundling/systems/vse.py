"""Visual-semantic embedding: a recurrent word encoder and a picture encoder, trained by a ranking loss.

Kiros et al. 2014 (https://arxiv.org/abs/1411.2539); VSE++, Faghri et al. 2018 (the hardest negative,
https://arxiv.org/abs/1707.05612); order embeddings, Vendrov et al. 2015 (`similarity: order`,
https://arxiv.org/abs/1511.06361). The base of most systems here.

>>> from groundling import systems
>>> systems.make({"name": "vse", "objective": {"name": "contrastive", "temperature": 0.1}}).settings.objective
Contrastive(temperature=0.1)
"""

from typing import Any, ClassVar, Literal

from pydantic import Field, PositiveInt, model_validator

from groundling.batches import LanguageSampler, Sampler, TrainingData
from groundling.batches.stage import Loss
from groundling.encoders import picture as pictures
from groundling.encoders import text as captions
from groundling.encoders.picture import PictureChoice
from groundling.encoders.settings import Named
from groundling.encoders.text import TextChoice
from groundling.objectives import OBJECTIVES, MaxOfHinges
from groundling.objectives.objective import AnyObjective, Objective, completed
from groundling.objectives.ranking import RankingLoss
from groundling.settings import Settings
from groundling.systems.base import System, register
from groundling.systems.plan import Context


class VSESettings(Settings):
    group = "system"
    former = {"spare_positives": "mask_false_negatives"}  # noqa: RUF012

    name: Literal["vse"] = "vse"
    dimensions: PositiveInt = Field(1024, description="of the shared space, and of the recurrent state")
    word_dimensions: PositiveInt = Field(300, description="of a word vector, where the text encoder has such")
    text: Named = Field("recurrent", description="the text encoder: its name, or {name: …, and its own settings}")
    picture: Named = Field("linear", description="the picture encoder: its name, or {name: …, and its own settings}")
    objective: AnyObjective = Field(
        MaxOfHinges(), description="by name, or with settings: {name: max_of_hinges, margin: 0.2}"
    )
    similarity: Literal["cosine", "order"] = Field(
        "cosine", description="order: captions lie below their pictures (order embeddings); margins are then 0.05"
    )
    mask_false_negatives: bool = Field(
        False, description="a wrong pair of a batch that is right in truth (same picture, or same text) costs nothing"
    )

    @model_validator(mode="before")
    @classmethod
    def _whole_objective(cls, values: Any) -> Any:
        """Order scores of unit vectors lie closer together than cosines; 0.05 is Vendrov et al.'s margin."""
        former = {"margin": "margin", "temperature": "temperature"}
        whole = completed(cls, values, "objective", former)
        if not isinstance(whole, dict) or whole.get("similarity") != "order":
            return whole
        given = values.get("objective")
        if "margin" in values or (isinstance(given, dict) and "margin" in given) or isinstance(given, Objective):
            return whole
        chosen = whole.get("objective", cls.model_fields["objective"].default.model_dump())
        if not isinstance(chosen, dict) or "margin" not in OBJECTIVES[chosen["name"]].model_fields:
            return whole
        return {**whole, "objective": {**chosen, "margin": 0.05}}


@register
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
        return RankingLoss(own.objective, self.similarity, own.mask_false_negatives)
