"""Ours: one model of all languages, trained with what the papers here teach, taken together.

Every step holds pictures with captions in several languages, all languages drawn evenly whatever their number of
captions. Captions and pictures find each other, and captions each other across languages (the caption–caption ranking
of Kádár et al. 2018), all by InfoNCE with one learned temperature. Sentences without pictures teach the text side what
few captions cannot. Noise and dropout on standardised features, or other parts of the pictures in each step, and the
moving average of the weights hold against learning by heart. With `tune` the picture network itself is trained along.

>>> from groundling import systems
>>> systems.make({"name": "polyglot"}).takes_teachers
True
"""

from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, ClassVar, Literal, cast

import numpy as np
import torch
from pydantic import Field, PositiveFloat, PositiveInt, model_validator
from torch import Tensor

from groundling.batches import Sampler, TrainingData
from groundling.batches.mixed_languages import MixedLanguageSampler
from groundling.batches.stage import Loss
from groundling.encoders import picture as pictures
from groundling.encoders import text as captions
from groundling.encoders.pair import Encoders
from groundling.encoders.picture import PictureChoice, StandardisedEncoder
from groundling.encoders.settings import Named
from groundling.encoders.text import TextChoice
from groundling.encoders.text.sentence_map import sentence_vectors
from groundling.encoders.tokenisers.use import LANGUAGES, UseTokeniser
from groundling.encoders.tuned import TunedEncoders
from groundling.errors import UserError, did_you_mean
from groundling.objectives.info_nce import InfoNCE
from groundling.objectives.mixed_languages import Look, MixedLanguageLoss
from groundling.objectives.objective import AnyObjective, completed
from groundling.settings import Settings
from groundling.systems.base import System, register
from groundling.systems.plan import Context, Plan
from groundling.text import Tokeniser
from groundling.vision.augmentation import Cropping

#: Noise on standardised features, where a recipe says none: much where every step sees the same ones.
NOISE = {"one view": 0.7, "views": 0.3, "tuned": 0.0}
#: Text encoders that are called by a name of their own here.
TEXTS = {"words": "projected_max", "ngrams": "bag"}


class PolyglotSettings(Settings):
    name: Literal["polyglot"] = "polyglot"
    text: Named = Field(
        "words",
        description="how captions are read: words by a GRU; ngrams: a bag of words and their letters, for names; any "
        "other text encoder: its name, or {name: …, and its own settings}",
    )
    dimensions: PositiveInt = Field(512, description="of the shared space")
    word_dimensions: PositiveInt = 128
    hidden: PositiveInt = Field(448, description="dimensions of each direction's recurrent state")
    buckets: PositiveInt = Field(2**15, description="rows for hashed n-grams")
    dropout: float = Field(0.3, ge=0, lt=1, description="of word vectors and of what is pooled")
    word_dropout: float = Field(0.1, ge=0, lt=1, description="how often a word is read as the unknown one in training")
    picture_dropout: float = Field(0.3, ge=0, lt=1, description="of the picture's features")
    noise: float | None = Field(
        None, ge=0, description="on the standardised features; left out: 0.7, or 0.3 with features.views, 0 with tune"
    )
    captions: PositiveInt = Field(4, description="of each picture in a step, in different languages")
    even_languages: bool = Field(True, description="draw languages evenly; false: captions, whatever their language")
    caption_pairs: float = Field(0.5, ge=0, description="weight of captions against captions of the same pictures")
    sentences: PositiveInt = Field(3, description="of each meaning without picture in a step")
    sentence_groups: int = Field(1, ge=0, description="meanings without picture for each picture of a step")
    sentence_pairs: float = Field(0.5, ge=0, description="weight of sentences without pictures")
    objective: AnyObjective = Field(
        InfoNCE(), description="by name, or with settings: {name: info_nce, temperature: 0.05}, which is learned"
    )
    shares: dict[str, PositiveFloat] = Field(
        {},
        description="of a step's pictures by folder, in proportion, where a corpus has pictures in several folders",
    )
    tune: bool = Field(False, description="train the picture network, too; needs the pictures")
    picture_learning_rate: PositiveFloat = Field(2e-4, description="of the picture network, at its highest")
    crop_area: tuple[float, float] = Field((0.2, 1.0), description="of the random parts that a tuned network looks at")
    crop_size: int | None = Field(
        None, ge=32, le=1024, description="pixels of a side of these parts; features.size when left out"
    )
    colour_jitter: float = Field(0.3, ge=0, lt=1, description="of these parts: brightness, contrast, saturation")
    compile: bool = Field(
        False, description="compile the tuned network for a GPU (torch.compile): faster after a minute"
    )
    teacher_weight: float = Field(2.0, ge=0, description="of what the recipe's teachers say, where it names any")
    sentence_teacher: float = Field(
        0.0, ge=0, description="weight of what the Universal Sentence Encoder finds similar in captions (extra `use`)"
    )

    @model_validator(mode="before")
    @classmethod
    def _whole_objective(cls, values: Any) -> Any:
        return completed(cls, values, "objective", {"temperature": "temperature", "margin": "margin"})


@register
class Polyglot(System):
    name = "polyglot"
    paper = "groundling"
    Settings: ClassVar = PolyglotSettings
    settings: PolyglotSettings

    @property
    def reads_text_only(self) -> bool:
        return True

    @property
    def takes_teachers(self) -> bool:
        return True

    # --- its parts

    @property
    def text_encoder(self) -> TextChoice:
        own = self.settings
        words = {"hidden": own.hidden, "dropout": own.dropout, "word_dropout": own.word_dropout}
        special = {"projected_max": words, "bag": {"buckets": own.buckets, "dropout": own.dropout}}
        chosen = TEXTS.get(own.text, own.text) if isinstance(own.text, str) else own.text
        return captions.chosen(chosen, "system.text", special, word_dimensions=own.word_dimensions)

    @property
    def picture_encoder(self) -> PictureChoice:
        return pictures.chosen("standardised", "system", dropout=self.settings.picture_dropout)

    def tokeniser(self, context: Context) -> Tokeniser:
        (encoder, own), corpus = self.text_encoder, context.train.with_text_only()
        return encoder.learn_tokeniser(corpus.texts, corpus.languages.tolist(), context.recipe.text, own)

    def encoders(self, tokeniser: Tokeniser, features: int) -> Encoders:
        encoders = super().encoders(tokeniser, features)
        encoders.objective = self.settings.objective.module()
        return encoders

    def data(self, context: Context, tokeniser: Tokeniser) -> TrainingData:
        return TrainingData.build(context.train.with_text_only(), context.train.features, tokeniser, context.device)

    def sampler(self, context: Context, data: TrainingData) -> Sampler:
        own, training = self.settings, context.recipe.training
        if not own.even_languages:
            data = replace(data, languages=np.zeros_like(data.languages))
        parts = self._parts(context.train.corpus.pictures.tolist())
        groups = own.sentence_groups if own.sentence_pairs else 0
        return MixedLanguageSampler(
            data, training.batch_size, training.seed, own.captions, own.sentences, groups, *parts
        )

    def loss(self, context: Context, data: TrainingData, sampler: Sampler) -> Loss:
        own, drawn = self.settings, cast(MixedLanguageSampler, sampler)
        return MixedLanguageLoss(
            drawn.captions,
            drawn.sentences,
            self._look(context, data),
            own.caption_pairs,
            own.sentence_pairs,
            context.teachers,
            own.teacher_weight,
            self._told(context) if own.sentence_teacher else None,
            own.sentence_teacher,
        )

    # --- a training

    def check(self, context: Context) -> None:
        super().check(context)
        if self.settings.tune and context.train.corpus.root is None:
            self._tuning(context).decode(context.train.corpus)  # says what is missing

    def prepare(self, context: Context) -> None:
        if self.settings.tune:
            for part in (context.train, context.dev):
                self._tuning(context).decode(part.corpus)

    def setup(self, context: Context) -> Plan:
        plan = super().setup(context)
        encoders, stage = plan.encoders, plan.stage
        picture = cast(StandardisedEncoder, encoders.picture)
        picture.fit(stage.data.features)
        picture.noise = self._noise(context)
        if not self.settings.tune:
            return plan
        from groundling.vision.tuning import features_of

        tuning = self._tuning(context)
        store, dev = tuning.store(context.train.corpus), tuning.store(context.dev.corpus)
        tuned = TunedEncoders(encoders, tuning.network).to(context.device)
        cropping, features = tuning.cropping, context.recipe.features

        def look(encoders: Encoders, rows: Tensor) -> Tensor:
            return tuning.run(store.random(rows, cropping))

        rate = self.settings.picture_learning_rate / context.recipe.training.learning_rate
        stage = replace(
            stage,
            module=tuned,
            loss=replace(cast(MixedLanguageLoss, stage.loss), look=look),
            rates={"network.": rate},
            bring=lambda batch: store.stage(batch.rows[0]),
        )
        return replace(plan, stage=stage, dev_features=lambda _: features_of(tuning.network, dev, features))

    def _look(self, context: Context, data: TrainingData) -> Look:
        if context.train.views is None:
            return lambda encoders, rows: data.features[rows]
        views = torch.from_numpy(context.train.views).to(context.device)  # [pictures, views, dim] float16

        def look(encoders: Encoders, rows: Tensor) -> Tensor:
            return views[rows, torch.randint(views.shape[1], rows.shape, device=rows.device)].float()

        return look

    def _told(self, context: Context) -> Tensor:
        """[captions, 512] of the training captions that have pictures, as the Universal Sentence Encoder has them."""
        corpus = context.train.corpus
        known = np.flatnonzero(np.isin(corpus.languages, LANGUAGES))
        tokens = UseTokeniser.build().encode(
            [corpus.texts[row] for row in known.tolist()], corpus.languages[known].tolist()
        )
        found = sentence_vectors(torch.from_numpy(cast(Any, tokens.spellings))).half()
        vectors = found.new_zeros(len(corpus.texts), found.shape[1])  # zero where it does not know the language
        vectors[torch.from_numpy(known)] = found[torch.from_numpy(tokens.ids[:, 0]).long()]
        return vectors.to(context.device)

    def _noise(self, context: Context) -> float:
        if self.settings.noise is not None:
            return self.settings.noise
        return NOISE["tuned" if self.settings.tune else "one view" if context.train.views is None else "views"]

    def _tuning(self, context: Context) -> Any:
        from groundling.vision.tuning import Tuning

        own = self.settings
        cropping = Cropping(area=own.crop_area, jitter=own.colour_jitter, side=own.crop_size or 0)
        return Tuning(context.recipe.features, context.device, cropping, own.compile)

    def _parts(self, pictures: list[str]) -> tuple[()] | tuple[list[Any], list[float]]:
        """Rows of pictures by folder, and the share of each, as the settings ask for."""
        if not self.settings.shares:
            return ()
        folders = np.array([PurePosixPath(name).parts[0] for name in pictures])
        known = sorted(set(folders.tolist()))
        for folder in self.settings.shares:
            if folder not in known:
                raise UserError(f'system.shares: no training picture lies in "{folder}"{did_you_mean(folder, known)}')
        missing = sorted(set(known) - set(self.settings.shares))
        if missing:
            raise UserError(f'system.shares: says nothing of the pictures in "{missing[0]}"')
        return [np.flatnonzero(folders == folder) for folder in self.settings.shares], list(
            self.settings.shares.values()
        )
