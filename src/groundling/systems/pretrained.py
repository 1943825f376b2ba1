"""A pretrained model as it is, beside trained ones: a row of a table that is evaluated, and not trained.

CLIP (Radford et al. 2021, https://arxiv.org/abs/2103.00020) and the models that came after it; see `model.pair_types`.

>>> from groundling import systems
>>> systems.make({"name": "pretrained", "prompt": "a photo of {}"}).settings.model
'clip-multilingual'
"""

from typing import ClassVar, Literal, NoReturn

from pydantic import Field

from groundling.batches import Sampler, TrainingData
from groundling.batches.stage import Loss
from groundling.encoders.text import TextChoice
from groundling.errors import UserError
from groundling.settings import Settings
from groundling.systems.base import System, register
from groundling.systems.plan import Context


class PretrainedSettings(Settings):
    name: Literal["pretrained"] = "pretrained"
    model: str = Field("clip-multilingual", description="the model, by its folder, its name on the hub, or a short one")
    text_model: str | None = Field(None, description="its text side, where that is another model")
    prompt: str | None = Field(None, description="what it is given in the place of each caption: a photo of {}")


@register
class Pretrained(System):
    name = "pretrained"
    paper = "Radford et al. 2021 (CLIP) and others"
    Settings: ClassVar = PretrainedSettings
    settings: PretrainedSettings

    def check_trains(self) -> None:
        self._refuse()

    @property
    def text_encoder(self) -> TextChoice:
        return self._refuse()

    def sampler(self, context: Context, data: TrainingData) -> Sampler:
        return self._refuse()

    def loss(self, context: Context, data: TrainingData, sampler: Sampler) -> Loss:
        return self._refuse()

    def _refuse(self) -> NoReturn:
        raise UserError(
            f"system pretrained is used as it is, and not trained: `groundling evaluate {self.settings.model}`, or a "
            "row of a table"
        )
