"""A run and a corpus to ask it about: its own, or another one."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from groundling.corpus import Corpus
from groundling.corpus.columns import Mask
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.asked_corpus import asked_corpus, looked_at
from groundling.evaluation.results import RetrievalResult
from groundling.evaluation.retrieval import check_queries, measure
from groundling.evaluation.scores import SCORES, Score
from groundling.evaluation.unseen import trained_languages
from groundling.model.protocol import Vectors
from groundling.model.trained import TrainedModel
from groundling.run import Run

Captions = Callable[[str], Vectors]  # language → the vectors of its captions


@dataclass(frozen=True)
class LoadedRun:
    """What every question about a run begins with.

    Attributes:
        data: the folder that tables of translations may lie below.
        split: which part of the corpus is asked.
        captions, folds: which captions ask, and in how many parts; the recipe says where None.
    """

    run: Run
    model: TrainedModel
    dataset: Dataset
    data: Path | None = None
    split: str = "test"
    captions: str | None = None
    folds: int | None = None

    @property
    def trained(self) -> list[str]:
        return trained_languages(self.run, self.model)

    def part(self, split: str | None = None) -> Dataset:
        return self.dataset.split(split or self.split)

    def asks(self, corpus: Corpus) -> Mask:
        """Which captions ask."""
        return corpus.is_query(self.captions or self.model.recipe.evaluation.captions)

    def parts(self) -> int:
        """The number of folds."""
        return self.folds or self.model.recipe.evaluation.folds

    def queries(self, corpus: Corpus, split: str | None = None, folds: int | None = None) -> Corpus:
        """The captions that ask; an error where they cannot be asked in this way."""
        captions = self.captions or self.model.recipe.evaluation.captions
        return check_queries(corpus, split or self.split, captions, folds or self.parts())

    def measure(
        self, asked: Corpus, pictures: Vectors, captions: Captions, score: Score | None = None
    ) -> RetrievalResult:
        """The result of captions, whose vectors are given for each language."""
        score = score or SCORES[self.model.system.similarity]
        result, _ = measure(asked, pictures, captions, self.split, self.parts(), score)
        return replace(result, skipped=self.dataset.skipped)


def load_run(
    folder: Path,
    corpus: str | None = None,
    data: Path | None = None,
    device: str = "auto",
    every_language: bool = False,
    **asked: Any,
) -> LoadedRun:
    """A run to be asked about captions; with `every_language`, also in those that it was not trained on.

    `asked` are the split, captions and folds of a `LoadedRun`. The run's folder is left as it is.
    """
    run, model = Run.open(folder), TrainedModel.load(folder, device)
    if model.judges:
        raise UserError(f"{folder} judges statements, and this is a question about captions")
    settings = asked_corpus(model.recipe.corpus, corpus, every_language=every_language)
    features = model.recipe.features
    dataset = Dataset.load(settings, features, data, looked_at(features, "dev", asked.get("split", "test")))
    loaded = LoadedRun(run, model, dataset, data, **asked)
    if not loaded.trained:
        raise UserError(f"{folder}: finish this run before it is asked about translations")
    return loaded
