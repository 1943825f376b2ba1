"""One split of a corpus, by what a model was trained for: retrieval or entailment."""

from groundling.dataset import Dataset
from groundling.evaluation.entailment import JudgedSplit, evaluate_entailment
from groundling.evaluation.retrieval import RankedSplit, evaluate_retrieval
from groundling.model.trained import TrainedModel

EvaluatedSplit = RankedSplit | JudgedSplit


def evaluate_split(
    model: TrainedModel, dataset: Dataset, split: str = "test", captions: str | None = None, folds: int | None = None
) -> EvaluatedSplit:
    """`captions` and `folds` are for retrieval; see `evaluate_retrieval`."""
    if model.judges:
        return evaluate_entailment(model, dataset, split)
    return evaluate_retrieval(model, dataset, split, captions, folds)
