"""A model learns further languages from sentences that mean the same: sentence-embedding alignment, CLSEAVE.

Ziyi Xu 2024, "CLSEAVE: A method for cross-lingual transfer learning in visual entailment" (master's thesis, Leiden
University), section 3.3:

    loss = ‖student(sentence in the new language) − teacher(the same in a known one)‖²  (as a share: see the objective;
                                                                                         `distance: mse` as published)

The teacher is any trained run, for retrieval or for entailment, and never changes; pictures are not looked at. Old
languages are read by the teacher as before, new ones by the student, whose vectors lie in the same space, so that all
that the teacher could do with its own languages can be done with the new ones.

The paper's student is mBERT and its teacher CLIP's text encoder; here any encoder can be either.

>>> from groundling import systems
>>> student, judge = systems.make({"name": "clseave"}), systems.make({"name": "clip_ve"})
>>> student.taught_by(judge).task  # it will do what its teacher does
'entailment'
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, cast

import torch
from pydantic import Field, PositiveInt, field_validator
from torch import Tensor

from groundling.batches import DeviceBatch, Sampler, TrainingData
from groundling.batches.distillation import DistillationData, DistillationSampler
from groundling.batches.ragged import Ragged
from groundling.batches.stage import Loss
from groundling.corpus import Corpus, sentence_pairs
from groundling.corpus.pairs import PairStore, SentencePairs
from groundling.corpus.pairs.cached_vectors import CachedVectors
from groundling.dataset import Dataset
from groundling.encoders import text as captions
from groundling.encoders.pair import Encoders
from groundling.encoders.settings import EncoderSettings, Named, Specials
from groundling.encoders.text import TextChoice, TextEncoder
from groundling.encoders.text.taught import TaughtEncoder
from groundling.encoders.tokenisers.taught import TaughtTokeniser
from groundling.objectives.distillation import squared_error, unexplained
from groundling.settings import Settings as AnySettings
from groundling.settings import notice
from groundling.systems.base import System, register
from groundling.systems.plan import Context, Plan, Start, Validation
from groundling.systems.student_data import PairSettings, pairs_of, sample, student_data
from groundling.text import Tokeniser

#: Students that are called by a name of their own; all others are text encoders.
STUDENTS: dict[str, Named] = {
    "words": {"name": "new_words", "reader": "teacher"},
    "encoder": {"name": "new_words", "reader": "own"},
}


class ClseaveSettings(PairSettings, AnySettings):
    name: Literal["clseave"] = "clseave"
    student: Named = Field(
        "encoder",
        description="words: new words before the teacher's reader; encoder: new words and a reader that begins as the "
        "teacher's; characters: words from their letters (LIWE); use: a map from the Universal Sentence Encoder (extra "
        "`use`); hub:NAME or hub:FOLDER: a transformers encoder, mBERT as published; any other text encoder: its name, "
        "or {name: …, and its own settings}",
    )
    distance: Literal["share", "mse"] = Field(
        "share",
        description="share: of the teacher's spread, between unit vectors; mse: the mean squared error of vectors as "
        "they are before they have unit length, as published",
    )
    dropout: float = Field(0.1, ge=0, lt=1, description="of the student's word vectors (not: hub)")
    word_dimensions: PositiveInt = Field(300, description="of new words, where the teacher has no reader to fit")
    character_dimensions: PositiveInt = Field(24, description="of a letter's vector (student: characters)")
    layers: list[PositiveInt] = Field([384, 384], description="layers from letters to a word (student: characters)")
    hidden: PositiveInt = Field(1024, description="of the map (student: use)")
    train_encoder: bool = Field(True, description="train the encoder too, as published (student: hub)")

    @field_validator("student", mode="before")
    @classmethod
    def _old_name(cls, value: Any) -> Any:
        if value != "tower":
            return value
        notice("system.student: tower", "encoder")
        return "encoder"

    @field_validator("student")
    @classmethod
    def _known_student(cls, value: Named) -> Named:
        name = value if isinstance(value, str) else str(value.get("name"))
        if name not in STUDENTS and name not in captions.TEXT_ENCODERS and not name.startswith("hub:"):
            known = ", ".join([*STUDENTS, *captions.TEXT_ENCODERS])
            raise ValueError(f"a student is one of {known}, or hub: and the name or folder of an encoder")
        return value


@register
class Clseave(System):
    name = "clseave"
    paper = "Xu 2024 (CLSEAVE: cross-lingual sentence embedding alignment for visual entailment)"
    Settings: ClassVar = ClseaveSettings
    settings: ClseaveSettings

    def __init__(self, settings: AnySettings, teacher: System | None = None) -> None:
        super().__init__(settings)
        self.teacher = teacher  # None until it is known which run a recipe starts from

    @property
    def similarity(self) -> str:
        return "cosine" if self.teacher is None else self.teacher.similarity

    @property
    def task(self) -> Literal["retrieval", "entailment"]:
        return "retrieval" if self.teacher is None else self.teacher.task

    @property
    def validation(self) -> Validation:
        return "agreement"

    @property
    def needs_start(self) -> bool:
        return True

    @property
    def keeps_pictures(self) -> bool:
        return self.teacher is not None and self.teacher.keeps_pictures

    def taught_by(self, teacher: System) -> System:
        return type(self)(self.settings, teacher)

    def resolved(self, saved: Mapping[str, Any]) -> System:
        from groundling import systems  # which knows this file

        return self.taught_by(systems.make(saved["about"]).resolved(saved["teacher"]))

    # --- what it learns from

    def material(self, dataset: Dataset, start: Start | None) -> Dataset:
        """Sentences of new languages with known ones that mean the same, in the place of captions and pictures."""
        if start is None:  # before the teacher is there, nobody knows which languages are new
            return super().material(dataset, start)
        check = self.student_encoder[0].check_languages
        return student_data(self.settings, dataset, start, self.task, check, self.corpus_of)

    def corpus_of(self, pairs: PairStore) -> Corpus:
        """What stands for a corpus where millions of pairs may be: its name."""
        return sentence_pairs.as_corpus(pairs.name, [])

    def check(self, context: Context) -> None:
        """Nothing before the teacher is there."""
        _ = self.student_encoder  # its settings

    # --- what it is made of

    def tokeniser(self, context: Context) -> Tokeniser:
        start, pairs, settings = _teacher(context), pairs_of(context), context.recipe.text
        encoder, own = self.student_encoder
        said = pairs.split("train")
        student = encoder.learn_tokeniser(said.new, said.languages, settings, own)
        teacher = start.system
        about = {"name": teacher.name, **teacher.settings.model_dump(exclude_defaults=True)}
        known = start.languages or tuple(pairs.known)
        return TaughtTokeniser(start.tokeniser, student, tuple(pairs.new), known, about)

    @property
    def text_encoder(self) -> TextChoice:
        """Both together; each is made from its own settings."""
        return TaughtEncoder, EncoderSettings()

    @property
    def student_encoder(self) -> TextChoice:
        own = self.settings
        chosen: Named = own.student if isinstance(own.student, dict) else STUDENTS.get(own.student, own.student)
        if isinstance(chosen, str) and chosen.startswith("hub:"):
            chosen = {"name": "pretrained", "encoder": chosen.removeprefix("hub:")}
        special: Specials = {
            "new_words": {"dropout": own.dropout},
            "characters": {"character_dimensions": own.character_dimensions, "layers": own.layers},
            "use": {"hidden": own.hidden, "dropout": own.dropout},
            "pretrained": {"trainable": own.train_encoder},
        }
        return captions.chosen(chosen, "system.student", special, word_dimensions=own.word_dimensions)

    def features(self, context: Context) -> int:
        """There are no pictures here: the teacher has seen some."""
        return _teacher(context).encoders.picture.features

    def encoders(self, tokeniser: Tokeniser, features: int) -> Encoders:
        taught = cast(TaughtTokeniser, tokeniser)
        assert self.teacher is not None  # noqa: S101 (resolved)
        encoders = self.teacher.encoders(taught.teacher, features).requires_grad_(False)
        encoders.frozen = ()  # which part learns is said here: the student
        encoders.text = TaughtEncoder(taught, encoders.text, self.student(taught, encoders.text))
        return encoders

    def student(self, taught: TaughtTokeniser, teacher: TextEncoder) -> TextEncoder:
        encoder, own = self.student_encoder
        return encoder.as_student(taught.student, teacher, own)

    def warm_start(self, encoders: Encoders, tokeniser: Tokeniser, context: Context, start: Start) -> None:
        """The teacher as it is, all of it; and its reader, where the student has one like it."""
        text = cast(TaughtEncoder, encoders.text)
        text.teacher.load_state_dict(start.encoders.text.state_dict())
        for name, part in start.encoders.named_children():
            if name != "text":
                encoders.get_submodule(name).load_state_dict(part.state_dict())
        text.student.begin_as(text.teacher)

    # --- how it learns

    def setup(self, context: Context) -> Plan:
        plan = super().setup(context)
        data, sampler = cast(DistillationData, plan.data), cast(DistillationSampler, plan.stage.sampler)
        stage = replace(plan.stage, bring=lambda batch: data.bring(batch, sampler.soon))
        return replace(plan, stage=stage, sample=sample(context, plan.tokeniser))

    def data(self, context: Context, tokeniser: Tokeniser) -> TrainingData:
        """New sentences as the student reads them; the teacher has read the known ones."""
        pairs = pairs_of(context).split("train")
        tokens = Ragged.cut(cast(TaughtTokeniser, tokeniser).student, pairs.new, pairs.languages, pairs.folder)
        return DistillationData.of(pairs, tokens, self.targets(_teacher(context), pairs), context.device)

    def sampler(self, context: Context, data: TrainingData) -> Sampler:
        training = context.recipe.training
        return DistillationSampler(
            cast(DistillationData, data), training.batch_size, training.seed, training.length_pool
        )

    def loss(self, context: Context, data: TrainingData, sampler: Sampler) -> Loss:
        return sentence_loss if self.settings.distance == "share" else published_loss

    @property
    def aligns_unscaled(self) -> bool:
        return self.settings.distance == "mse"

    def targets(self, start: Start, pairs: SentencePairs) -> CachedVectors:
        return start.unscaled_vectors(pairs) if self.aligns_unscaled else super().targets(start, pairs)


def published_loss(encoders: Encoders, data: TrainingData, batch: DeviceBatch) -> Tensor:
    """The mean squared error of sentences before they are brought to unit length."""
    here = cast(DistillationData, data).here(batch.rows, batch.longest)
    said = encoders.text.learner().unscaled(here.ids, here.lengths)
    with torch.autocast(said.device.type, enabled=False):
        return squared_error(said.float(), here.targets)


def sentence_loss(encoders: Encoders, data: TrainingData, batch: DeviceBatch) -> Tensor:
    """Of sentences in new languages and the teacher's vectors of known ones that mean the same."""
    here = cast(DistillationData, data).here(batch.rows, batch.longest)
    said = encoders.text.learner()(here.ids, here.lengths)
    with torch.autocast(said.device.type, enabled=False):
        return unexplained(said.float(), here.targets)


def _teacher(context: Context) -> Start:
    assert context.start is not None  # noqa: S101 (a recipe without one is refused)
    return context.start
