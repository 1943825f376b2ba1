"""Visual-semantic embedding: a recurrent word tower and a picture tower, trained by a ranking loss.

Kiros et al. 2014 (sum of hinges); VSE++, Faghri et al. 2018 (hardest negative); order embeddings, Vendrov et al. 2015
(`similarity: order`). The base of most systems here.
"""

from typing import Any, ClassVar, Literal

import torch
from pydantic import Field, PositiveFloat, PositiveInt, model_validator
from torch import Tensor

from groundling.batches import DeviceBatch, LanguageSampler, Sampler, TrainingData
from groundling.corpus import Corpus
from groundling.objectives import OBJECTIVES
from groundling.settings import Settings, TextSettings, TrainingSettings
from groundling.systems.base import System, Towers
from groundling.text import Tokeniser, WordTokeniser
from groundling.towers.picture import PictureTower
from groundling.towers.recurrent import RecurrentTower
from groundling.towers.similarity import caption_scores, picture_scores


class VSESettings(Settings):
    name: Literal["vse"] = "vse"
    dimensions: PositiveInt = Field(1024, description="of the shared space, and of the recurrent state")
    word_dimensions: PositiveInt = 300
    objective: Literal["max_of_hinges", "sum_of_hinges", "contrastive"] = "max_of_hinges"
    similarity: Literal["cosine", "order"] = Field(
        "cosine", description="order: captions lie below their pictures (order embeddings)"
    )
    margin: PositiveFloat = Field(0.2, description="of the hinges; 0.05 with similarity order, unless set")
    temperature: PositiveFloat = Field(0.05, description="of the contrastive objective")
    spare_positives: bool = Field(
        False, description="a wrong pair of a batch that is right in truth (same picture, or same text) costs nothing"
    )

    @model_validator(mode="before")
    @classmethod
    def _margin_of_the_order(cls, values: Any) -> Any:
        """Order scores of unit vectors lie closer together than cosines; 0.05 is Vendrov et al.'s margin."""
        if isinstance(values, dict) and values.get("similarity") == "order":
            return {"margin": 0.05, **values}
        return values


class VSE(System):
    """One stream of all captions, whatever their language, each against its picture."""

    name = "vse"
    paper = "Kiros et al. 2014; Faghri et al. 2018 (VSE++); Vendrov et al. 2015 (order embeddings)"
    Settings: ClassVar = VSESettings
    settings: VSESettings

    @property
    def similarity(self) -> str:
        return self.settings.similarity

    def tokeniser(self, corpus: Corpus, settings: TextSettings) -> Tokeniser:
        return WordTokeniser.build(corpus.texts, corpus.languages.tolist(), settings)

    def load_tokeniser(self, saved: dict[str, object]) -> Tokeniser:
        return WordTokeniser.from_json(saved)

    def towers(self, tokeniser: Tokeniser, features: int) -> Towers:
        text = RecurrentTower(tokeniser.size, self.settings.word_dimensions, self.settings.dimensions)
        return Towers(text, PictureTower(features, self.settings.dimensions))

    def sampler(self, data: TrainingData, training: TrainingSettings) -> Sampler:
        return LanguageSampler(data, training.batch_size, training.seed, [data.codes], 0.0, training.length_pool)

    def loss(self, towers: Towers, data: TrainingData, batch: DeviceBatch) -> Tensor:
        captions, partners = batch.rows
        if batch.kind == "picture":
            left = towers.text(*data.captions(captions, batch.longest))
            right = towers.picture(data.features[partners])
        else:  # both captions of a pair in one pass through the tower
            left, right = towers.text(*data.captions(batch.rows.flatten(), batch.longest)).chunk(2)
        return self.ranking(data, batch.kind, captions, partners, left, right)

    def ranking(
        self, data: TrainingData, kind: str, captions: Tensor, partners: Tensor, left: Tensor, right: Tensor
    ) -> Tensor:
        """The loss of captions with their partners, given by rows and vectors [n, dimensions]; `kind` as of a batch."""
        scores = picture_scores if kind == "picture" else caption_scores
        with torch.autocast(left.device.type, enabled=False):  # in bf16 scores within .004 are one: recalls are lost
            return self.objective(scores(self.similarity, left, right), self.spared(data, kind, captions, partners))

    def objective(self, scores: Tensor, spared: Tensor | None) -> Tensor:
        sharpness = self.settings.temperature if self.settings.objective == "contrastive" else self.settings.margin
        return OBJECTIVES[self.settings.objective](scores, sharpness, spared)

    def spared(self, data: TrainingData, kind: str, captions: Tensor, partners: Tensor) -> Tensor | None:
        """Pairs (row, column) that match in truth: of one picture, or with a caption that says the same."""
        if not self.settings.spare_positives:
            return None
        # Against pictures, column j stands for the picture of caption j, so its text is caption j's text.
        return data.alike(captions, captions if kind == "picture" else partners)
