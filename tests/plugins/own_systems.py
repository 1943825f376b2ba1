"""An objective, a system and a corpus as somebody else would write them, outside of the package."""

from pathlib import Path
from typing import ClassVar, Literal, cast

import numpy as np
import torch
from PIL import Image
from pydantic import Field, PositiveFloat
from torch import Tensor, nn
from torch.nn.functional import softplus

from groundling.batches import DeviceBatch, LanguageSampler, Sampler, TrainingData
from groundling.batches.stage import Loss, Stage
from groundling.corpus import Corpus, Entry
from groundling.encoders import text as captions
from groundling.encoders.text import TextChoice
from groundling.objectives import Objective
from groundling.objectives.objective import AnyObjective
from groundling.objectives.ranking import RankingLoss
from groundling.settings import Settings, TrainingSettings
from groundling.systems import Context, Plan, System


class PairwiseSigmoid(Objective):
    """Every pair is judged by itself (SigLIP, Zhai et al. 2023): log(1 + exp(−z·(s / τ + b))), z = ±1."""

    name = "own_sigmoid"
    paper = "Zhai et al. 2023 (SigLIP)"
    temperature: PositiveFloat = Field(0.1, description="that similarities are divided by")
    bias: float = -2.0

    def __call__(self, scores: Tensor, positives: Tensor | None = None, step: Tensor | None = None) -> Tensor:
        own = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
        costs = softplus(torch.where(own, -1.0, 1.0) * (scores / self.temperature + self.bias))
        if positives is not None:
            costs = costs.masked_fill(positives & ~own, 0)
        return costs.sum() / len(scores)


class WhitenedSettings(Settings):
    name: Literal["own_whitened"] = "own_whitened"
    dimensions: int = Field(16, ge=1)
    warm_up_steps: int = Field(20, ge=1, description="of the stage that comes before the model")
    objective: AnyObjective = PairwiseSigmoid()


class Shift(nn.Module):
    """What is learned before: the mean of the pictures' features."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.mean = nn.Parameter(torch.zeros(features))


class Whitened(System):
    """A system that writes its own setup: first it learns where the middle of the features is, then a model."""

    name = "own_whitened"
    paper = "nobody"
    Settings: ClassVar = WhitenedSettings
    settings: WhitenedSettings

    @property
    def text_encoder(self) -> TextChoice:
        return captions.chosen("recurrent", "system.text", word_dimensions=8)

    def setup(self, context: Context) -> Plan:
        tokeniser = self.tokeniser(context)
        data = self.data(context, tokeniser)
        shift = Shift(self.features(context))
        settings = TrainingSettings(learning_rate=0.1, maximum_steps=self.settings.warm_up_steps, precision="float32")
        context.learn(Stage("own middle", shift, data, self.sampler(context, data), distance, settings))
        encoders = self.encoders(tokeniser, self.features(context)).to(context.device)
        with torch.no_grad():
            layer = cast(nn.Linear, encoders.picture.project)
            layer.bias.copy_(-(layer.weight @ shift.mean))
        sampler = self.sampler(context, data)
        loss = self.loss(context, data, sampler)
        stage = Stage("training", encoders, data, sampler, loss, context.recipe.training)
        return Plan(self, tokeniser, stage, "retrieval")

    def sampler(self, context: Context, data: TrainingData) -> Sampler:
        return LanguageSampler(data, context.recipe.training.batch_size, context.seed, [data.codes])

    def loss(self, context: Context, data: TrainingData, sampler: Sampler) -> Loss:
        return RankingLoss(self.settings.objective)


def distance(shift: Shift, data: TrainingData, batch: DeviceBatch) -> Tensor:
    return (data.features[batch.rows[1]] - shift.mean).square().mean()


def _flags(data: Path) -> Corpus:
    """Six flags of one colour each."""
    colours = ["red", "green", "blue", "yellow", "white", "black"]
    for colour in colours:
        Image.new("RGB", (8, 8), colour).save(data / f"{colour}.png")
    return Corpus(
        name="own_flags",
        pictures=np.array([f"{colour}.png" for colour in colours]),
        splits=np.array(["train", "train", "dev", "dev", "test", "test"]),
        owners=np.arange(6),
        languages=np.array(["en"] * 6),
        texts=[f"a {colour} flag" for colour in colours],
        origins=np.array(["human"] * 6),
        root=data,
    )


FLAGS = Entry("six flags of one colour each", "flags", _flags)
