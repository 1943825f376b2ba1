"""What an evaluation leaves beside its numbers: the rank of every query, or the prediction for every statement.

Two runs are compared by them, and metrics that are registered later are computed from them: no model is needed for it.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load_file

from groundling.errors import UserError
from groundling.evaluation.entailment_scores import Predictions
from groundling.evaluation.folds import fold_recalls
from groundling.evaluation.metrics import METRICS, EntailmentMetric, of_kind
from groundling.evaluation.ranks import Ranks
from groundling.evaluation.results import EntailmentResult, Result, RetrievalResult, RetrievalScores
from groundling.run import Run

Arrays = dict[str, npt.NDArray[Any]]
RANKS, PREDICTIONS = ("owners", "text_to_image", "image_to_text"), ("owners", "classes", "probabilities")


def load_answers(run: Run, path: Path) -> Arrays:
    """The per-query ranks, or the prediction for every statement, that `groundling evaluate` left in a run."""
    if not run.evaluation_file.exists() or not path.exists():
        raise UserError(f"{run.folder}: no {path.name} here; evaluate it first: groundling evaluate {run.folder}")
    try:
        arrays = load_file(run.verified(path))
    except SafetensorError as error:
        raise UserError(f"{path}: damaged ({error}); evaluate the run again") from None
    for code in {name.rpartition(".")[0] for name in arrays if "." in name}:
        wanted = [f"{code}.{part}" for part in (RANKS if path == run.ranks_file else PREDICTIONS)]
        if any(name not in arrays for name in wanted) or len(arrays[wanted[0]]) != len(arrays[wanted[1]]):
            raise UserError(f"{path}: damaged (not all of {code} is there); evaluate the run again")
    return arrays


def completed(run: Run, result: Result) -> Result:
    """The saved evaluation of a run, with metrics that there were not when it was made."""
    known = {name for part in result.languages.values() for name in part.names()}
    computed = [name for name, metric in METRICS.items() if metric.task == result.task and not metric.asks_training]
    if all(name in known for name in computed):
        return result
    return _COMPLETED[result.task](run, result)


def _retrieval(run: Run, result: RetrievalResult) -> RetrievalResult:
    if not run.ranks_file.exists():
        return result
    arrays = load_answers(run, run.ranks_file)
    languages = {}
    for code in result.languages:
        found = Ranks(arrays[f"{code}.text_to_image"], arrays[f"{code}.image_to_text"])
        languages[code] = fold_recalls(found, arrays[f"{code}.owners"], result.folds)
    return replace(result, languages=languages, mean=RetrievalScores.average(list(languages.values())))


def _entailment(run: Run, result: EntailmentResult) -> EntailmentResult:
    if not run.predictions_file.exists():
        return result
    arrays = load_answers(run, run.predictions_file)
    languages = {}
    for code, part in result.languages.items():
        found = Predictions(arrays[f"{code}.classes"], arrays[f"{code}.probabilities"].astype("float64"))
        more = {metric.name: metric.compute(found) for metric in of_kind(EntailmentMetric)}
        languages[code] = replace(part, values={**more, **part.values})
    return replace(result, languages=languages)


_COMPLETED: dict[str, Callable[[Run, Any], Result]] = {"retrieval": _retrieval, "entailment": _entailment}
