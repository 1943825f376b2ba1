"""A model and a corpus to ask it about: its own, or another one."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from groundling.corpus import Corpus
from groundling.corpus.columns import Mask
from groundling.dataset import Dataset
from groundling.devices import pick_device
from groundling.errors import UserError
from groundling.evaluation.request import EvaluationRequest
from groundling.evaluation.results import RetrievalResult
from groundling.evaluation.retrieval import check_queries, measure
from groundling.evaluation.scores import SCORES, Score
from groundling.model import Model, load
from groundling.model.vectors import Vectors

Captions = Callable[[str], Vectors]  # language → the vectors of its captions


@dataclass(frozen=True)
class LoadedModel:
    """What every question about translations and origins begins with.

    Attributes:
        data: the folder that tables of translations may lie below.
        device: where to compute what is learned for the question.
    """

    model: Model
    dataset: Dataset
    data: Path | None = None
    request: EvaluationRequest = field(default_factory=EvaluationRequest)
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    @property
    def split(self) -> str:
        return self.request.split

    @property
    def languages(self) -> list[str]:
        """Those that it can be asked in: what it was trained on, or all of the corpus where nobody knows."""
        return self.model.languages or sorted(self.dataset.corpus.all_languages())

    @property
    def score(self) -> Score:
        return SCORES[self.model.similarity]

    def part(self, split: str | None = None) -> Dataset:
        return self.dataset.split(split or self.split)

    @property
    def _captions(self) -> str | None:
        return self.request.captions or self.model.evaluation.captions

    def asks(self, corpus: Corpus) -> Mask:
        """Which captions ask."""
        return corpus.is_query(self._captions)

    def parts(self) -> int:
        """The number of folds."""
        return self.request.folds or self.model.evaluation.folds

    def queries(self, corpus: Corpus, split: str | None = None, folds: int | None = None) -> Corpus:
        """The captions that ask; an error where they cannot be asked in this way."""
        return check_queries(corpus, split or self.split, self._captions, folds or self.parts())

    def measure(
        self, asked: Corpus, pictures: Vectors, captions: Captions, score: Score | None = None
    ) -> RetrievalResult:
        """The result of captions, whose vectors are given for each language."""
        result, _ = measure(asked, pictures, captions, self.split, self.parts(), score or self.score)
        return replace(result, skipped=self.dataset.skipped)


def load_model(
    name: str,
    request: EvaluationRequest | None = None,
    data: Path | None = None,
    device: str = "auto",
    every_language: bool = False,
    text_model: str | None = None,
    prompt: str | None = None,
) -> LoadedModel:
    """A model to be asked about captions; with `every_language`, also in those that it was not trained on.

    Nothing is written.
    """
    request, model = request or EvaluationRequest(), load(name, text_model, device, prompt)
    if model.judges:
        raise UserError(f"{name} judges statements, and this is a question about captions")
    settings = request.corpus_for(model)
    if every_language:
        settings = settings.model_copy(update={"languages": None})
    if model.run is not None and not model.languages:
        raise UserError(f"{name}: finish this run before it is asked about translations")
    return LoadedModel(model, model.dataset(settings, data, ("dev", request.split)), data, request, pick_device(device))
