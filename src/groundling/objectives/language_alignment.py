"""What MULE adds to the losses of an embedding network: universal word embeddings that are aligned across languages.

Kim, Saito, Saenko, Sclaroff and Plummer 2020 (MULE, https://arxiv.org/abs/1909.03493), and Burns et al. 2020 (SMALR, https://arxiv.org/abs/2004.04312,
section 3.3). Both parts look at the mean of a caption's universal word embeddings: neighbourhood constraints, and a
classifier of languages behind a gradient reversal. Alone, with the word table frozen, these are learned first.
"""

from dataclasses import dataclass
from typing import cast

import torch
from pydantic import Field, PositiveInt
from torch import Tensor, nn

from groundling.batches import DeviceBatch, TrainingData
from groundling.encoders.padding import average
from groundling.encoders.pair import Encoders
from groundling.encoders.text.universal import UniversalEncoder
from groundling.objectives.adversary import language_guess, reversed_gradient, strength
from groundling.objectives.two_branch import TwoBranchLoss
from groundling.settings import Settings


class AlignmentSettings(Settings):
    align_epochs: float = Field(
        5, ge=0, description="passes through the pictures that learn alignment only, with the word table frozen"
    )
    adversary: float = Field(
        1e-6, ge=0, description="the most that the language classifier's gradient weighs, reversed"
    )
    adversary_steps: PositiveInt | None = Field(
        None, description="steps in which it grows to that; training.maximum_steps when left out"
    )


@dataclass(frozen=True)
class AlignedLoss:
    """The losses of `two_branch`, and those that align languages. The encoders have a part `adversary`, the classifier.

    Attributes:
        most, steps: how much the classifier's gradient weighs in the end, and the steps in which it grows to that.
    """

    grounded: TwoBranchLoss
    most: float
    steps: int

    def __call__(self, encoders: Encoders, data: TrainingData, batch: DeviceBatch) -> Tensor:
        """Of the kinds "align", the alignment of universal embeddings alone, and "every", all losses."""
        ids, lengths, real = self.grounded.captions(data, batch)
        text, n = cast(UniversalEncoder, encoders.text), batch.rows.shape[1]
        shared = self.grounded.shared(data, batch)
        if batch.kind == "align":
            averages = average(text.words(ids, frozen=True), lengths)
            return self.alignment(encoders, averages, real, n, batch.step, shared)
        averages, vectors = text.read(ids, lengths, batch.packing)
        seen = encoders.picture(data.features[batch.rows[0]])
        grounding = self.grounded.grounding(encoders, seen, vectors, real, batch.step, shared)
        return grounding + self.alignment(encoders, averages, real, n, batch.step, shared)

    def alignment(
        self,
        encoders: Encoders,
        averages: Tensor,
        real: Tensor,
        pictures: int,
        step: Tensor,
        shared: Tensor | None = None,
    ) -> Tensor:
        """Of captions' mean universal embeddings [languages, captions, d]."""
        classifier = cast(nn.Linear, encoders.adversary)
        with torch.autocast(averages.device.type, enabled=False):
            guessed = reversed_gradient(averages, strength(step, self.steps, self.most))
            languages = torch.arange(len(real), device=real.device)[:, None].expand_as(real)
            logits = classifier(guessed.flatten(end_dim=1))
            guess = language_guess(logits, languages.flatten(), real.flatten())
            return guess + self.grounded.together(averages, real, pictures, shared)
