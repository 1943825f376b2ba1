"""What LIWE, CLMR and BERT+GRU share: a loss against pictures plus one between captions, both turning hard.

Wehrmann, Souza, Lopes and Barros 2019, "Language-agnostic visual-semantic embeddings",
https://doi.org/10.1109/ICCV.2019.00590:

    L = J(captions·pictures, ε = .991) + J(base captions·other captions, ε = .91)
    J = (1 − k)·sum of hinges + k·max of hinges,   k = 1 − εᵗ
"""

from typing import Any, Literal

from pydantic import Field, PositiveInt, model_validator

from groundling.batches import BaseLanguageSampler, LanguageSampler, Sampler, TrainingData
from groundling.batches.stage import Loss
from groundling.objectives import HardeningHinges
from groundling.objectives.cross_language import CrossLanguageLoss
from groundling.objectives.objective import AnyObjective, completed
from groundling.settings import Settings
from groundling.systems.base import System
from groundling.systems.plan import Context

#: Objectives, and what the rate of each was once called.
FORMER = {"objective": "hard_rate", "pair_objective": "pair_hard_rate"}


class CrossLanguageSettings(Settings):
    group = "system"
    former = {"spare_positives": "mask_false_negatives"}  # noqa: RUF012

    dimensions: PositiveInt = Field(1024, description="of the shared space, and of the recurrent states")
    pooling: Literal["last", "ends"] = Field(
        "last",
        description="last: both directions at the last word, as published; ends: the backward one at the first word, "
        "where it has read the whole caption",
    )
    objective: AnyObjective = Field(HardeningHinges(), description="of captions and pictures, by name or with settings")
    pair_objective: AnyObjective = Field(HardeningHinges(rate=0.91), description="of captions and captions")
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
    pairs_turn_hard_by: Literal["steps", "own_steps", "batches"] = Field(
        "steps",
        description="what t of caption pairs counts (sampling: base); own_steps: where one other language is drawn, "
        "the steps that it has had, as all have with `every_other`; batches: every batch of pairs, as the one counter "
        "of the released code does, which with `every_other` rises once for each other language in a step",
    )
    caption_pairs: float = Field(
        0.5, ge=0, lt=1, description="share of the steps spent on caption pairs (sampling: lessons)"
    )
    caption_pairs_after: int = Field(1000, ge=0, description="steps before caption pairs start (sampling: lessons)")
    mask_false_negatives: bool = Field(
        False, description="a wrong pair of a batch that is right in truth (same picture, or same text) costs nothing"
    )

    @model_validator(mode="before")
    @classmethod
    def _whole_objectives(cls, values: Any) -> Any:
        if not isinstance(values, dict):
            return values
        both: dict[str, Any] = {}
        for key, former in FORMER.items():
            part = completed(cls, values, key, {"margin": "margin", former: "rate"})
            both |= {key: part[key]} if key in part else {}
        gone = ("margin", *FORMER.values())
        return {**{key: value for key, value in values.items() if key not in gone}, **both}


class CrossLanguage(System):
    """Batches and loss; the systems differ in how a caption becomes word vectors."""

    settings: CrossLanguageSettings

    def sampler(self, context: Context, data: TrainingData) -> Sampler:
        training = context.recipe.training
        own, size, seed, pool = self.settings, training.batch_size, training.seed, training.length_pool
        if own.sampling == "base":
            return BaseLanguageSampler(data, size, seed, own.base, pool, own.every_other)
        pairs = own.caption_pairs if len(data.codes) > 1 else 0.0
        each = [[code] for code in data.codes]
        return LanguageSampler(data, size, seed, each, pairs, pool, pairs_after=own.caption_pairs_after)

    def loss(self, context: Context, data: TrainingData, sampler: Sampler) -> Loss:
        own = self.settings
        turns = None if own.sampling == "base" else (len(data.codes), own.caption_pairs_after)
        by = own.pairs_turn_hard_by if own.sampling == "base" else "steps"
        drawn_from = max(1, len(data.codes) - 1) if by == "own_steps" and not own.every_other else 1
        return CrossLanguageLoss(
            own.objective, own.pair_objective, turns, own.mask_false_negatives, drawn_from, by == "batches"
        )
