"""The text side of a pretrained model learns further languages itself, gently: the old ones are held where they are.

    loss = ‖tuned(new sentence) − teacher(known one)‖²  +  held · ‖tuned(known one) − teacher(known one)‖²

each as a share of the teacher's spread (see `objectives.distillation`). The first part is the distillation of Reimers &
Gurevych 2020, "Making monolingual sentence embeddings multilingual using knowledge distillation"
(https://arxiv.org/abs/2004.09813), where student and teacher also begin as one; so is the second, for the source
language. The teacher is the model as it was; its vectors are computed once. The picture side stays as it is.

>>> from groundling import systems
>>> systems.make({"name": "tuned_text"}).settings.text.adapter
'lora'
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, cast

import torch
from pydantic import Field
from torch import Tensor

from groundling.batches import DeviceBatch, Sampler, TrainingData
from groundling.batches.distillation import DistillationData, DistillationSampler
from groundling.batches.ragged import Ragged
from groundling.batches.stage import Loss
from groundling.corpus import sentence_pairs
from groundling.dataset import Dataset
from groundling.encoders import picture as pictures
from groundling.encoders.pair import Encoders
from groundling.encoders.picture import PictureChoice
from groundling.encoders.text import SideEncoder, TextChoice
from groundling.encoders.text.side import SideSettings
from groundling.errors import UserError
from groundling.objectives.distillation import unexplained
from groundling.settings import Settings
from groundling.systems.base import register
from groundling.systems.plan import Context, Plan, Start, Validation
from groundling.systems.student_data import PairSettings, pairs_of, sample, student_data
from groundling.systems.tuned import Tuned
from groundling.text import Tokeniser


class TunedTextSettings(PairSettings, Settings):
    name: Literal["tuned_text"] = "tuned_text"
    text: SideSettings = Field(SideSettings(adapter="lora"), description="what is trained of the text side")
    held: float = Field(1.0, ge=0, description="weight of the old languages' distance to where they were")


@register
class TunedText(Tuned):
    name = "tuned_text"
    paper = "Reimers & Gurevych 2020 (multilingual distillation); Hu et al. 2021 (LoRA)"
    Settings: ClassVar = TunedTextSettings  # type: ignore[assignment]
    settings: TunedTextSettings  # type: ignore[assignment]  # it names no model: that is the recipe's start

    @property
    def start_model(self) -> None:
        return None

    @property
    def needs_start(self) -> bool:
        return True

    @property
    def validation(self) -> Validation:
        return "agreement"

    @property
    def text_encoder(self) -> TextChoice:
        return SideEncoder, self.settings.text

    @property
    def picture_encoder(self) -> PictureChoice:
        return pictures.chosen("given", "system.picture")

    def material(self, dataset: Dataset, start: Start | None) -> Dataset:
        if start is None:  # before the model is there, nobody knows which languages are new
            return super().material(dataset, start)
        if start.system.name not in ("tuned", self.name) or start.encoders.picture.state_dict().keys() - {"width"}:
            raise UserError(
                "student own tunes the text side of a pretrained model, and this teacher has another; choose a student "
                "that reads beside it"
            )
        return student_data(
            self.settings,
            dataset,
            start,
            self.task,
            lambda _: None,
            lambda pairs: sentence_pairs.as_corpus(pairs.name, []),
        )

    def features(self, context: Context) -> int:
        assert context.start is not None  # noqa: S101 (needed)
        return context.start.encoders.picture.features

    # --- how it learns

    def check(self, context: Context) -> None:
        _ = self.text_encoder  # its settings

    def setup(self, context: Context) -> Plan:
        plan = super().setup(context)
        data, sampler = cast(DistillationData, plan.data), cast(DistillationSampler, plan.stage.sampler)
        stage = replace(plan.stage, bring=lambda batch: data.bring(batch, sampler.soon))
        source = pairs_of(context)
        known = source.known if context.start is None else [*context.start.languages] or source.known
        return replace(plan, stage=stage, sample=sample(context, plan.tokeniser), languages=[*known, *source.new])

    def tuning_pictures(self, plan: Plan, context: Context) -> Plan:
        """There are none."""
        return plan

    def data(self, context: Context, tokeniser: Tokeniser) -> TrainingData:
        """New sentences, and the known ones beside them, all read by the same side."""
        assert context.start is not None  # noqa: S101 (needed)
        pairs = pairs_of(context).split("train")
        tokens = Ragged.cut(tokeniser, pairs.new, pairs.languages, pairs.folder)
        known = Ragged.cut(tokeniser, pairs.known, pairs.known_languages, pairs.folder)
        return DistillationData.of(pairs, tokens, context.start.vectors(pairs), context.device, known)

    def sampler(self, context: Context, data: TrainingData) -> Sampler:
        training = context.recipe.training
        return DistillationSampler(
            cast(DistillationData, data), training.batch_size, training.seed, training.length_pool
        )

    def loss(self, context: Context, data: TrainingData, sampler: Sampler) -> Loss:
        return HeldLoss(self.settings.held)


@dataclass(frozen=True)
class HeldLoss:
    """Of batches of the kind "lesson" in which known sentences are read, too."""

    held: float

    def __call__(self, encoders: Encoders, data: TrainingData, batch: DeviceBatch) -> Tensor:
        here = cast(DistillationData, data).here(batch.rows, batch.longest)
        said = encoders.text(here.ids, here.lengths)
        with torch.autocast(said.device.type, enabled=False):
            new, old = said.float().chunk(2)
            return unexplained(new, here.targets) + self.held * unexplained(old, here.targets)
