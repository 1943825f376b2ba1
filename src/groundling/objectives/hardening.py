"""Hinges that turn from all wrong pairs to the hardest ones while training goes on.

Wehrmann, Souza, Lopes and Barros 2019, "Language-agnostic visual-semantic embeddings" (LIWE;
doi:10.1109/ICCV.2019.00590), section 1 of the supplement.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from groundling.batches import DeviceBatch, TrainingData
from groundling.encoders.pair import Encoders
from groundling.objectives.hinge import hinge_costs


def hardness(rate: float, step: Tensor) -> Tensor:
    """k = 1 − rateᵗ at the t-th step of training, of which `step` (a tensor) are over: t = step + 1.

    With the rate .991 the hardest pairs weigh half at t = 77 and .99 at t = 509. The step belongs to training, so that
    evaluation does not advance it and a resumed training goes on where it was.
    """
    return 1 - rate ** (step + 1)


def hardening_hinges(
    scores: Tensor, step: Tensor, rate: float = 0.991, margin: float = 0.2, spared: Tensor | None = None
) -> Tensor:
    """(1 − k)·sum of hinges + k·max of hinges; see `hinge` for both and for `spared`."""
    by_row, by_column = hinge_costs(scores, margin, spared)
    k = hardness(rate, step)
    everything = by_row.sum() + by_column.sum()
    hardest = by_row.amax(dim=1).sum() + by_column.amax(dim=0).sum()
    return (1 - k) * everything + k * hardest


@dataclass(frozen=True)
class HardeningLoss:
    """The loss of LIWE, CLMR and BERT+GRU: captions against pictures, plus captions against captions.

    Attributes:
        rate, pair_rate: how fast the hardest pairs take over, against pictures and between captions.
        turns: where languages take turns, how many there are and the step at which pairs of captions start; None where
            every step has the base language in it, as published.
    """

    margin: float
    rate: float
    pair_rate: float
    turns: tuple[int, int] | None = None
    mask_false_negatives: bool = False

    def __call__(self, encoders: Encoders, data: TrainingData, batch: DeviceBatch) -> Tensor:
        """Of the kinds "picture" (captions, pictures), "caption" (two captions) and "base" (both, one after another).

        All captions of a step go through the encoder together: batch normalisation sees every language at once, as the
        statistics it keeps for later do.
        """
        pictured, age = batch.kind != "caption", self.age(batch)
        captions = torch.cat([batch.rows[:1], batch.rows[2:]]) if pictured else batch.rows
        vectors = encoders.text(*data.captions(captions.flatten(), batch.longest)).chunk(len(captions))
        pictures = encoders.picture(data.features[batch.rows[1]]) if pictured else None
        with torch.autocast(vectors[0].device.type, enabled=False):  # in bf16 scores within .004 are one
            losses = []
            if pictures is not None:
                positives = self.positives(data, captions[0], captions[0])  # column j: the picture of caption j
                scores = vectors[0] @ pictures.T
                losses.append(hardening_hinges(scores, age, self.rate, self.margin, positives))
                captions, vectors = captions[1:], vectors[1:]
            for place in range(0, len(vectors), 2):
                positives = self.positives(data, captions[place], captions[place + 1])
                scores = vectors[place] @ vectors[place + 1].T
                losses.append(hardening_hinges(scores, age, self.pair_rate, self.margin, positives))
            return torch.stack(losses).sum()

    def age(self, batch: DeviceBatch) -> Tensor:
        """Steps of training, by which the loss turns hard.

        Where languages take turns each has had its share of the steps only, and pairs none before they start; counted
        like the others' they would be asked for the hardest pair before they have learned any, and stay at twice the
        margin per caption for good (measured on F8K-7).
        """
        if self.turns is None:
            return batch.step
        languages, pairs_after = self.turns
        return (batch.step - (pairs_after if batch.kind == "caption" else 0)).clamp(min=0) / languages

    def positives(self, data: TrainingData, captions: Tensor, others: Tensor) -> Tensor | None:
        return data.alike(captions, others) if self.mask_false_negatives else None
