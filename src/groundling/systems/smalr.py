"""SMALR: HEM's words, MULE's losses, and masked cross-language modelling.

Burns, Kim, Wijaya, Saenko and Plummer 2020, "Learning to scale multilingual representations for vision-language tasks"
(https://arxiv.org/abs/2004.04312, equation 4):

    L = L_mm + 1e-4·L_mask + 1e-6·L_adv + 5e-2·L_nc,

where masked sentences look for their pictures, too: L_mm is counted for them once more. Consistency across languages
(CLC) comes after training: `groundling evaluate --consistency`.

>>> from groundling import systems
>>> own = systems.make({"name": "smalr"}).settings
>>> own.mask, own.mask_weight, own.adversary, own.neighbourhood_weight
(0.2, 0.0001, 1e-06, 0.05)
"""

from dataclasses import dataclass
from typing import ClassVar, Literal, cast

import torch
from pydantic import Field
from torch import Tensor, nn

from groundling.batches import DeviceBatch, Sampler, TrainingData
from groundling.batches.stage import Loss
from groundling.encoders.pair import Encoders
from groundling.encoders.text.universal import UniversalEncoder
from groundling.encoders.tokenisers.by_language import LanguageTokeniser
from groundling.encoders.tokenisers.hybrid_vocabulary import HybridVocabulary
from groundling.objectives.language_alignment import AlignedLoss, AlignmentSettings
from groundling.objectives.latent_words import LatentSettings, LatentTokenSettings
from groundling.objectives.masked import completion, masked_words
from groundling.objectives.two_branch import TwoBranchSettings
from groundling.systems.base import register
from groundling.systems.embedding_network import EmbeddingNetwork, EmbeddingNetworkSettings
from groundling.systems.hem import FrequentWordSettings
from groundling.systems.plan import Context


class SMALRSettings(
    EmbeddingNetworkSettings, TwoBranchSettings, AlignmentSettings, LatentTokenSettings, FrequentWordSettings
):
    name: Literal["smalr"] = "smalr"
    mask: float = Field(0.2, gt=0, lt=1, description="share of a caption's words that is masked")
    mask_weight: float = Field(1e-4, ge=0, description="of guessing what masked captions lack")
    masked_matching: float = Field(1.0, ge=0, description="of masked captions finding their pictures, and back")


@register
class SMALR(EmbeddingNetwork):
    name = "smalr"
    paper = "Burns et al. 2020 (SMALR)"
    Settings: ClassVar = SMALRSettings
    settings: SMALRSettings

    @property
    def vocabulary(self) -> HybridVocabulary:
        return HybridVocabulary(self.vectors, self.settings.own_words, self.settings.own_dimensions)

    @property
    def latent(self) -> LatentSettings:
        return self.settings.latent

    @property
    def alignment(self) -> AlignmentSettings:
        return self.settings

    def parts(self, tokeniser: LanguageTokeniser) -> dict[str, nn.Module | nn.Parameter]:
        """Also the [MASK], and the layers that complete masked captions: of means of words, and of sentence vectors."""
        universal, dimensions = self.settings.universal_dimensions, self.settings.dimensions
        return {
            **super().parts(tokeniser),
            "mask": nn.Parameter(torch.zeros(universal)),
            "complete_means": nn.Linear(2 * universal, 2 * universal),
            "complete_sentences": nn.Linear(2 * dimensions, 2 * dimensions),
        }

    def loss(self, context: Context, data: TrainingData, sampler: Sampler) -> Loss:
        own = self.settings
        return SMALRLoss(self.aligned(sampler, context), own.mask, own.mask_weight, own.masked_matching)


@dataclass(frozen=True)
class SMALRLoss:
    """MULE's losses, and those of captions of which some words are masked; weights as in the settings."""

    aligned: AlignedLoss
    mask: float
    mask_weight: float
    masked_matching: float

    def __call__(self, encoders: Encoders, data: TrainingData, batch: DeviceBatch) -> Tensor:
        """Of the kinds "align", what concerns universal embeddings alone, and "every", all losses."""
        grounded = self.aligned.grounded
        text, n = cast(UniversalEncoder, encoders.text), batch.rows.shape[1]
        ids, lengths, real = grounded.captions(data, batch)
        shared = grounded.shared(data, batch)
        words = text.words(ids, frozen=batch.kind == "align").float()
        hidden = masked_words(lengths, batch.longest, self.mask)
        there = torch.arange(batch.longest, device=lengths.device) < lengths[..., None]
        with torch.autocast(words.device.type, enabled=False):
            means, masked_means = means_of(words, torch.stack([there, there & ~hidden], dim=-2)).unbind(dim=-2)
            guess = self.guessing(masked_means, means, real, encoders.complete_means)
        total = self.aligned.alignment(encoders, means, real, n, batch.step, shared) + guess
        if batch.kind == "align":
            return total
        seen = encoders.picture(data.features[batch.rows[0]])
        both = torch.stack([words, torch.where(hidden[..., None], cast(Tensor, encoders.mask), words)])
        twice = tuple((end, 2 * count) for end, count in batch.packing)
        vectors, masked = text.sentences(both, lengths.expand(2, *lengths.shape), twice)
        with torch.autocast(words.device.type, enabled=False):
            total = total + self.guessing(masked, vectors, real, encoders.complete_sentences)
            total = total + self.masked_matching * grounded.matching(seen, masked, real, batch.step, shared)
        return total + grounded.grounding(encoders, seen, vectors, real, batch.step, shared)

    def guessing(self, masked: Tensor, whole: Tensor, real: Tensor, layer: Tensor | nn.Module) -> Tensor:
        """λ·L_mask of one way to see captions, [languages, captions, d]."""
        linear = cast(nn.Linear, layer)
        return self.mask_weight * completion(masked, whole, real, linear.weight, linear.bias)


def means_of(words: Tensor, wanted: Tensor) -> Tensor:
    """[…, longest, d] and […, k, longest] → […, k, d] the means of the wanted words, of which there must be one."""
    return (wanted / wanted.sum(dim=-1, keepdim=True)) @ words
