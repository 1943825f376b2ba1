"""The picture as the pivot between languages.

Gella, Sennrich, Keller and Lapata 2017, "Image pivoting for learning multilingual multimodal representations": each
step takes pictures with one caption in every language and adds up the ranking losses of the languages,

    L = Σ_l Σ_(i, c) Σ_c' [α − s(i, c) + s(i, c')]₊ + Σ_i' [α − s(i, c) + s(i', c)]₊,

with the cosine for s (their Pivot-Sym) or the order score (Pivot-Asym: `similarity: order`). The towers are those of
`vse`, all languages in one text tower, as in Kádár et al. 2018, who compare with these rows.
"""

from typing import ClassVar, Literal

import torch
from torch import Tensor

from groundling.batches import DeviceBatch, PivotSampler, Sampler, TrainingData
from groundling.settings import TrainingSettings
from groundling.systems.base import Towers
from groundling.systems.vse import VSE, VSESettings


class PivotSettings(VSESettings):
    name: Literal["pivot"] = "pivot"  # type: ignore[assignment]
    objective: Literal["max_of_hinges", "sum_of_hinges", "contrastive"] = "sum_of_hinges"


class Pivot(VSE):
    name = "pivot"
    paper = "Gella et al. 2017 (Pivot)"
    Settings: ClassVar = PivotSettings
    settings: PivotSettings

    def sampler(self, data: TrainingData, training: TrainingSettings) -> Sampler:
        return PivotSampler(data, training.batch_size, training.seed, training.length_pool)

    def loss(self, towers: Towers, data: TrainingData, batch: DeviceBatch) -> Tensor:
        pictures, captions = batch.rows[0], batch.rows[1:]  # [n] and [languages, n]
        seen = towers.picture(data.features[pictures])
        # The captions of all languages in one pass through the tower.
        said = towers.text(*data.captions(captions.flatten(), batch.longest)).chunk(len(captions))
        return torch.stack(self.losses(data, pictures, captions, seen, said)).sum()

    def losses(
        self, data: TrainingData, pictures: Tensor, captions: Tensor, seen: Tensor, said: tuple[Tensor, ...]
    ) -> list[Tensor]:
        """What is added up: the rows of pictures and captions, and the vectors of both, say of which pairs."""
        return [
            self.ranking(data, "picture", rows, pictures, vectors, seen)
            for rows, vectors in zip(captions, said, strict=True)
        ]
