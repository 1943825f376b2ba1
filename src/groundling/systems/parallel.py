"""The pivot, and a direct line between the languages.

Gella, Sennrich, Keller and Lapata 2017, "Image pivoting for learning multilingual multimodal representations": to the
losses of `pivot` it adds, for every two languages, the ranking loss of the captions that describe the same picture
(their Parallel-Sym and, with `similarity: order`, Parallel-Asym). Between captions the order score has no direction:
see `towers.similarity`.
"""

from itertools import combinations
from typing import ClassVar, Literal

from torch import Tensor

from groundling.batches import Sampler, TrainingData
from groundling.errors import UserError
from groundling.settings import TrainingSettings
from groundling.systems.pivot import Pivot, PivotSettings


class ParallelSettings(PivotSettings):
    name: Literal["parallel"] = "parallel"  # type: ignore[assignment]


class Parallel(Pivot):
    name = "parallel"
    paper = "Gella et al. 2017 (Parallel)"
    Settings: ClassVar = ParallelSettings
    settings: ParallelSettings

    def sampler(self, data: TrainingData, training: TrainingSettings) -> Sampler:
        if len(data.codes) < 2:
            raise UserError(f"system parallel needs two languages, and there is only {data.codes[0]}: use system pivot")
        return super().sampler(data, training)

    def losses(
        self, data: TrainingData, pictures: Tensor, captions: Tensor, seen: Tensor, said: tuple[Tensor, ...]
    ) -> list[Tensor]:
        between = [
            self.ranking(data, "caption", captions[one], captions[other], said[one], said[other])
            for one, other in combinations(range(len(said)), 2)
        ]
        return super().losses(data, pictures, captions, seen, said) + between
