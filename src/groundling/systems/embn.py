"""EmbN: the embedding network of one language.

Wang, Li, Huang and Lazebnik 2018 (https://arxiv.org/abs/1704.03470), with the changes of Kim et al. 2020; the row
"EmbN" of Burns et al. 2020 (https://arxiv.org/abs/2004.04312). Its loss is in `objectives.two_branch`.

>>> from groundling import systems
>>> systems.make({"name": "embn", "vectors": "cc.{language}.300.vec.gz"}).vectors
StartingVectors(source='cc.{language}.300.vec.gz', dimensions=300, lines=200000, whiten=False)
"""

from typing import ClassVar, Literal

from groundling.batches import Sampler, TrainingData
from groundling.errors import UserError
from groundling.objectives.two_branch import TwoBranchSettings
from groundling.systems.base import register
from groundling.systems.embedding_network import EmbeddingNetwork, EmbeddingNetworkSettings
from groundling.systems.plan import Context


class EmbNSettings(EmbeddingNetworkSettings, TwoBranchSettings):
    name: Literal["embn"] = "embn"


@register
class EmbN(EmbeddingNetwork):
    name = "embn"
    paper = "Wang et al. 2018 (EmbN)"
    Settings: ClassVar = EmbNSettings
    settings: EmbNSettings

    def sampler(self, context: Context, data: TrainingData) -> Sampler:
        if len(data.codes) > 1:
            raise UserError(
                f"system embn learns one language, and there are {', '.join(data.codes)}: "
                "choose one with corpus.languages, or use system par_embn or mule"
            )
        return super().sampler(context, data)
