"""What LIWE, CLMR and BERT+GRU share: a loss against pictures plus one between captions, both turning hard.

Wehrmann, Souza, Lopes and Barros 2019, "Language-agnostic visual-semantic embeddings" (seed 004):

    L = J(captions·pictures, ε = .991) + J(base captions·other captions, ε = .91)
    J = (1 − k)·sum of hinges + k·max of hinges,   k = 1 − εᵗ
"""

from typing import Literal

import torch
from pydantic import Field, PositiveFloat, PositiveInt
from torch import Tensor

from groundling.batches import BaseLanguageSampler, DeviceBatch, LanguageSampler, Sampler, TrainingData
from groundling.objectives import hardening_hinges
from groundling.settings import Settings, TrainingSettings
from groundling.systems.base import System, Towers


class CrossLanguageSettings(Settings):
    dimensions: PositiveInt = Field(1024, description="of the shared space, and of the recurrent states")
    pooling: Literal["last", "ends"] = Field(
        "last",
        description="last: both directions at the last word, as published; ends: the backward one at the first word, "
        "where it has read the whole caption",
    )
    margin: PositiveFloat = Field(0.2, description="of the hinges")
    hard_rate: float = Field(0.991, ge=0, le=1, description="ε against pictures: hardest pairs weigh 1 − εᵗ at step t")
    pair_hard_rate: float = Field(0.91, ge=0, le=1, description="the same between captions")
    sampling: Literal["base", "lessons"] = Field(
        "base",
        description="base: pictures teach the base language, caption pairs with it the others, as published; lessons: "
        "every language against pictures, and pairs of any two, in turns",
    )
    base: str = Field("en", description="the base language")
    every_other: bool = Field(
        False,
        description="each step has pairs of the base language with every other one, as in the released code; otherwise "
        "with one of them, drawn evenly",
    )
    caption_pairs: float = Field(
        0.5, ge=0, lt=1, description="share of the steps spent on caption pairs (sampling: lessons)"
    )
    caption_pairs_after: int = Field(1000, ge=0, description="steps before caption pairs start (sampling: lessons)")
    spare_positives: bool = Field(
        False, description="a wrong pair of a batch that is right in truth (same picture, or same text) costs nothing"
    )


class CrossLanguage(System):
    """Batches and loss; the systems differ in how a caption becomes word vectors."""

    settings: CrossLanguageSettings

    def sampler(self, data: TrainingData, training: TrainingSettings) -> Sampler:
        own, size, seed, pool = self.settings, training.batch_size, training.seed, training.length_pool
        if own.sampling == "base":
            return BaseLanguageSampler(data, size, seed, own.base, pool, own.every_other)
        pairs = own.caption_pairs if len(data.codes) > 1 else 0.0
        each = [[code] for code in data.codes]
        return LanguageSampler(data, size, seed, each, pairs, pool, pairs_after=own.caption_pairs_after)

    def loss(self, towers: Towers, data: TrainingData, batch: DeviceBatch) -> Tensor:
        """Of the kinds "picture" (captions, pictures), "caption" (two captions) and "base" (both, one after another).

        All captions of a step go through the tower together: batch normalisation sees every language at once, as the
        statistics it keeps for later do.
        """
        own, pictured, age = self.settings, batch.kind != "caption", self.age(data, batch)
        captions = torch.cat([batch.rows[:1], batch.rows[2:]]) if pictured else batch.rows
        vectors = towers.text(*data.captions(captions.flatten(), batch.longest)).chunk(len(captions))
        pictures = towers.picture(data.features[batch.rows[1]]) if pictured else None
        with torch.autocast(vectors[0].device.type, enabled=False):  # in bf16 scores within .004 are one
            losses = []
            if pictures is not None:
                spared = self.spared(data, captions[0], captions[0])  # column j: the picture of caption j
                scores = vectors[0] @ pictures.T
                losses.append(hardening_hinges(scores, age, own.hard_rate, own.margin, spared))
                captions, vectors = captions[1:], vectors[1:]
            for place in range(0, len(vectors), 2):
                spared = self.spared(data, captions[place], captions[place + 1])
                scores = vectors[place] @ vectors[place + 1].T
                losses.append(hardening_hinges(scores, age, own.pair_hard_rate, own.margin, spared))
            return torch.stack(losses).sum()

    def age(self, data: TrainingData, batch: DeviceBatch) -> Tensor:
        """Steps of training, by which the loss turns hard.

        As published every step has the base language in it. Where languages take turns each has had its share of the
        steps only, and pairs none before they start; counted like the others' they would be asked for the hardest pair
        before they have learned any, and stay at twice the margin per caption for good (measured on F8K-7).
        """
        if self.settings.sampling == "base":
            return batch.step
        start = self.settings.caption_pairs_after if batch.kind == "caption" else 0
        return (batch.step - start).clamp(min=0) / len(data.codes)

    def spared(self, data: TrainingData, captions: Tensor, others: Tensor) -> Tensor | None:
        return data.alike(captions, others) if self.settings.spare_positives else None
