"""A run and a corpus to ask it about: its own, or another one."""

from dataclasses import dataclass
from pathlib import Path

from groundling.corpus import Corpus
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.asked_corpus import asked_corpus, looked_at
from groundling.evaluation.results import RetrievalResult
from groundling.evaluation.retrieval import check_queries, measure
from groundling.evaluation.scores import SCORES
from groundling.evaluation.unseen import trained_languages
from groundling.model.protocol import Vectors
from groundling.model.trained import TrainedModel
from groundling.run import Run


@dataclass(frozen=True)
class LoadedRun:
    """What every question about a run begins with."""

    run: Run
    model: TrainedModel
    dataset: Dataset

    @property
    def trained(self) -> list[str]:
        return trained_languages(self.run, self.model)

    def queries(self, part: Corpus, split: str, captions: str | None, folds: int | None) -> tuple[Corpus, int]:
        """The captions of a split that ask, and the number of folds, as the recipe has them unless told."""
        settings = self.model.recipe.evaluation
        folds = folds or settings.folds
        return check_queries(part, split, captions or settings.captions, folds), folds

    def measure(self, asked: Corpus, pictures: Vectors, vectors: Vectors, split: str, folds: int) -> RetrievalResult:
        """The result of captions with these vectors."""
        score = SCORES[self.model.system.similarity]
        return measure(asked, pictures, lambda code: vectors[asked.languages == code], split, folds, score)[0]


def load_run(
    folder: Path, corpus: str | None, data: Path | None, device: str, every_language: bool = False
) -> LoadedRun:
    """A run to be asked about captions; with `every_language`, also in those that it was not trained on."""
    run, model = Run.open(folder), TrainedModel.load(folder, device)
    if model.judges:
        raise UserError(f"{folder} judges statements, and this is a question about captions")
    settings = asked_corpus(model.recipe.corpus, corpus, every_language=every_language)
    features = model.recipe.features
    loaded = LoadedRun(run, model, Dataset.load(settings, features, data, looked_at(features, "dev", "test")))
    if not loaded.trained:
        raise UserError(f"{folder}: finish this run before it is asked about translations")
    return loaded
