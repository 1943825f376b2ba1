"""A model learns further languages from sentences that mean the same: sentence-embedding alignment, CLSEAVE.

Ziyi Xu 2024, "CLSEAVE: A method for cross-lingual transfer learning in visual entailment" (master's thesis, Leiden
University), section 3.3:

    loss = ‖student(sentence in the new language) − teacher(the same in a known one)‖²  (as a share: see the objective)

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
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import numpy as np
import torch
from pydantic import Field, PositiveInt, field_validator
from torch import Tensor

from groundling.batches import DeviceBatch, Sampler, TrainingData
from groundling.batches.stage import Loss
from groundling.batches.translations import TranslationSampler
from groundling.corpus import Corpus, conditions, sentence_pairs
from groundling.corpus.sentence_pairs import Meaning
from groundling.dataset import Dataset, load_corpus
from groundling.encoders import text as captions
from groundling.encoders.pair import Encoders
from groundling.encoders.settings import EncoderSettings, Named, Specials
from groundling.encoders.text import TextChoice, TextEncoder
from groundling.encoders.text.taught import TaughtEncoder
from groundling.encoders.tokenisers.taught import TaughtTokeniser
from groundling.errors import UserError
from groundling.objectives.distillation import unexplained
from groundling.settings import CorpusSettings, Settings, notice
from groundling.settings import Settings as AnySettings
from groundling.systems.base import System, register
from groundling.systems.plan import Context, Start, Validation
from groundling.text import Tokeniser
from groundling.translation.parallel import translation_rows

#: Students that are called by a name of their own; all others are text encoders.
STUDENTS: dict[str, Named] = {
    "words": {"name": "new_words", "reader": "teacher"},
    "encoder": {"name": "new_words", "reader": "own"},
}


class ClseaveSettings(Settings):
    name: Literal["clseave"] = "clseave"
    student: Named = Field(
        "encoder",
        description="words: new words before the teacher's reader; encoder: new words and a reader that begins as the "
        "teacher's; characters: words from their letters (LIWE); use: a map from the Universal Sentence Encoder (extra "
        "`use`); hub:NAME or hub:FOLDER: a transformers encoder, mBERT as published; any other text encoder: its name, "
        "or {name: …, and its own settings}",
    )
    pairs: str | None = Field(
        None,
        description="sentence pairs to learn from: a .tsv file, or corpus:NAME; the recipe's corpus when left out",
    )
    fingerprint: str | None = Field(
        None, description="SHA-256 of the .tsv file, so that a training does not go on with another one"
    )
    language: str | None = Field(None, description="the new language of the .tsv file, or the only one of the corpus")
    known: str | None = Field(None, description="the language of the first sentences of the .tsv file")
    again: bool = Field(False, description="also languages that the teacher knows: it will no longer read them itself")
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
        if not start.languages:
            raise UserError("start: the languages of the teacher are not known; finish its training first")
        own, knows = self.settings, list(start.languages)
        if own.pairs is not None and not own.pairs.startswith("corpus:"):
            if own.language is None:
                raise UserError("system.language: which language are the new sentences of system.pairs in?")
            self._check_new([own.language], knows)
            path = Path(own.pairs).expanduser()
            pairs = sentence_pairs.read(path, own.language, own.known, knows)
            if own.fingerprint not in (None, sentence_pairs.fingerprint(path)):
                raise UserError(f"{path}: has changed since this training began; begin another one")
            return _unseen(dataset, pairs)
        if own.pairs is not None:
            corpus = whole = load_corpus(CorpusSettings(name=own.pairs.removeprefix("corpus:")), dataset.data)
        else:
            corpus, whole = dataset.corpus, dataset.corpus if dataset.whole is None else dataset.whole
        if self.task == "entailment":
            corpus, whole = corpus.judged(), whole.judged()
        present = corpus.all_languages()
        if own.language is not None and own.language not in present:
            raise UserError(f'corpus {corpus.name} has nothing in "{own.language}" (there is: {", ".join(present)})')
        new = [own.language] if own.language is not None else [code for code in present if code not in knows]
        self._check_new(new, knows)
        known = [own.known] if own.known is not None else [code for code in knows if code not in new]
        if self.task == "entailment":
            shared = whole.keep_pictures(np.isin(whole.pictures, corpus.pictures))
            meanings = sentence_pairs.of_statements(shared, known, new)
        else:
            said = conditions.add(corpus.only(new), whole.only(known))
            meanings = [one for code in new for one in _captions(said, known, code)]
        if not meanings:
            raise UserError(
                f"corpus {corpus.name} has nothing in {', '.join(new)} beside something in a language that the teacher "
                f"knows ({', '.join(knows)})"
            )
        return _unseen(dataset, sentence_pairs.as_corpus(corpus.name, meanings))

    def _check_new(self, new: list[str], knows: list[str]) -> None:
        if not new:
            raise UserError(
                f"the teacher knows every language of the corpus ({', '.join(knows)}); name the one to learn in "
                "system.language"
            )
        old = [code for code in new if code in knows]
        if old and not self.settings.again:
            raise UserError(
                f'the teacher knows "{old[0]}" already; to have a student read it instead, say --again (system.again)'
            )
        self.student_encoder[0].check_languages(new)

    def check(self, context: Context) -> None:
        """Nothing before the teacher is there."""
        if context.start is not None:
            super().check(context)

    # --- what it is made of

    def tokeniser(self, context: Context) -> Tokeniser:
        start, corpus, settings = _teacher(context), context.train.corpus, context.recipe.text
        new = self._new(corpus.all_languages(), start)
        said = corpus.only(new)
        encoder, own = self.student_encoder
        student = encoder.learn_tokeniser(said.texts, said.languages.tolist(), settings, own)
        teacher = start.system
        about = {"name": teacher.name, **teacher.settings.model_dump(exclude_defaults=True)}
        return TaughtTokeniser(start.tokeniser, student, tuple(new), tuple(start.languages), about)

    def _new(self, languages: list[str], start: Start) -> list[str]:
        """Those of its material that the student reads."""
        if self.settings.language is not None:
            return [self.settings.language]
        return sorted(code for code in languages if code not in start.languages)

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

    def sampler(self, context: Context, data: TrainingData) -> Sampler:
        training, new = context.recipe.training, self._new(list(data.codes), _teacher(context))
        return TranslationSampler(data, new, training.batch_size, training.seed, training.length_pool)

    def loss(self, context: Context, data: TrainingData, sampler: Sampler) -> Loss:
        return sentence_loss


def sentence_loss(encoders: Encoders, data: TrainingData, batch: DeviceBatch) -> Tensor:
    """Of sentences in new languages, then of known ones that mean the same."""
    text, (captions, partners) = cast(TaughtEncoder, encoders.text), batch.rows
    with torch.no_grad():
        said = text.known(*data.captions(partners, batch.longest))
    again = text.taught(*data.captions(captions, batch.longest))
    with torch.autocast(again.device.type, enabled=False):
        return unexplained(again.float(), said.float())


def _teacher(context: Context) -> Start:
    assert context.start is not None  # noqa: S101 (a recipe without one is refused)
    return context.start


def _captions(corpus: Corpus, known: list[str], new: str) -> list[Meaning]:
    """Translations where the corpus has any in this language, comparable captions otherwise."""
    rows = translation_rows(corpus, known)
    mine = np.flatnonzero((corpus.languages == new) & (rows >= 0).any(axis=1))
    if not len(mine):
        return sentence_pairs.of_captions(corpus, known, [new])
    meanings = []
    for row in mine.tolist():
        said = [(str(corpus.languages[other]), corpus.texts[other]) for other in rows[row].tolist() if other >= 0]
        name, split = str(corpus.pictures[corpus.owners[row]]), str(corpus.splits[corpus.owners[row]])
        meanings.append(sentence_pairs.meaning(name, split, said, (new, [corpus.texts[row]])))
    return meanings


def _unseen(dataset: Dataset, corpus: Corpus) -> Dataset:
    """Sentences that stand for themselves: their "pictures" have no features."""
    return Dataset(corpus, np.zeros((len(corpus.pictures), 0), dtype=np.float32), data=dataset.data)
