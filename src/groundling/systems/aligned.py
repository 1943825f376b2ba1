"""What MULE, HEM, LA and SMALR share: one sentence branch over a universal embedding that is aligned across languages.

Kim, Saito, Saenko, Sclaroff and Plummer 2020 (MULE), and Burns et al. 2020 (SMALR; seed 001, section 3.3). To the
losses of `embedding_network` they add those that align languages, both on the mean of a caption's universal word
embeddings: neighbourhood constraints, and a classifier of languages behind a gradient reversal. Alone, with the word
table frozen, these are learned first.
"""

from typing import cast

import torch
from pydantic import Field, PositiveInt
from torch import Tensor, nn

from groundling.batches import DeviceBatch, Sampler, TrainingData
from groundling.objectives import language_guess, reversed_gradient, strength
from groundling.settings import TrainingSettings
from groundling.systems.base import Towers
from groundling.systems.embedding_network import EmbeddingNetwork, EmbeddingNetworkSettings
from groundling.text import Tokeniser
from groundling.text.by_language import LanguageTokeniser
from groundling.towers.universal import UniversalTower, average


class AlignedSettings(EmbeddingNetworkSettings):
    align_epochs: float = Field(
        5, ge=0, description="passes through the pictures that learn alignment only, with the word table frozen"
    )
    adversary: float = Field(
        1e-6, ge=0, description="the most that the language classifier's gradient weighs, reversed"
    )
    adversary_steps: PositiveInt | None = Field(
        None, description="steps in which it grows to that; training.maximum_steps when left out"
    )


class AlignedTowers(Towers):
    """With the classifier of languages, which only training needs."""

    def __init__(self, towers: Towers, universal: int, languages: int) -> None:
        super().__init__(towers.text, towers.picture)
        self.adversary = nn.Linear(universal, languages)


class Aligned(EmbeddingNetwork):
    settings: AlignedSettings
    steps: int = 1  # in which the adversary grows; known when training begins

    def towers(self, tokeniser: Tokeniser, features: int) -> Towers:
        assert isinstance(tokeniser, LanguageTokeniser)  # noqa: S101 (for the type checker)
        towers = super().towers(tokeniser, features)
        return towers if self.settings.compact else self.training_towers(towers, tokeniser)

    def training_towers(self, towers: Towers, tokeniser: LanguageTokeniser) -> Towers:
        """With what only training needs beside the towers."""
        return AlignedTowers(towers, self.settings.universal_dimensions, len(tokeniser.codes))

    def sampler(self, data: TrainingData, training: TrainingSettings) -> Sampler:
        self.steps = self.settings.adversary_steps or training.maximum_steps
        # Where one language is short another is long, and one GRU reads them all. Captions of one language are put
        # together by length: EmbN and PAR. EmbN, with a GRU for each, would be spared a tenth of their words. A GPU
        # loses with more and smaller calls what it gains with fewer words (MULE on an H200: 10.2 ms against 9.8).
        stairs = len(data.codes) > 1 and data.features.device.type == "cpu"
        return self.every_language(data, training, self.settings.align_epochs, stairs)

    def loss(self, towers: Towers, data: TrainingData, batch: DeviceBatch) -> Tensor:
        """Of the kinds "align", the alignment of universal embeddings alone, and "every", all losses."""
        ids, lengths, real = self.captions(data, batch)
        text, n = cast(UniversalTower, towers.text), batch.rows.shape[1]
        if batch.kind == "align":
            averages = average(text.words(ids, frozen=True), lengths)
            return self.alignment(towers, averages, real, n, batch.step)
        averages, vectors = text.read(ids, lengths, batch.stairs)
        seen = towers.picture(data.features[batch.rows[0]])
        grounding = self.grounding(towers, seen, vectors, real, batch.step)
        return grounding + self.alignment(towers, averages, real, n, batch.step)

    def alignment(self, towers: Towers, averages: Tensor, real: Tensor, pictures: int, step: Tensor) -> Tensor:
        """Of captions' mean universal embeddings [languages, captions, d]."""
        assert isinstance(towers, AlignedTowers)  # noqa: S101 (for the type checker)
        with torch.autocast(averages.device.type, enabled=False):
            guessed = reversed_gradient(averages, strength(step, self.steps, self.settings.adversary))
            languages = torch.arange(len(real), device=real.device)[:, None].expand_as(real)
            logits = towers.adversary(guessed.flatten(end_dim=1))
            guess = language_guess(logits, languages.flatten(), real.flatten())
            return guess + self.together(averages, real, pictures)
