"""CLIP-VE: is a sentence true of a picture? A head on the vectors of both (seed 003, section 3.1).

    verdict = head([h, p, |h − p|, h∘p]),   h and p the unit vectors of sentence and picture,   loss: cross-entropy

As published, both encoders are CLIP's, the picture encoder frozen: `text: pretrained`, `picture: given` with features that
are CLIP's own (`features.projected`). Ours: any text encoder and any backbone; pictures as a grid of cells that the head
looks at one by one (`picture: cells`), for statements about number and place; and encoders that retrieval has trained
before (`before`), which is to us what its training is to CLIP.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, cast

from pydantic import Field, PositiveInt
from torch import Tensor, nn

from groundling.batches import DeviceBatch, LanguageSampler, Sampler, TrainingData
from groundling.batches.stage import Loss
from groundling.encoders.entailment import EntailmentHead
from groundling.encoders.pair import Encoders, JudgingEncoders
from groundling.encoders.picture.given import GivenPictures, UnseenPictures
from groundling.encoders.picture.grid import GridEncoder, GridEntailmentHead
from groundling.encoders.picture.linear import LinearPictureEncoder
from groundling.encoders.text.bidirectional import BidirectionalEncoder, BidirectionalSentence
from groundling.encoders.text.characters import CharacterEncoder, LayeredWords
from groundling.encoders.text.max_pooled import MaxPooledEncoder, MaxSentence
from groundling.encoders.text.recurrent import RecurrentEncoder
from groundling.encoders.text.warm_start import take_over_text
from groundling.encoders.tokenisers.characters import CharacterTokeniser
from groundling.encoders.tokenisers.hub import HubTokeniser
from groundling.encoders.tokenisers.words import WordTokeniser
from groundling.errors import UserError
from groundling.objectives.verdict import verdict_loss
from groundling.settings import Settings
from groundling.systems.base import System
from groundling.systems.plan import Context, Start
from groundling.text import Tokeniser


class ClipVESettings(Settings):
    name: Literal["clip_ve"] = "clip_ve"
    dimensions: PositiveInt = Field(512, description="of the space that sentences and pictures are compared in")
    text: Literal["words", "characters", "pretrained"] = Field(
        "words",
        description="words: GRUs over a table of words; characters: words from their letters (LIWE); pretrained: a "
        "transformers encoder",
    )
    word_dimensions: PositiveInt = Field(300, description="of a word vector (text: words, characters)")
    reading: Literal["max", "last", "ends"] = Field(
        "max",
        description="text: words, characters: how words become a sentence; max: the largest of each entry over the "
        "words, from both ends (InferSent); last: as vse, lessons and liwe do; ends: as clmr with that pooling",
    )
    character_dimensions: PositiveInt = Field(24, description="of a letter's vector (text: characters)")
    layers: list[PositiveInt] = Field([384, 384], description="layers from letters to a word (text: characters)")
    encoder: str = Field(
        "openai/clip-vit-base-patch32",
        description="text: pretrained: its name on the hub, or a folder that holds it (safetensors only)",
    )
    pooling: Literal["last", "first", "mean"] = Field(
        "last",
        description="text: pretrained: the state that stands for the sentence; last: final [SEP], or CLIP's end of "
        "text; first: [CLS]",
    )
    train_text: bool = Field(True, description="train the text encoder; false: the head alone learns from sentences")
    picture: Literal["linear", "cells", "given"] = Field(
        "linear",
        description="linear: one layer on the features; cells: each cell of a grid by itself (features.grid), with "
        "another head; given: features that are in the text encoder's space already (features.projected)",
    )
    train_picture: bool = Field(
        True, description="false as published: for CLIP's own features, or after a run that comes `before`"
    )
    cells: PositiveInt = Field(9, description="picture: cells: how many a picture has, features.grid squared")
    cell_dimensions: PositiveInt = Field(64, description="picture: cells: what is kept of a cell")
    questions: PositiveInt = Field(4, description="picture: cells: what a sentence asks of each cell")
    sees_pictures: bool = Field(True, description="false: every picture is blank, to see what the words give away")
    hidden: PositiveInt = Field(128, description="of both hidden layers of the head")
    dropout: float = Field(0.1, ge=0, lt=1, description="of the head")


class ClipVE(System):
    name = "clip_ve"
    paper = "CLIP-VE: cross-lingual visual entailment (thesis, seed 003); head as InferSent, Conneau et al. 2017"
    Settings: ClassVar = ClipVESettings
    settings: ClipVESettings

    @property
    def task(self) -> Literal["retrieval", "entailment"]:
        return "entailment"

    @property
    def takes_start(self) -> bool:
        return True

    def tokeniser(self, context: Context) -> Tokeniser:
        corpus, settings = context.train.corpus, context.recipe.text
        texts, languages = corpus.texts, corpus.languages.tolist()
        if self.settings.text == "pretrained":
            return HubTokeniser.build(self.settings.encoder, settings)
        if self.settings.text == "characters":
            return CharacterTokeniser.build(texts, languages, settings)
        return WordTokeniser.build(texts, languages, settings)

    def load_tokeniser(self, saved: dict[str, Any]) -> Tokeniser:
        if self.settings.text == "pretrained":
            return HubTokeniser.from_json(saved)
        if self.settings.text == "characters":
            return CharacterTokeniser.from_json(saved)
        return WordTokeniser.from_json(saved)

    def encoders(self, tokeniser: Tokeniser, features: int) -> JudgingEncoders:
        own = self.settings
        frozen = [name for name, trained in (("text", own.train_text), ("picture", own.train_picture)) if not trained]
        return JudgingEncoders(self.text_encoder(tokeniser), self.picture_encoder(features), self.head(), tuple(frozen))

    def head(self) -> EntailmentHead | GridEntailmentHead:
        own = self.settings
        if own.picture == "cells":
            return GridEntailmentHead(
                own.dimensions, own.cells, own.cell_dimensions, own.questions, hidden=own.hidden, dropout=own.dropout
            )
        return EntailmentHead(own.dimensions, own.hidden, own.dropout)

    def text_encoder(self, tokeniser: Tokeniser) -> nn.Module:
        own = self.settings
        if own.text == "pretrained":
            from groundling.encoders.text.pooled import PooledEncoder  # transformers is imported where it is used

            return PooledEncoder(cast(HubTokeniser, tokeniser).folder, own.dimensions, own.pooling)
        if own.text == "characters":
            longest = cast(CharacterTokeniser, tokeniser).longest
            words = LayeredWords(tokeniser.size, own.character_dimensions, own.layers, own.word_dimensions, longest)
            return CharacterEncoder(words, self.sentence())
        if own.reading == "last":
            return RecurrentEncoder(tokeniser.size, own.word_dimensions, own.dimensions)
        if own.reading == "ends":
            return BidirectionalEncoder(tokeniser.size, own.word_dimensions, own.dimensions, "ends")
        return MaxPooledEncoder(tokeniser.size, own.word_dimensions, own.dimensions)

    def sentence(self) -> nn.Module:
        own = self.settings
        if own.reading == "max":
            return MaxSentence(own.word_dimensions, own.dimensions)
        return BidirectionalSentence(own.word_dimensions, own.dimensions, own.reading)

    def picture_encoder(self, features: int) -> nn.Module:
        own = self.settings
        if not own.sees_pictures:
            size = own.cells * own.cell_dimensions if own.picture == "cells" else own.dimensions
            return UnseenPictures(features, size)
        if own.picture == "given":
            if features != own.dimensions:
                raise UserError(
                    f"system.picture: given features are {features} numbers and sentences have {own.dimensions}; set "
                    f"system.dimensions={features}, or features.projected=true where these are not CLIP's own vectors"
                )
            return GivenPictures(features)
        if own.picture == "cells":
            if features % own.cells:
                raise UserError(
                    f"system.cells: {features} features cannot be those of {own.cells} cells; set it to features.grid "
                    "squared"
                )
            return GridEncoder(features, own.cells, own.cell_dimensions)
        return LinearPictureEncoder(features, own.dimensions)

    def features_in(self, weights: Mapping[str, Tensor]) -> int:
        width = weights.get("picture.width")
        return super().features_in(weights) if width is None else int(width)

    def data(self, context: Context, tokeniser: Tokeniser) -> TrainingData:
        """Statements in the place of captions, with their classes."""
        part = context.train
        return TrainingData.build(part.corpus, part.features, tokeniser, context.device, part.corpus.classes())

    def warm_start(self, encoders: Encoders, tokeniser: Tokeniser, context: Context, start: Start) -> None:
        """Both encoders of a run that has the same kind of them; words that it has not met begin at random."""
        take_over_text(encoders.text, tokeniser, start.encoders.text, start.tokeniser, start.system.name)
        try:
            encoders.picture.load_state_dict(start.encoders.picture.state_dict())
        except RuntimeError:
            raise UserError(
                f"before: the picture encoder of this {start.system.name} run is of another kind or size; features, "
                "dimensions and system.picture must fit it"
            ) from None
        head = getattr(start.encoders, "verdict", None)
        if head is not None and isinstance(encoders, JudgingEncoders):
            encoders.verdict.load_state_dict(head.state_dict())

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
    return verdict_loss(encoders.verdict(sentences, seen), data.classes[statements])
