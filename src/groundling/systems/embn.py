"""EmbN: the embedding network of one language.

Wang, Li, Huang and Lazebnik 2018, with the changes of Kim et al. 2020; the row "EmbN" of Burns et al. 2020 (seed 001).
Its loss is in `embedding_network`.
"""

from typing import ClassVar, Literal

from groundling.batches import Sampler, TrainingData
from groundling.errors import UserError
from groundling.settings import TrainingSettings
from groundling.systems.embedding_network import EmbeddingNetwork, EmbeddingNetworkSettings


class EmbNSettings(EmbeddingNetworkSettings):
    name: Literal["embn"] = "embn"


class EmbN(EmbeddingNetwork):
    name = "embn"
    paper = "Wang et al. 2018 (EmbN)"
    Settings: ClassVar = EmbNSettings
    settings: EmbNSettings

    def sampler(self, data: TrainingData, training: TrainingSettings) -> Sampler:
        if len(data.codes) > 1:
            raise UserError(
                f"system embn learns one language, and there are {', '.join(data.codes)}: "
                "choose one with corpus.languages, or use system par_embn or mule"
            )
        return super().sampler(data, training)
