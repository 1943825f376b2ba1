"""CLIP-VE: is a sentence true of a picture? A head on the vectors of both (seed 003, section 3.1).

    verdict = head([h, p, |h − p|, h∘p]),   h and p the unit vectors of sentence and picture,   loss: cross-entropy

As published, both towers are CLIP's, the picture tower frozen: `text: pretrained`, `picture: given` with features that
are CLIP's own (`features.projected`). Ours: any text tower and any backbone; pictures as a grid of cells that the head
looks at one by one (`picture: cells`), for statements about number and place; and towers that retrieval has trained
before (`before`), which is to us what its training is to CLIP.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal, cast

from pydantic import Field, PositiveInt
from torch import Tensor, nn

from groundling.batches import DeviceBatch, LanguageSampler, Sampler, TrainingData
from groundling.batches.stage import Loss
from groundling.errors import UserError
from groundling.objectives.verdict import verdict_loss
from groundling.settings import Settings
from groundling.systems.base import System
from groundling.systems.plan import Context, Start
from groundling.text import CharacterTokeniser, Tokeniser, WordTokeniser
from groundling.text.hub import HubTokeniser
from groundling.towers.bidirectional import BidirectionalSentence, BidirectionalTower
from groundling.towers.cells import CellTower, CellVerdictHead
from groundling.towers.characters import CharacterTower, LayeredWords
from groundling.towers.given import GivenPictures, UnseenPictures
from groundling.towers.max_pooled import MaxSentence, MaxTower
from groundling.towers.pair import JudgingTowers, Towers
from groundling.towers.picture import PictureTower
from groundling.towers.recurrent import RecurrentTower
from groundling.towers.verdict import VerdictHead
from groundling.towers.warm_start import take_over_text


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
    train_text: bool = Field(True, description="train the text tower; false: the head alone learns from sentences")
    picture: Literal["linear", "cells", "given"] = Field(
        "linear",
        description="linear: one layer on the features; cells: each cell of a grid by itself (features.grid), with "
        "another head; given: features that are in the text tower's space already (features.projected)",
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

    def towers(self, tokeniser: Tokeniser, features: int) -> JudgingTowers:
        own = self.settings
        frozen = [name for name, trained in (("text", own.train_text), ("picture", own.train_picture)) if not trained]
        return JudgingTowers(self.text_tower(tokeniser), self.picture_tower(features), self.head(), tuple(frozen))

    def head(self) -> VerdictHead | CellVerdictHead:
        own = self.settings
        if own.picture == "cells":
            return CellVerdictHead(
                own.dimensions, own.cells, own.cell_dimensions, own.questions, hidden=own.hidden, dropout=own.dropout
            )
        return VerdictHead(own.dimensions, own.hidden, own.dropout)

    def text_tower(self, tokeniser: Tokeniser) -> nn.Module:
        own = self.settings
        if own.text == "pretrained":
            from groundling.towers.pooled import PooledTower  # transformers is imported where it is used

            return PooledTower(cast(HubTokeniser, tokeniser).folder, own.dimensions, own.pooling)
        if own.text == "characters":
            longest = cast(CharacterTokeniser, tokeniser).longest
            words = LayeredWords(tokeniser.size, own.character_dimensions, own.layers, own.word_dimensions, longest)
            return CharacterTower(words, self.sentence())
        if own.reading == "last":
            return RecurrentTower(tokeniser.size, own.word_dimensions, own.dimensions)
        if own.reading == "ends":
            return BidirectionalTower(tokeniser.size, own.word_dimensions, own.dimensions, "ends")
        return MaxTower(tokeniser.size, own.word_dimensions, own.dimensions)

    def sentence(self) -> nn.Module:
        own = self.settings
        if own.reading == "max":
            return MaxSentence(own.word_dimensions, own.dimensions)
        return BidirectionalSentence(own.word_dimensions, own.dimensions, own.reading)

    def picture_tower(self, features: int) -> nn.Module:
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
            return CellTower(features, own.cells, own.cell_dimensions)
        return PictureTower(features, own.dimensions)

    def features_in(self, weights: Mapping[str, Tensor]) -> int:
        width = weights.get("picture.width")
        return super().features_in(weights) if width is None else int(width)

    def data(self, context: Context, tokeniser: Tokeniser) -> TrainingData:
        """Statements in the place of captions, with their classes."""
        part = context.train
        return TrainingData.build(part.corpus, part.features, tokeniser, context.device, part.corpus.classes())

    def warm_start(self, towers: Towers, tokeniser: Tokeniser, context: Context, start: Start) -> None:
        """Both towers of a run that has the same kind of them; words that it has not met begin at random."""
        take_over_text(towers.text, tokeniser, start.towers.text, start.tokeniser, start.system.name)
        try:
            towers.picture.load_state_dict(start.towers.picture.state_dict())
        except RuntimeError:
            raise UserError(
                f"before: the picture tower of this {start.system.name} run is of another kind or size; features, "
                "dimensions and system.picture must fit it"
            ) from None
        head = getattr(start.towers, "verdict", None)
        if head is not None and isinstance(towers, JudgingTowers):
            towers.verdict.load_state_dict(head.state_dict())

    def sampler(self, context: Context, data: TrainingData) -> Sampler:
        """All languages in one stream: batch normalisation sees them together."""
        training = context.recipe.training
        return LanguageSampler(data, training.batch_size, training.seed, [data.codes], 0.0, training.length_pool)

    def loss(self, context: Context, data: TrainingData, sampler: Sampler) -> Loss:
        return judging_loss


def judging_loss(towers: JudgingTowers, data: TrainingData, batch: DeviceBatch) -> Tensor:
    """Statements, then the picture that each is about."""
    assert data.classes is not None  # noqa: S101 (made above)
    statements, pictures = batch.rows
    sentences = towers.text(*data.captions(statements, batch.longest))
    seen = towers.picture(data.features[pictures])
    return verdict_loss(towers.verdict(sentences, seen), data.classes[statements])
