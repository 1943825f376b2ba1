"""The picture as the pivot between languages.

Gella, Sennrich, Keller and Lapata 2017, "Image pivoting for learning multilingual multimodal representations",
https://arxiv.org/abs/1707.07601. The ranking losses of pictures with the captions of each language are added up, and
with `between` also those of the captions of every two languages that describe the same picture.
"""

from dataclasses import dataclass
from itertools import combinations

import torch
from torch import Tensor

from groundling.batches import DeviceBatch, TrainingData
from groundling.encoders.pair import Encoders
from groundling.objectives.ranking import RankingLoss


@dataclass(frozen=True)
class PivotLoss:
    """The loss of batches of the kind "pivot": pictures, then the captions of each language."""

    ranking: RankingLoss
    between: bool = False

    def __call__(self, encoders: Encoders, data: TrainingData, batch: DeviceBatch) -> Tensor:
        pictures, captions = batch.rows[0], batch.rows[1:]  # [n] and [languages, n]
        seen = encoders.picture(data.features[pictures])
        # The captions of all languages in one pass through the encoder.
        said = encoders.text(*data.captions(captions.flatten(), batch.longest)).chunk(len(captions))
        return torch.stack(self.losses(data, pictures, captions, seen, said, batch.step)).sum()

    def losses(
        self,
        data: TrainingData,
        pictures: Tensor,
        captions: Tensor,
        seen: Tensor,
        said: tuple[Tensor, ...],
        step: Tensor,
    ) -> list[Tensor]:
        """What is added up, from the rows of pictures and captions and the vectors of both."""
        found = [
            self.ranking.ranked(data, "picture", rows, pictures, vectors, seen, step)
            for rows, vectors in zip(captions, said, strict=True)
        ]
        for one, other in combinations(range(len(said)), 2) if self.between else ():
            rows, vectors = (captions[one], captions[other]), (said[one], said[other])
            found.append(self.ranking.ranked(data, "caption", *rows, *vectors, step))
        return found
