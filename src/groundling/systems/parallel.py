"""The pivot, and a direct line between the languages.

Gella, Sennrich, Keller and Lapata 2017, "Image pivoting for learning multilingual multimodal representations"
(https://arxiv.org/abs/1707.07601): to the losses of `pivot` it adds, for every two languages, the ranking loss of the
captions that describe the same picture (their Parallel-Sym and, with `similarity: order`, Parallel-Asym). Between
captions the order score has no direction: see `encoders.similarity`.

>>> from groundling import systems
>>> systems.make({"name": "parallel", "similarity": "order"}).settings.objective
SumOfHinges(margin=0.05)
"""

from typing import ClassVar, Literal

from groundling.batches import PivotSampler, Sampler, TrainingData
from groundling.batches.stage import Loss
from groundling.errors import UserError
from groundling.objectives import SumOfHinges
from groundling.objectives.objective import AnyObjective
from groundling.objectives.pivot import PivotLoss
from groundling.systems.base import register
from groundling.systems.plan import Context
from groundling.systems.vse import VSE, VSESettings


class ParallelSettings(VSESettings):
    name: Literal["parallel"] = "parallel"  # type: ignore[assignment]
    objective: AnyObjective = SumOfHinges()


@register
class Parallel(VSE):
    name = "parallel"
    paper = "Gella et al. 2017 (Parallel)"
    Settings: ClassVar = ParallelSettings
    settings: ParallelSettings

    def sampler(self, context: Context, data: TrainingData) -> Sampler:
        training = context.recipe.training
        if len(data.codes) < 2:
            raise UserError(f"system parallel needs two languages, and there is only {data.codes[0]}: use system pivot")
        return PivotSampler(data, training.batch_size, training.seed, training.length_pool)

    def loss(self, context: Context, data: TrainingData, sampler: Sampler) -> Loss:
        return PivotLoss(self.ranking(), between=True)
