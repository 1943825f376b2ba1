"""Evaluate a model by what it was trained for, and leave the results in its run."""

from groundling import files
from groundling.dataset import Dataset
from groundling.evaluation.entailment import evaluate_entailment
from groundling.evaluation.retrieval import evaluate_retrieval
from groundling.model.trained import TrainedModel
from groundling.run import Run


def evaluate_and_save(run: Run, model: TrainedModel, dataset: Dataset) -> None:
    """evaluation.json, and beside it the rank of every test query or the verdict on every test statement.

    evaluation.json comes last: a run that has one is done.
    """
    if model.judges:
        judged = evaluate_entailment(model, dataset)
        judged.save(run.verdicts_file)
        files.write_json(run.evaluation_file, judged.result)
    else:
        evaluated = evaluate_retrieval(model, dataset)
        evaluated.save_ranks(run.ranks_file)
        files.write_json(run.evaluation_file, evaluated.result)
