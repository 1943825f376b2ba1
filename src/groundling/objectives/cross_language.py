"""Captions against pictures, plus captions of two languages against each other: the loss of LIWE, CLMR and BERT+GRU.

Wehrmann, Souza, Lopes and Barros 2019, "Language-agnostic visual-semantic embeddings",
https://doi.org/10.1109/ICCV.2019.00590.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from groundling.batches import DeviceBatch, TrainingData
from groundling.encoders.pair import Encoders
from groundling.objectives.objective import Objective


@dataclass(frozen=True)
class CrossLanguageLoss:
    """
    Attributes:
        objective: of captions and pictures.
        pair_objective: of captions and captions.
        turns: where languages take turns, how many there are and the step at which pairs of captions start; None where
            every step has the base language in it, as published.
        drawn_from: where each step has pairs with one other language, of how many it is drawn, if these shall turn hard
            by the steps that a language has had itself; 1 where all steps count.
        batches_count: whether every batch of pairs is a step to their objective, as in the released code, where one
            criterion serves all other languages and counts its calls: with n of them in a step t rises by n.
    """

    objective: Objective
    pair_objective: Objective
    turns: tuple[int, int] | None = None
    mask_false_negatives: bool = False
    drawn_from: int = 1
    batches_count: bool = False

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
                losses.append(self.objective(scores, positives, age))
                captions, vectors = captions[1:], vectors[1:]
            batches = len(vectors) // 2
            for number in range(batches):
                left, right = 2 * number, 2 * number + 1
                positives = self.positives(data, captions[left], captions[right])
                scores = vectors[left] @ vectors[right].T
                past = age * batches + number if self.batches_count else age / self.drawn_from
                losses.append(self.pair_objective(scores, positives, past))
            return torch.stack(losses).sum()

    def age(self, batch: DeviceBatch) -> Tensor:
        """Steps of training, by which an objective may turn hard.

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
