"""Evaluations of runs: made, left in their folders, read again, and made anew where they no longer hold."""

from dataclasses import dataclass
from pathlib import Path

from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.evaluation.asked_corpus import asked_corpus, looked_at
from groundling.evaluation.made_from import MadeFrom
from groundling.evaluation.results import Result
from groundling.evaluation.split import EvaluatedSplit, evaluate_split
from groundling.files import read_json, write_json
from groundling.model.trained import TrainedModel
from groundling.progress import notice
from groundling.run import Run


@dataclass(frozen=True)
class Evaluation:
    """A run on one split of a corpus. `saved`: the answer is kept in its folder, for the question was the run's own."""

    run: Run
    model: TrainedModel
    split: EvaluatedSplit
    saved: bool

    @property
    def result(self) -> Result:
        return self.split.result


def evaluate_run(
    folder: Path,
    split: str = "test",
    captions: str | None = None,
    corpus: str | None = None,
    data: Path | None = None,
    device: str = "auto",
    dataset: Dataset | None = None,
    folds: int | None = None,
) -> Evaluation:
    """Evaluate a run by what it was trained for.

    Only the run's own corpus, test split, queries and folds change what is kept in the run folder; other questions are
    answered without overwriting it. `dataset` saves loading the corpus again right after training.
    """
    run, model = Run.open(folder), TrainedModel.load(folder, device)
    if model.judges and (captions is not None or folds is not None):
        raise UserError(f"{folder} judges statements: there are no captions to choose from, and no folds")
    say_if_unfinished(run)
    if dataset is None:
        features, splits = model.recipe.features, looked_at(model.recipe.features, split)
        dataset = Dataset.load(asked_corpus(model.recipe.corpus, corpus), features, data, splits)
    evaluated = evaluate_split(model, dataset, split, captions, folds)
    own = (split, captions, corpus) == ("test", None, None) and folds in (None, model.recipe.evaluation.folds)
    if own:
        save(run, evaluated)
    return Evaluation(run, model, evaluated, own)


def save(run: Run, evaluated: EvaluatedSplit) -> None:
    """The rank of every query, or the prediction for every statement, and then evaluation.json: a run that has one is
    done, and what lies beside it belongs to it."""
    with run.rewriting(run.evaluation_file, run.ranks_file, run.predictions_file):
        run.evaluation_file.unlink(missing_ok=True)
        evaluated.save(run)
        write_json(run.evaluation_file, {**evaluated.result.to_json(), "made_from": evaluated.made_from(run).to_json()})


def made_from(run: Run) -> MadeFrom | None:
    """What the saved evaluation was made from; None where it is from a time when nobody wrote that down."""
    data = read_json(run.verified(run.evaluation_file))
    return MadeFrom.from_json(data["made_from"]) if isinstance(data, dict) and "made_from" in data else None


def why_stale(run: Run) -> str | None:
    """In a few words why the saved evaluation does not hold for the run as it is; None where it does.

    Where the weights are gone, as they are after a table, nothing can have changed.
    """
    if not run.weights_file.exists():
        return None
    made = made_from(run)
    return "nobody knows which weights were evaluated" if made is None else made.why_stale(run)


def refresh(run: Run, data: Path | None = None, device: str = "auto") -> None:
    """Evaluate the run anew if its saved evaluation no longer holds, and say so."""
    why = why_stale(run)
    if why is not None:
        notice(f"{run.folder}: {why}; evaluating it again")
        evaluate_run(run.folder, data=data, device=device)
    else:
        say_if_unfinished(run)


def say_if_unfinished(run: Run) -> None:
    if not run.finished:
        notice(f"{run.folder}: its training has not ended; these are its best weights so far")
