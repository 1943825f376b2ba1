"""The picture as the pivot between languages.

Gella, Sennrich, Keller and Lapata 2017, "Image pivoting for learning multilingual multimodal representations"
(https://arxiv.org/abs/1707.07601): each step takes pictures with one caption in every language and adds up the ranking
losses of the languages,

    L = Σ_l Σ_(i, c) Σ_c' [α − s(i, c) + s(i, c')]₊ + Σ_i' [α − s(i, c) + s(i', c)]₊,

with the cosine for s (their Pivot-Sym) or the order score (Pivot-Asym: `similarity: order`). The encoders are those of
`vse`, all languages in one text encoder, as in Kádár et al. 2018, who compare with these rows.

>>> from groundling import systems
>>> systems.make({"name": "pivot"}).settings.objective
SumOfHinges(margin=0.2)
"""

from typing import ClassVar, Literal

from groundling.batches import PivotSampler, Sampler, TrainingData
from groundling.batches.stage import Loss
from groundling.objectives import SumOfHinges
from groundling.objectives.objective import AnyObjective
from groundling.objectives.pivot import PivotLoss
from groundling.systems.base import register
from groundling.systems.plan import Context
from groundling.systems.vse import VSE, VSESettings


class PivotSettings(VSESettings):
    name: Literal["pivot"] = "pivot"  # type: ignore[assignment]
    objective: AnyObjective = SumOfHinges()


@register
class Pivot(VSE):
    name = "pivot"
    paper = "Gella et al. 2017 (Pivot)"
    Settings: ClassVar = PivotSettings
    settings: PivotSettings

    def sampler(self, context: Context, data: TrainingData) -> Sampler:
        training = context.recipe.training
        return PivotSampler(data, training.batch_size, training.seed, training.length_pool)

    def loss(self, context: Context, data: TrainingData, sampler: Sampler) -> Loss:
        return PivotLoss(self.ranking())
