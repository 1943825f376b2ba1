"""CLIP-VE: is a sentence true of a picture? A head on the vectors of both.

Ziyi Xu 2024, "CLSEAVE: A method for cross-lingual transfer learning in visual entailment" (master's thesis, Leiden
University), section 3.1, on CLIP (Radford et al. 2021, https://arxiv.org/abs/2103.00020):

    label = head([h, p, |h − p|, h∘p]),   h and p the unit vectors of sentence and picture,   loss: cross-entropy

As published, both encoders are CLIP's, the picture encoder frozen: `text: pretrained`, `picture: given` with features
that are CLIP's own (`features.projected`). Ours: any text encoder and any backbone; pictures as a grid of cells that
the head looks at one by one (`picture: cells`), for statements about number and place; and encoders that retrieval has
trained (`start` in the recipe), which is to us what its training is to CLIP.

>>> from groundling import systems
>>> systems.make({"name": "clip_ve"}).task
'entailment'
"""

from typing import Any, ClassVar, Literal, cast

from pydantic import Field, PositiveInt, model_validator
from torch import Tensor

from groundling.batches import DeviceBatch, LanguageSampler, Sampler, TrainingData
from groundling.batches.stage import Loss
from groundling.encoders import picture as pictures
from groundling.encoders import text as captions
from groundling.encoders.pair import Encoders, JudgingEncoders
from groundling.encoders.picture import BlankPictures, PictureChoice
from groundling.encoders.settings import Named, Specials
from groundling.encoders.text import TextChoice
from groundling.errors import UserError
from groundling.objectives.entailment import entailment_loss
from groundling.settings import Settings, notice
from groundling.systems.base import System, register
from groundling.systems.plan import Context, Start
from groundling.text import Tokeniser

TABLES = {"last": "recurrent", "ends": "bidirectional", "max": "max_pooled"}  # text: words, by pooling


class ClipVESettings(Settings):
    name: Literal["clip_ve"] = "clip_ve"
    dimensions: PositiveInt = Field(512, description="of the space that sentences and pictures are compared in")
    text: Named = Field(
        "words",
        description="words: GRUs over a table of words, by pooling; characters: words from their letters (LIWE); "
        "pretrained: a transformers encoder; any other text encoder: its name, or {name: …, and its own settings}",
    )
    word_dimensions: PositiveInt = Field(300, description="of a word vector (text: words, characters)")
    pooling: Literal["max", "last", "ends", "first", "mean"] | None = Field(
        None,
        description="how words become a sentence; words, characters: max (the default): the largest of each entry over "
        "the words, from both ends (InferSent); last: as vse, lessons and liwe do; ends: as clmr with that pooling; "
        "pretrained: last (the default): final [SEP], or CLIP's end of text; first: [CLS]; mean",
    )
    character_dimensions: PositiveInt = Field(24, description="of a letter's vector (text: characters)")
    layers: list[PositiveInt] = Field([384, 384], description="layers from letters to a word (text: characters)")
    encoder: str = Field(
        "openai/clip-vit-base-patch16",
        description="text: pretrained: its name on the hub, or a folder that holds it (safetensors only)",
    )
    train_text: bool = Field(True, description="train the text encoder; false: the head alone learns from sentences")
    picture: Named = Field(
        "linear",
        description="linear: one layer on the features; cells: each cell of a grid by itself (features.grid), with "
        "another head; given: features that are in the text encoder's space already (features.projected); any other "
        "picture encoder: its name, or {name: …, and its own settings}",
    )
    train_picture: bool = Field(True, description="false as published: for CLIP's own features, or after a `start`")
    cells: PositiveInt = Field(9, description="picture: cells: how many a picture has, features.grid squared")
    cell_dimensions: PositiveInt = Field(64, description="picture: cells: what is kept of a cell")
    questions: PositiveInt = Field(4, description="picture: cells: what a sentence asks of each cell")
    sees_pictures: bool = Field(True, description="false: every picture is blank, to see what the words give away")
    hidden: PositiveInt = Field(128, description="of both hidden layers of the head")
    dropout: float = Field(0.1, ge=0, lt=1, description="of the head")

    @model_validator(mode="after")
    def _known_pooling(self) -> "ClipVESettings":
        if self.text == "words" and self.pooling not in (None, *TABLES):
            raise ValueError(f"text: words has the poolings {', '.join(TABLES)}, not {self.pooling}")
        return self

    @model_validator(mode="before")
    @classmethod
    def _old_names(cls, values: Any) -> Any:
        """`reading` was how words become a sentence, `pooling` the same of a pretrained encoder; each said nothing of
        the other's."""
        if not isinstance(values, dict) or "reading" not in values:
            return values
        kept = {key: value for key, value in values.items() if key != "reading"}
        notice("system.reading", "system.pooling")
        return kept if values.get("text") == "pretrained" else {**kept, "pooling": values["reading"]}


@register
class ClipVE(System):
    name = "clip_ve"
    paper = "Xu 2024 (CLIP-VE); head as InferSent, Conneau et al. 2017"
    Settings: ClassVar = ClipVESettings
    settings: ClipVESettings

    @property
    def task(self) -> Literal["retrieval", "entailment"]:
        return "entailment"

    @property
    def takes_start(self) -> bool:
        return True

    @property
    def text_encoder(self) -> TextChoice:
        own = self.settings
        pooling = {} if own.pooling is None else {"pooling": own.pooling}
        letters = {"character_dimensions": own.character_dimensions, "layers": own.layers}
        special: Specials = {
            "bidirectional": pooling,
            "characters": {**letters, "pooling": "max", **pooling},
            "pretrained": {"encoder": own.encoder, **pooling},
        }
        chosen = TABLES[own.pooling or "max"] if own.text == "words" else own.text
        return captions.chosen(chosen, "system.text", special, word_dimensions=own.word_dimensions)

    @property
    def picture_encoder(self) -> PictureChoice:
        own = self.settings
        cells = {"cells": own.cells, "cell_dimensions": own.cell_dimensions, "questions": own.questions}
        return pictures.chosen("grid" if own.picture == "cells" else own.picture, "system.picture", {"grid": cells})

    def encoders(self, tokeniser: Tokeniser, features: int) -> JudgingEncoders:
        own, (text, read), (picture, seen) = self.settings, self.text_encoder, self.picture_encoder
        frozen = [name for name, trained in (("text", own.train_text), ("picture", own.train_picture)) if not trained]
        reads = text.of(tokeniser, own.dimensions, read)
        looks = (
            picture.of(features, own.dimensions, seen)
            if own.sees_pictures
            else BlankPictures(features, picture.vector_size(own.dimensions, seen))
        )
        head = picture.head(own.dimensions, seen, own.hidden, own.dropout)
        return JudgingEncoders(reads, looks, head, tuple(frozen))

    def data(self, context: Context, tokeniser: Tokeniser) -> TrainingData:
        """Statements in the place of captions, with their classes."""
        part = context.train
        return TrainingData.build(part.corpus, part.features, tokeniser, context.device, part.corpus.classes())

    def warm_start(self, encoders: Encoders, tokeniser: Tokeniser, context: Context, start: Start) -> None:
        """Both encoders of a run that has the same kind of them; words that it has not met begin at random."""
        for side, fitting in (
            ("text", "dimensions, word_dimensions, text and pooling"),
            ("picture", "features, dimensions and system.picture"),
        ):
            try:
                getattr(encoders, side).warm_start(getattr(start.encoders, side))
            except ValueError:
                raise UserError(
                    f"start: the {side} encoder of this {start.system.name} run is of another kind or size; {fitting} "
                    "must fit it"
                ) from None
        if start.encoders.judges:
            ours, theirs = cast(JudgingEncoders, encoders), cast(JudgingEncoders, start.encoders)
            ours.head.load_state_dict(theirs.head.state_dict())

    def sampler(self, context: Context, data: TrainingData) -> Sampler:
        """All languages in one stream: batch normalisation sees them together."""
        training = context.recipe.training
        return LanguageSampler(data, training.batch_size, training.seed, [data.codes], 0.0, training.length_pool)

    def loss(self, context: Context, data: TrainingData, sampler: Sampler) -> Loss:
        return judging_loss


def judging_loss(encoders: JudgingEncoders, data: TrainingData, batch: DeviceBatch) -> Tensor:
    """Statements, then the picture that each is about."""
    assert data.classes is not None  # noqa: S101 (made above)
    statements, pictures = batch.rows
    sentences = encoders.text(*data.captions(statements, batch.longest))
    seen = encoders.picture(data.features[pictures])
    return entailment_loss(encoders.head(sentences, seen), data.classes[statements])
