"""SMALR: HEM's words, MULE's losses, and masked cross-language modelling.

Burns, Kim, Wijaya, Saenko and Plummer 2020, "Learning to scale multilingual representations for vision-language tasks"
(seed 001, equation 4):

    L = L_mm + 1e-4·L_mask + 1e-6·L_adv + 5e-2·L_nc,

where masked sentences look for their pictures, too: L_mm is counted for them once more. Consistency across languages
(CLC) comes after training: `groundling evaluate --consistency`.
"""

from typing import ClassVar, Literal, cast

import torch
from pydantic import Field
from torch import Tensor, nn

from groundling.batches import DeviceBatch, TrainingData
from groundling.objectives.masked import completion, masked_words
from groundling.systems.aligned import AlignedTowers
from groundling.systems.base import Towers
from groundling.systems.hem import HEM, HEMSettings
from groundling.text.by_language import LanguageTokeniser
from groundling.towers.universal import UniversalTower


class SMALRSettings(HEMSettings):
    name: Literal["smalr"] = "smalr"  # type: ignore[assignment]
    mask: float = Field(0.2, gt=0, lt=1, description="share of a caption's words that is masked")
    mask_weight: float = Field(1e-4, ge=0, description="of guessing what masked captions lack")
    masked_matching: float = Field(1.0, ge=0, description="of masked captions finding their pictures, and back")


class SMALRTowers(AlignedTowers):
    """With the [MASK], and the layers that complete masked captions: of means of words, and of sentence vectors."""

    def __init__(self, towers: Towers, universal: int, languages: int, dimensions: int) -> None:
        super().__init__(towers, universal, languages)
        self.mask = nn.Parameter(torch.zeros(universal))
        self.complete_means = nn.Linear(2 * universal, 2 * universal)
        self.complete_sentences = nn.Linear(2 * dimensions, 2 * dimensions)


class SMALR(HEM):
    name = "smalr"
    paper = "Burns et al. 2020 (SMALR)"
    Settings: ClassVar = SMALRSettings
    settings: SMALRSettings

    def training_towers(self, towers: Towers, tokeniser: LanguageTokeniser) -> Towers:
        own = self.settings
        return SMALRTowers(towers, own.universal_dimensions, len(tokeniser.codes), own.dimensions)

    def loss(self, towers: Towers, data: TrainingData, batch: DeviceBatch) -> Tensor:
        """Of the kinds "align", what concerns universal embeddings alone, and "every", all losses."""
        assert isinstance(towers, SMALRTowers)  # noqa: S101 (for the type checker)
        own, text, n = self.settings, cast(UniversalTower, towers.text), batch.rows.shape[1]
        ids, lengths, real = self.captions(data, batch)
        words = text.words(ids, frozen=batch.kind == "align").float()
        hidden = masked_words(lengths, batch.longest, own.mask)
        there = torch.arange(batch.longest, device=lengths.device) < lengths[..., None]
        with torch.autocast(words.device.type, enabled=False):
            means, masked_means = means_of(words, torch.stack([there, there & ~hidden], dim=-2)).unbind(dim=-2)
            guess = self.guessing(masked_means, means, real, towers.complete_means)
        total = self.alignment(towers, means, real, n, batch.step) + guess
        if batch.kind == "align":
            return total
        seen = towers.picture(data.features[batch.rows[0]])
        both = torch.stack([words, torch.where(hidden[..., None], towers.mask, words)])
        twice = tuple((end, 2 * count) for end, count in batch.stairs)
        vectors, masked = text.sentences(both, lengths.expand(2, *lengths.shape), twice)
        with torch.autocast(words.device.type, enabled=False):
            total = total + self.guessing(masked, vectors, real, towers.complete_sentences)
            total = total + own.masked_matching * self.matching(seen, masked, real, batch.step)
        return total + self.grounding(towers, seen, vectors, real, batch.step)

    def guessing(self, masked: Tensor, whole: Tensor, real: Tensor, layer: nn.Linear) -> Tensor:
        """λ·L_mask of one way to see captions, [languages, captions, d]."""
        return self.settings.mask_weight * completion(masked, whole, real, layer.weight, layer.bias)


def means_of(words: Tensor, wanted: Tensor) -> Tensor:
    """[…, longest, d] and […, k, longest] → […, k, d] the means of the wanted words, of which there must be one."""
    return (wanted / wanted.sum(dim=-1, keepdim=True)) @ words
