"""Pictures as a grid of cells, and judging a statement cell by cell. Ours, for statements about number and place.

One vector of a picture would have to hold how many things of every description there are and how they lie to each
other. Here the picture stays a grid of cells. The sentence asks several things of each cell at once ("is it a star?",
"is it red?") by multiplying with what is seen there, as in FiLM (Perez et al. 2018, https://arxiv.org/abs/1709.07871);
the answers of all cells, in their places, are weighed together with the sentence.

>>> settings = GridSettings(cells=9, cell_dimensions=4)
>>> GridEncoder(9 * 5, 16, settings).eval()(torch.rand(2, 9 * 5)).shape
torch.Size([2, 36])
"""

from typing import Any, ClassVar

import torch
from pydantic import Field, PositiveInt
from torch import Tensor, nn
from torch.nn.functional import normalize, relu

from groundling.encoders.entailment import classifier
from groundling.encoders.picture.base import PICTURE_ENCODERS, PictureEncoder
from groundling.encoders.settings import EncoderSettings
from groundling.errors import UserError


class GridSettings(EncoderSettings):
    cells: PositiveInt = Field(9, description="how many a picture has, features.grid squared")
    cell_dimensions: PositiveInt = Field(64, description="what is kept of a cell")
    questions: PositiveInt = Field(4, description="what a sentence asks of each cell")


@PICTURE_ENCODERS.register("grid")
class GridEncoder(PictureEncoder):
    """Features of cells → batch norm → `cell_dimensions` for each, by the same layers for all → side by side."""

    Settings: ClassVar = GridSettings
    comparable: ClassVar = False

    def __init__(self, features: int, dimensions: int, settings: GridSettings) -> None:
        super().__init__(features)
        self.cells, size = settings.cells, settings.cell_dimensions
        if features % self.cells:
            raise UserError(
                f"system.cells: {features} features cannot be those of {self.cells} cells; set it to features.grid "
                "squared"
            )
        each = features // self.cells
        self.norm = nn.BatchNorm1d(each)
        self.look = nn.Sequential(nn.Linear(each, 2 * size), nn.ReLU(), nn.Linear(2 * size, size))

    @classmethod
    def vector_size(cls, dimensions: int, settings: Any) -> int:
        return int(settings.cells * settings.cell_dimensions)

    @classmethod
    def head(cls, dimensions: int, settings: Any, hidden: int, dropout: float) -> nn.Module:
        return GridEntailmentHead(
            dimensions, settings.cells, settings.cell_dimensions, settings.questions, hidden=hidden, dropout=dropout
        )

    def forward(self, features: Tensor) -> Tensor:
        """[pictures, cells · features of a cell] → [pictures, cells · cell dimensions]"""
        seen = self.look(self.norm(features.unflatten(1, (self.cells, -1)).flatten(end_dim=1)))
        return seen.float().unflatten(0, (-1, self.cells)).flatten(1)


class GridEntailmentHead(nn.Module):
    """Sentence → questions; each question ∘ each cell → a few answers; sentence and all answers → classifier."""

    def __init__(
        self,
        dimensions: int,
        cells: int,
        cell_dimensions: int,
        questions: int = 4,
        answers: int = 8,
        hidden: int = 128,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.cells, self.questions = cells, questions
        self.norm = nn.BatchNorm1d(dimensions)
        self.dropout = nn.Dropout(dropout)
        self.ask = nn.Linear(dimensions, questions * cell_dimensions)
        self.shift = nn.Linear(dimensions, questions * cell_dimensions)
        self.answer = nn.Linear(cell_dimensions, answers)
        self.layers = classifier(dimensions + cells * questions * answers, hidden, dropout)

    def forward(self, sentences: Tensor, pictures: Tensor) -> Tensor:
        """[n, dimensions] and [n, cells · cell dimensions], row by row → [n, 3] logits"""
        h = self.dropout(self.norm(normalize(sentences.float(), dim=-1)))
        cells = pictures.unflatten(1, (self.cells, 1, -1))  # [n, cells, 1, cell dimensions]
        scale = self.ask(h).unflatten(1, (1, self.questions, -1))  # [n, 1, questions, cell dimensions]
        shift = self.shift(h).unflatten(1, (1, self.questions, -1))
        answers = relu(self.answer(relu(cells * scale + shift)))  # [n, cells, questions, answers]
        logits: Tensor = self.layers(torch.cat([h, answers.flatten(1)], dim=-1))
        return logits.float()
