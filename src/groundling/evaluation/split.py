"""One split of a corpus, by what a model was trained for: retrieval or entailment."""

from typing import cast

from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.entailment import JudgedSplit, evaluate_entailment
from groundling.evaluation.request import EvaluationRequest
from groundling.evaluation.retrieval import RankedSplit, evaluate_retrieval
from groundling.model import FeatureModel, Model

EvaluatedSplit = RankedSplit | JudgedSplit


def evaluate_split(model: Model, dataset: Dataset, request: EvaluationRequest | None = None) -> EvaluatedSplit:
    """The test split as the model is tested, where nothing else is asked."""
    request = request or EvaluationRequest()
    if not model.judges:
        model.check_finds()
        return evaluate_retrieval(model, dataset, request.split, request.captions, request.folds)
    if (request.captions, request.folds) != (None, None):
        raise UserError(f"{model.name} judges statements: there are no captions to choose from, and no folds")
    return evaluate_entailment(cast(FeatureModel, model), dataset, request.split)
