"""What every system answers: how captions are read, what is trained, on which batches and by which loss.

A system is its settings and nothing else: it holds no state of any training. `setup` puts a training together, in the
one order that there is; a system says what its parts are, or writes a `setup` of its own.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, TypeVar

from groundling import settings as all_settings
from groundling.batches import Sampler, TrainingData
from groundling.batches.stage import Loss, Stage
from groundling.corpus.pairs import SentencePairs
from groundling.corpus.pairs.cached_vectors import CachedVectors
from groundling.dataset import Dataset
from groundling.encoders import picture as pictures
from groundling.encoders import tokenisers
from groundling.encoders.pair import Encoders
from groundling.encoders.picture import PictureChoice
from groundling.encoders.text import TextChoice
from groundling.errors import UserError
from groundling.registry import Registry
from groundling.systems.plan import Context, Plan, Start, Validation
from groundling.text import Tokeniser

SYSTEMS: "Registry[type[System]]" = Registry("system", "groundling.systems")


class System(ABC):
    """A named assembly from a paper, or ours.

    Class attributes:
        name: how recipes call it.
        paper: the citation.
        Settings: its own settings, beside those that every system shares.
        folds: whether a trained model has a compact form (see `folded`).
    """

    name: ClassVar[str]
    paper: ClassVar[str]
    Settings: ClassVar[type[all_settings.Settings]]
    folds: ClassVar[bool] = False

    def __init__(self, settings: all_settings.Settings) -> None:
        self.settings = settings

    # --- what it is

    @property
    def similarity(self) -> str:
        """How its captions and pictures are compared: "cosine", or "order" (see `encoders.similarity`)."""
        return "cosine"

    @property
    def task(self) -> Literal["retrieval", "entailment"]:
        """What it learns: to find pictures and captions by each other, or to judge statements about pictures."""
        return "retrieval"

    @property
    def validation(self) -> Validation:
        """How its trainings are validated."""
        return self.task

    @property
    def aligns_unscaled(self) -> bool:
        """Whether a student learns vectors as they are before they are brought to unit length."""
        return False

    def targets(self, start: Start, pairs: SentencePairs) -> CachedVectors:
        """What a student learns to say: what the teacher says of known sentences."""
        return start.vectors(pairs)

    @property
    def needs_start(self) -> bool:
        """Whether it starts from another run, which a recipe names or describes."""
        return False

    @property
    def takes_start(self) -> bool:
        """Whether it can start from another run."""
        return self.needs_start

    @property
    def takes_teachers(self) -> bool:
        """Whether other models can teach it what they find similar."""
        return False

    @property
    def reads_text_only(self) -> bool:
        """Whether it learns from sentences without pictures (corpus.text_only)."""
        return False

    @property
    def start_model(self) -> str | None:
        """The pretrained model that it begins as, where its own settings name one."""
        return None

    @property
    def keeps_pictures(self) -> bool:
        """Whether pictures are looked at by the picture side of what it starts from, of which a run keeps a copy."""
        return False

    def taught_by(self, teacher: "System") -> "System":
        """The same system where another one's model is its start; only a student takes anything from that."""
        return self

    def resolved(self, saved: Mapping[str, Any]) -> "System":
        """The same system as a saved run has it, whose tokeniser, as JSON, tells who taught it."""
        return self

    # --- a training

    def check_trains(self) -> None:
        """An error where there is nothing to train."""
        return None

    def material(self, dataset: Dataset, start: Start | None) -> Dataset:
        """What it learns from: captions, or statements in their place."""
        return dataset.judged() if self.task == "entailment" else dataset

    def check(self, context: Context) -> None:
        """Whatever would stop a training later is an error now: no batches to draw, files that are not there.

        Tables check all their trainings before the first one begins; what those start from is then not there yet.
        """
        _ = self.text_encoder, self.picture_encoder  # their settings
        self.sampler(context, TrainingData.outline(context.train.corpus))

    def prepare(self, context: Context) -> None:
        """Make what takes long and is kept between runs, such as word vectors: a table for another machine does."""
        return None

    def setup(self, context: Context) -> Plan:
        """A training from its beginning, or from the checkpoint that `context.saved` belongs to."""
        self.check(context)
        training = context.recipe.training
        tokeniser = self.tokeniser(context)
        encoders = self.encoders(tokeniser, self.features(context)).to(context.device)
        data = self.data(context, tokeniser)
        sampler = self.sampler(context, data)
        if context.start is not None and context.saved is None:
            self.warm_start(encoders, tokeniser, context, context.start)
        loss = self.loss(context, data, sampler)
        return Plan(self, tokeniser, Stage("training", encoders, data, sampler, loss, training), self.validation)

    # --- its parts

    @property
    @abstractmethod
    def text_encoder(self) -> TextChoice:
        """What reads captions: the kind of encoder, and its settings."""

    @property
    def picture_encoder(self) -> PictureChoice:
        """What looks at pictures."""
        return pictures.chosen("linear", "system.picture")

    def tokeniser(self, context: Context) -> Tokeniser:
        """Built from training captions only."""
        (encoder, own), corpus = self.text_encoder, context.train.corpus
        return encoder.learn_tokeniser(corpus.texts, corpus.languages.tolist(), context.recipe.text, own)

    def load_tokeniser(self, saved: dict[str, Any]) -> Tokeniser:
        """What `tokeniser` built, from the JSON it was saved as. ValueError where it is another encoder's."""
        made, wanted = tokenisers.from_json(saved), self.text_encoder[0].tokeniser_class
        if not isinstance(made, wanted):
            raise ValueError(f"a tokeniser of kind {wanted.kind} is needed, not {made.kind}")
        return made

    def encoders(self, tokeniser: Tokeniser, features: int) -> Encoders:
        """Freshly initialised encoders for pictures of so many features."""
        (text, read), (picture, seen) = self.text_encoder, self.picture_encoder
        size = self.dimensions
        return Encoders(text.of(tokeniser, size, read), picture.of(features, size, seen))

    @property
    def dimensions(self) -> int:
        """Of the shared space."""
        return int(getattr(self.settings, "dimensions"))  # noqa: B009 (of most systems' settings)

    def features(self, context: Context) -> int:
        """How many features its pictures have."""
        return int(context.train.features.shape[1])

    def data(self, context: Context, tokeniser: Tokeniser) -> TrainingData:
        return TrainingData.build(context.train.corpus, context.train.features, tokeniser, context.device)

    def warm_start(self, encoders: Encoders, tokeniser: Tokeniser, context: Context, start: Start) -> None:
        """Take over, in place, what the run that this one starts from has learned."""
        raise UserError(f"start: system {self.name} starts from no other run here; leave it out")

    def folded(self, tokeniser: Tokeniser, encoders: Encoders, features: int) -> Encoders | None:
        """Smaller encoders with the same scores, for the same system with `compact`; None where there are none."""
        return None

    @abstractmethod
    def sampler(self, context: Context, data: TrainingData) -> Sampler: ...

    @abstractmethod
    def loss(self, context: Context, data: TrainingData, sampler: Sampler) -> Loss:
        """The loss of the batches that this sampler draws (see `batches.Batch`)."""


Kind = TypeVar("Kind", bound=type[System])


def register(kind: Kind) -> Kind:
    """A decorator: recipes find the system by its name."""
    SYSTEMS.register(kind.name, kind)
    return kind
