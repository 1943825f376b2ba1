"""Evaluations: made, left in a folder, read again, and made anew where they no longer hold.

A run that is asked what it was trained for keeps the answer in its own folder. Every other model, and a run that is
asked something else, has a folder for it that the user names, or one in runs/.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.provenance import Provenance
from groundling.evaluation.request import EvaluationRequest
from groundling.evaluation.results import Result
from groundling.evaluation.split import EvaluatedSplit, evaluate_split
from groundling.files import read_json, write_json
from groundling.model import Model
from groundling.progress import notice
from groundling.run import Run


@dataclass(frozen=True)
class Evaluation:
    """A model on one split of a corpus.

    Attributes:
        run: the folder that has the answer, if it was `saved`.
        request: what the answer is to.
    """

    run: Run
    model: Model
    split: EvaluatedSplit
    saved: bool
    request: EvaluationRequest

    @property
    def result(self) -> Result:
        return self.split.result


def evaluate_model(
    model: Model,
    request: EvaluationRequest | None = None,
    data: Path | None = None,
    out: Path | None = None,
    dataset: Dataset | None = None,
) -> Evaluation:
    """Evaluate a model by what it is good for.

    The answer to a run's own question is kept in its folder, and what is asked of a run beside that is only answered,
    unless there is a folder `out` for it. Of other models all answers are kept, in `out` or in runs/MODEL-on-CORPUS.
    `dataset` saves loading the corpus again right after training.
    """
    request = (request or EvaluationRequest()).in_shared_languages(model, data)
    settings = request.corpus_for(model)
    own = out is None and request.is_own(model)
    if model.run is not None:
        say_if_unfinished(model.run)
    folder = None if model.run is not None and out is None else Run(out or answers_folder(model, settings.name))
    if folder is not None and folder.recipe_file.exists():
        raise UserError(f"{folder.folder}: there is a run in it; choose another folder for the evaluation with --out")
    evaluated = evaluate_split(model, dataset or model.dataset(settings, data, (request.split,)), request)
    if own and model.run is not None:
        save_own(model.run, evaluated)
    elif folder is not None:
        save(folder, evaluated, Provenance(model.fingerprint, evaluated.hashes(), request.to_json(model)))
    return Evaluation(folder or model.run or Run(Path()), model, evaluated, own or folder is not None, request)


def evaluate_run(
    folder: Path,
    request: EvaluationRequest | None = None,
    data: Path | None = None,
    device: str = "auto",
    dataset: Dataset | None = None,
) -> Evaluation:
    """Evaluate a run; see `evaluate_model`."""
    return evaluate_model(Model.load(Run.open(folder), device), request, data, dataset=dataset)


def answers_folder(model: Model, corpus: str) -> Path:
    """Where what a model answers about a corpus is kept if nobody says where."""
    parts = (Path(model.text_name or model.name).name, Path(corpus).name.removesuffix(Path(corpus).suffix) or corpus)
    return Path("runs") / "-on-".join(re.sub(r"[^\w.+-]", "-", part) for part in parts)


def save_own(run: Run, evaluated: EvaluatedSplit) -> None:
    """What a run has answered to its own question, in its folder."""
    save(run, evaluated, Provenance.of(run, evaluated.hashes()))


def save(run: Run, evaluated: EvaluatedSplit, made: Provenance) -> None:
    """The rank of every query, or the prediction for every statement, and then evaluation.json: a folder that has one
    is done, and what lies beside it belongs to it."""
    with run.rewriting(*run.results):
        for file in run.results:
            file.unlink(missing_ok=True)
        evaluated.save(run)
        write_json(run.evaluation_file, {**evaluated.result.to_json(), "made_from": made.to_json()})


def made_from(run: Run) -> Provenance | None:
    """What the saved evaluation was made from; None where it is from a time when nobody wrote that down."""
    data = read_json(run.verified(run.evaluation_file))
    if not isinstance(data, dict) or "made_from" not in data:
        return None
    try:
        return Provenance.from_json(data["made_from"])
    except (KeyError, TypeError):
        raise UserError(f"{run.evaluation_file}: damaged (what it was made from is cut); evaluate again") from None


def why_stale(run: Run) -> str | None:
    """In a few words why the saved evaluation does not hold for the model as it is; None where it does."""
    made = made_from(run)
    if made is not None:
        return made.why_stale(run)
    return "nobody knows which weights were evaluated" if run.weights_file.exists() else None


def refresh(run: Run, data: Path | None = None, device: str = "auto") -> None:
    """Evaluate anew if the saved evaluation no longer holds, and say so."""
    why = why_stale(run)
    if why is None:
        return say_if_unfinished(run)
    notice(f"{run.folder}: {why}; evaluating it again")
    made = made_from(run)
    if made is not None and made.request is not None:
        evaluate_model(made.model(device), made.request, data, run.folder)
    else:
        evaluate_run(run.folder, data=data, device=device)


def say_if_unfinished(run: Run) -> None:
    if run.recipe_file.exists() and not run.finished:
        notice(f"{run.folder}: its training has not ended; these are its best weights so far")
