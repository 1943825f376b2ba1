"""A pretrained pair, tuned on one's own captions: an adapter on either side, or all of a side.

Locked-image tuning, in which the picture side stays as it is: Zhai et al. 2022, "LiT: Zero-shot transfer with
locked-image text tuning", https://arxiv.org/abs/2111.07991. That is `picture: {adapter: frozen}`, the default.

>>> from groundling import systems
>>> tuned = systems.make({"name": "tuned", "start": "openai/clip-vit-base-patch32", "text": {"adapter": "lora"}})
>>> tuned.settings.picture.adapter
'frozen'
"""

from dataclasses import replace
from typing import ClassVar, Literal, cast

from pydantic import Field, PositiveInt
from torch import Tensor

from groundling.batches import LanguageSampler, Sampler, TrainingData
from groundling.batches.stage import Loss
from groundling.encoders import lora
from groundling.encoders import picture as pictures
from groundling.encoders.pair import Encoders
from groundling.encoders.picture import PictureChoice
from groundling.encoders.picture.network import PictureNetwork
from groundling.encoders.text import SideEncoder, TextChoice
from groundling.encoders.text.side import SideSettings
from groundling.encoders.tuned import TunedEncoders
from groundling.objectives import Contrastive
from groundling.objectives.objective import AnyObjective
from groundling.objectives.ranking import RankingLoss
from groundling.settings import Settings
from groundling.systems.base import System, register
from groundling.systems.plan import Context, Plan, Start
from groundling.text import Tokeniser

PICTURES = {"frozen": "given", "linear": "adapted", "lora": "given", "full": "given"}


class PictureTuning(Settings):
    adapter: Literal["frozen", "linear", "lora", "full"] = Field(
        "frozen",
        description="frozen: as it is (locked-image tuning); linear: a square layer behind it; lora: low-rank changes "
        "of all its layers (extra `tune`); full: all of it is trained",
    )
    rank: PositiveInt = Field(16, description="of lora")


class TunedSettings(Settings):
    name: Literal["tuned"] = "tuned"
    start: str = Field(
        "openai/clip-vit-base-patch32", description="the pretrained model: its name on the hub, or its folder"
    )
    text: SideSettings = Field(SideSettings(adapter="linear"), description="what is trained of the text side")
    picture: PictureTuning = Field(PictureTuning(), description="what is trained of the picture side")
    objective: AnyObjective = Field(Contrastive(), description="by name, or with settings: {name: contrastive, …}")
    mask_false_negatives: bool = Field(
        True, description="a wrong pair of a batch that is right in truth (same picture, or same text) costs nothing"
    )


@register
class Tuned(System):
    """All languages in one stream, each caption against its picture."""

    name = "tuned"
    paper = "Zhai et al. 2022 (LiT: locked-image tuning); Hu et al. 2021 (LoRA)"
    Settings: ClassVar = TunedSettings
    settings: TunedSettings

    @property
    def start_model(self) -> str | None:
        return self.settings.start

    @property
    def keeps_pictures(self) -> bool:
        return True

    # --- its parts

    @property
    def text_encoder(self) -> TextChoice:
        return SideEncoder, self.settings.text

    @property
    def picture_encoder(self) -> PictureChoice:
        return pictures.chosen(PICTURES[self.settings.picture.adapter], "system.picture")

    def tokeniser(self, context: Context) -> Tokeniser:
        assert context.start is not None  # noqa: S101 (it begins as a model)
        return context.start.tokeniser

    def encoders(self, tokeniser: Tokeniser, features: int) -> Encoders:
        (text, read), (picture, seen) = self.text_encoder, self.picture_encoder
        return Encoders(text.of(tokeniser, features, read), picture.of(features, features, seen))

    def warm_start(self, encoders: Encoders, tokeniser: Tokeniser, context: Context, start: Start) -> None:
        """It is made from the files of the model that it begins as; what was tuned of that before is taken over."""
        text = cast(SideEncoder, encoders.text)
        earlier = getattr(start.encoders.text, "trained", False)
        if text.trained and earlier:
            text.network.load_state_dict(cast(SideEncoder, start.encoders.text).network.state_dict())

    # --- how it learns

    def setup(self, context: Context) -> Plan:
        plan = super().setup(context)
        cast(SideEncoder, plan.encoders.text).begin_tuning()
        plan.encoders.to(context.device)
        stage = replace(plan.stage, recordable=False)  # transformers look at the values of masks
        return self.tuning_pictures(replace(plan, stage=stage), context)

    def tuning_pictures(self, plan: Plan, context: Context) -> Plan:
        """The same plan with the picture side trained along, where that is asked for."""
        own = self.settings.picture
        if own.adapter not in ("lora", "full"):
            return plan
        assert context.start is not None and context.start.pictures is not None  # noqa: S101 (it begins as a model)
        side = PictureNetwork.open(context.start.pictures.folder, context.device)
        if own.adapter == "lora":
            lora.inject(side.network, own.rank)
        train, dev = (side.look_at(part.corpus) for part in (context.train, context.dev))

        def look(encoders: Encoders, rows: Tensor) -> Tensor:
            return side.features(train.here)

        stage = replace(
            plan.stage,
            module=TunedEncoders(plan.encoders, side.network).to(context.device),
            loss=replace(cast(RankingLoss, plan.stage.loss), look=look),
            bring=lambda batch: train.bring(batch.rows[1]),
        )
        return replace(plan, stage=stage, dev_features=lambda _: side.features_of(dev))

    def sampler(self, context: Context, data: TrainingData) -> Sampler:
        training = context.recipe.training
        return LanguageSampler(data, training.batch_size, training.seed, [data.codes], 0.0, training.length_pool)

    def loss(self, context: Context, data: TrainingData, sampler: Sampler) -> Loss:
        return RankingLoss(self.settings.objective, self.similarity, self.settings.mask_false_negatives)
