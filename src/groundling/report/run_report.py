"""Evaluate a run and leave the results and the report beside it."""

from pathlib import Path
from typing import Any

from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.entailment import evaluate_entailment
from groundling.evaluation.examples import examples
from groundling.evaluation.retrieval import evaluate_retrieval
from groundling.files import read_json, write_json
from groundling.model.trained import TrainedModel
from groundling.report.page import write
from groundling.run import Run
from groundling.training.metrics import read_metrics


def evaluate_run(
    folder: Path,
    split: str = "test",
    captions: str | None = None,
    corpus: str | None = None,
    data: Path | None = None,
    device: str = "auto",
    dataset: Dataset | None = None,
    folds: int | None = None,
) -> tuple[dict[str, Any], Path | None]:
    """The evaluation, and the path of the HTML page where one was written.

    Only the run's own corpus, test split, queries and folds change what is kept in the run folder; other questions are
    answered without overwriting it. `dataset` saves loading the corpus again right after training.
    """
    run, model = Run.open(folder), TrainedModel.load(folder, device)
    if model.judges:
        if captions is not None or folds is not None:
            raise UserError(f"{folder} judges statements: there are no captions to choose from, and no folds")
        return judge_run(run, model, split, corpus, data, dataset)
    if dataset is None:
        source = model.recipe.corpus
        if corpus is not None:
            source = source.model_copy(update={"name": corpus, "split": None})
        dataset = Dataset.load(source, model.recipe.features, data)
    evaluated = evaluate_retrieval(model, dataset, split, captions, folds)
    if dataset.skipped:
        evaluated.result["skipped"] = list(dataset.skipped)
    if (split, captions, corpus, evaluated.folds) != ("test", None, None, model.recipe.evaluation.folds):
        return evaluated.result, None
    write_json(run.evaluation_file, evaluated.result)
    evaluated.save_ranks(run.ranks_file)
    facts = read_json(run.facts_file) if run.finished else {}
    settings = model.recipe.model_dump(exclude_none=True)
    page, _ = write(folder, evaluated.result, read_metrics(run.metrics_file), settings, facts, examples(evaluated))
    return evaluated.result, page


def judge_run(
    run: Run, model: TrainedModel, split: str, corpus: str | None, data: Path | None, dataset: Dataset | None
) -> tuple[dict[str, Any], Path | None]:
    """The same for a model that judges statements."""
    if dataset is None:
        source = model.recipe.corpus
        if corpus is not None:
            source = source.model_copy(update={"name": corpus, "split": None})
        dataset = Dataset.load(source, model.recipe.features, data)
    judged = evaluate_entailment(model, dataset, split)
    if dataset.skipped:
        judged.result["skipped"] = list(dataset.skipped)
    if (split, corpus) != ("test", None):
        return judged.result, None
    write_json(run.evaluation_file, judged.result)
    judged.save(run.verdicts_file)
    facts = read_json(run.facts_file) if run.finished else {}
    settings = model.recipe.model_dump(exclude_none=True)
    page, _ = write(run.folder, judged.result, read_metrics(run.metrics_file), settings, facts)
    return judged.result, page
