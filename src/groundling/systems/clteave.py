"""A model learns further languages word by word: token-embedding alignment, CLTEAVE.

Ziyi Xu 2024, "CLSEAVE: A method for cross-lingual transfer learning in visual entailment" (master's thesis, Leiden
University), section 3.2, after CLiCoTEA (Karoui et al. 2023, https://arxiv.org/abs/2306.16774):

    loss = ‖student's state of a word − teacher's state of its translation‖²  (as a share: see the objective)

Which words translate each other is found before: both directions' softmax of their similarities above a threshold. The
sentence is then made of the student's states by what makes it of the teacher's. Where the dimensions of the two differ,
an autoencoder stands between them, 768 → 512 in the paper.

As published the pairs are words only. The head of CLIP-VE reads nothing but the state of CLIP's end of text, which is
no word: it is never learned, and the paper finds chance, 33.3%. Here the state that the sentence is read from is a
pair, too (`sentence`); with 0 it is as published.

>>> from groundling import systems
>>> systems.make({"name": "clteave", "aligner": "counts"}).validation
'agreement'
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, cast

import numpy as np
import torch
from pydantic import Field, NonNegativeInt, field_validator
from torch import Tensor

from groundling.batches import DeviceBatch, Sampler, TrainingData
from groundling.batches.links import Find, Links
from groundling.batches.translations import TranslationSampler
from groundling.corpus import Corpus, sentence_pairs
from groundling.corpus.pairs import PairStore
from groundling.corpus.sentence_pairs import Meaning
from groundling.encoders.pair import Encoders
from groundling.encoders.settings import Named
from groundling.encoders.text import TextEncoder
from groundling.encoders.text.autoencoded import AutoencodedPooling
from groundling.encoders.text.autoencoder import Autoencoder
from groundling.encoders.text.taught import TaughtEncoder
from groundling.encoders.tokenisers.taught import TaughtTokeniser
from groundling.errors import UserError
from groundling.objectives.contextual_word_pairs import ContextualPairs
from groundling.objectives.counted_word_pairs import CountedPairs
from groundling.objectives.distillation import squared_error, unexplained
from groundling.objectives.token_alignment import token_error, unexplained_tokens
from groundling.systems.base import System, register
from groundling.systems.clseave import Clseave, ClseaveSettings
from groundling.systems.plan import Context, Plan
from groundling.text import Tokeniser

COUNTED, CONTEXTUAL = (
    0.5,
    1e-3,
)  # thresholds: ours for counts, awesome-align's for states of an encoder (the thesis names none)


class ClteaveSettings(ClseaveSettings):
    name: Literal["clteave"] = "clteave"  # type: ignore[assignment]  # the one thing that is another's
    aligner: str = Field(
        "counts",
        description="who finds words that belong together; counts: the sentence pairs themselves (IBM model 1); "
        "hub:NAME or hub:FOLDER: a multilingual encoder, mBERT as published",
    )
    threshold: float | None = Field(
        None,
        gt=0,
        lt=1,
        description="what both directions must be above; if left out, 0.5 for counts, 0.001 (awesome-align) for hub",
    )
    sentence: float = Field(
        1.0, ge=0, description="weight of the state that the sentence is read from, beside words; published: 0"
    )
    autoencoder_steps: NonNegativeInt = Field(
        0, description="first steps in which only the autoencoder learns, to give back the student's states"
    )
    rectified: bool = Field(
        False, description="ReLUs in the autoencoder, as published: see `encoders.text.autoencoder`"
    )

    @field_validator("student")
    @classmethod
    def _has_words(cls, value: Named) -> Named:
        if value == "use":
            raise ValueError("student use has sentences and no words; use clseave, or another student")
        return value

    @field_validator("aligner")
    @classmethod
    def _known_aligner(cls, value: str) -> str:
        if value != "counts" and not value.startswith("hub:"):
            raise ValueError("an aligner is counts, or hub: and the name or folder of an encoder")
        return value


@register
class Clteave(Clseave):
    name = "clteave"
    paper = "Xu 2024 (CLTEAVE: cross-lingual token embedding alignment for visual entailment)"
    Settings: ClassVar = ClteaveSettings
    settings: ClteaveSettings

    @property
    def aligns_unscaled(self) -> bool:
        """Words are states, which nothing brings to unit length; sentences are compared by their direction alone."""
        return False

    # --- what it is made of

    def encoders(self, tokeniser: Tokeniser, features: int) -> Encoders:
        encoders = super().encoders(tokeniser, features)
        text = cast(TaughtEncoder, encoders.text)
        text.teacher.check_states("teacher")
        text.student.check_states("student")
        return encoders

    def student(self, taught: TaughtTokeniser, teacher: TextEncoder) -> TextEncoder:
        """One that reads as its teacher does has its states as they are; another one's go through an autoencoder."""
        teacher.check_states("teacher")
        inner = super().student(taught, teacher).check_states("student")
        reader = inner.reader()
        if reader is not None and teacher.reader() is not None:
            reader.freeze_finish()  # no state: it makes the sentence of them
            return inner
        inner.drop_finish()  # the teacher's own takes its place
        between = Autoencoder(inner.state_dimensions, teacher.state_dimensions, self.settings.rectified)
        return AutoencodedPooling(inner, between, teacher)

    # --- how it learns

    def corpus_of(self, pairs: PairStore) -> Corpus:
        """All pairs: their words are looked at one by one."""
        meanings = [
            Meaning(f"{split} {row}", split, ((said.known_languages[one], said.known[one]), (code, text)))
            for split, said in ((name, pairs.split(name)) for name in ("train", "dev", "test"))
            for row, (one, code, text) in enumerate(
                zip(said.partner(np.arange(len(said))).tolist(), said.languages, said.new, strict=True)
            )
        ]
        return sentence_pairs.as_corpus(pairs.name, meanings)

    def data(self, context: Context, tokeniser: Tokeniser) -> TrainingData:
        return System.data(self, context, tokeniser)

    def sampler(self, context: Context, data: TrainingData) -> Sampler:
        training = context.recipe.training
        new = [] if context.train.pairs is None else context.train.pairs.new
        return TranslationSampler(data, new, training.batch_size, training.seed, training.length_pool)

    def setup(self, context: Context) -> Plan:
        """Which words translate each other is found before the first step."""
        plan = System.setup(self, context)
        own, corpus, data = self.settings, context.train.corpus, plan.data
        tokeniser, pairs = cast(TaughtTokeniser, plan.tokeniser), cast(TranslationSampler, plan.stage.sampler).pairs
        find: Find
        if own.aligner == "counts":
            find = CountedPairs(data, pairs, tokeniser, own.threshold or COUNTED)
        else:
            name, codes = own.aligner.removeprefix("hub:"), corpus.languages.tolist()
            find = ContextualPairs(name, corpus.texts, codes, tokeniser, own.threshold or CONTEXTUAL, data.ids.device)
        links = Links(data, pairs, find)
        if not links.mean:
            raise UserError("system.threshold: no words of any pair of sentences are aligned; lower it")
        loss = WordLoss(links, own.sentence, own.autoencoder_steps, own.distance == "mse")
        return replace(plan, stage=replace(plan.stage, loss=loss))


@dataclass(frozen=True)
class WordLoss:
    """Of sentences in new languages, then of known ones that mean the same.

    Attributes:
        links: which words of two sentences translate each other.
        sentence: the weight of the state that the sentence is read from.
        autoencoder_steps: first steps in which only the autoencoder learns.
        published: the mean squared error, not as a share of the teacher's spread.
    """

    links: Links
    sentence: float
    autoencoder_steps: int
    published: bool = False

    def __call__(self, encoders: Encoders, data: TrainingData, batch: DeviceBatch) -> Tensor:
        text, (captions, partners) = cast(TaughtEncoder, encoders.text), batch.rows
        with torch.no_grad():
            known, meant = text.known_states(*data.captions(partners, batch.longest))
        entries, lengths = data.captions(captions, batch.longest)
        taught, said = text.taught_states(entries, lengths)
        pairs = self.links.matrix(captions, partners, batch.longest)
        with torch.autocast(taught.device.type, enabled=False):
            words, sentences = (token_error, squared_error) if self.published else (unexplained_tokens, unexplained)
            loss = words(taught.float(), known.float(), pairs)
            if self.sentence:
                loss = loss + self.sentence * sentences(said.float(), meant.float())
        if not self.autoencoder_steps:
            return loss
        given_back = text.student.reconstruction(text.for_student(entries), lengths)
        if given_back is None:
            return loss
        alone = (batch.step < self.autoencoder_steps).float()
        return alone * given_back + (1 - alone) * loss
