"""Multilingual training with caption–caption ranking.

Kádár, Elliott, Côté, Chrupała and Alishahi 2018, "Lessons learned in multilingual grounded language learning"
(https://arxiv.org/abs/1809.07615): one model for all languages; at each step either a batch of one language against its
pictures, or caption pairs across languages.

>>> from groundling import systems
>>> systems.make({"name": "lessons", "caption_pairs": 0.3}).settings.objective
MaxOfHinges(margin=0.2, warm_up_steps=0)
"""

from typing import ClassVar, Literal

from pydantic import Field

from groundling.batches import LanguageSampler, Sampler, TrainingData
from groundling.systems.base import register
from groundling.systems.plan import Context
from groundling.systems.vse import VSE, VSESettings


class LessonsSettings(VSESettings):
    name: Literal["lessons"] = "lessons"  # type: ignore[assignment]
    caption_pairs: float = Field(
        0.5, ge=0, lt=1, description="share of the steps spent on caption–caption ranking (c2c)"
    )
    caption_pairs_after: int = Field(
        1000,
        ge=0,
        description="steps on pictures alone before caption–caption ranking starts; 0 as published: of our trainings "
        "of two languages none of three collapsed into one point on fixed sides, but took twice as long, and two of "
        "three did on random ones; of seven languages four of six did on fixed sides, all three on random ones",
    )
    caption_pair_sides: Literal["random", "fixed"] = Field(
        "random",
        description="fixed: the captions of a pair stand in the order of their languages, as published, so that with "
        "two languages a caption only competes with captions of the other one; random: on either side",
    )


@register
class Lessons(VSE):
    """Tasks and languages take turns at random; all parameters are shared."""

    name = "lessons"
    paper = "Kádár et al. 2018"
    Settings: ClassVar = LessonsSettings
    settings: LessonsSettings

    def sampler(self, context: Context, data: TrainingData) -> Sampler:
        training = context.recipe.training
        each = [[code] for code in data.codes]
        own = self.settings
        return LanguageSampler(
            data,
            training.batch_size,
            training.seed,
            each,
            own.caption_pairs,
            training.length_pool,
            own.caption_pairs_after,
            swap_pairs=own.caption_pair_sides == "random",
        )
