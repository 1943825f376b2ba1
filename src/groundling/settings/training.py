"""How long, how fast and with what a model is trained, and how it is validated."""

from typing import ClassVar, Literal

from pydantic import Field, PositiveFloat, PositiveInt

from groundling.settings.base import Settings


class TrainingSettings(Settings):
    group = "training"
    former: ClassVar = {"score": "validation_language", "measure": "validation_metric"}

    batch_size: int = Field(128, ge=2)
    length_pool: PositiveInt = Field(
        64, description="batches sorted together by caption length; 1 leaves captions of all lengths in a batch"
    )
    learning_rate: PositiveFloat = 2e-4
    decay_after: PositiveInt | None = Field(None, description="divide the learning rate by ten after this many epochs")
    decay_repeats: bool = Field(
        False, description="and again after every further `decay_after` epochs, as released code of VSE++ does"
    )
    decay_to: float = Field(
        1.0, gt=0, le=1, description="decay to this share of the learning rate at the last step, along `decay`"
    )
    decay: Literal["cosine", "linear"] = Field(
        "cosine", description="linear: a straight line down from the end of the warm-up, as transformers' own schedule"
    )
    warm_up: float = Field(0.0, ge=0, lt=1, description="share of the steps over which the learning rate rises from 0")
    optimiser: Literal["adam", "adamw"] = Field("adam", description="adamw: weight decay apart from the gradient")
    weight_decay: float = Field(0.0, ge=0)
    moving_average: float | None = Field(
        None, ge=0, lt=1, description="validate and keep the average of the weights over the steps, decaying so fast"
    )
    clip: PositiveFloat | None = Field(2.0, description="largest norm of the gradient; none: any")
    validate_every: PositiveInt | Literal["epoch"] = Field(
        500, description="steps between two validations, or `epoch`: as many as go once through the captions"
    )
    patience: PositiveInt = Field(10, description="validations without a better score before training stops")
    maximum_steps: PositiveInt = 100_000
    validation_language: str = Field(
        "all", description="what validation looks at: all languages together, or one by its code"
    )
    validation_metric: str = Field(
        "usual",
        description="the metric that validation compares by (`groundling recipes` lists them): usual: rsum of pictures "
        "and captions, accuracy of judged statements; loss: that of statements, which with patience 1 stops training "
        "when it first rises",
    )
    precision: Literal["auto", "bf16", "float32"] = Field("auto", description="auto: bf16 where the device has it")
    encode_at_once: PositiveInt | None = Field(
        None,
        description="captions, or pictures, of a batch that are encoded together; each such part is encoded again for "
        "its gradient, so that memory does not grow with batch_size; none: the whole batch",
    )
    seed: int = Field(0, ge=0)
