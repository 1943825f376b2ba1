"""Two models on the same test queries: the difference of their recalls, and whether it is more than chance."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from groundling.errors import UserError
from groundling.evaluation.provenance import Provenance
from groundling.evaluation.request import EvaluationRequest
from groundling.evaluation.saved import answers_folder, evaluate_model, made_from, refresh
from groundling.evaluation.saved_answers import Arrays, load_answers
from groundling.evaluation.significance import hits, paired_bootstrap, paired_permutation
from groundling.model import load
from groundling.progress import notice
from groundling.run import Run

DIRECTIONS = ("text_to_image", "image_to_text")
ENTAILMENT = "verdicts"  # in the place of a direction: the JSON of this command has always called it so


@dataclass(frozen=True)
class Difference:
    """Two runs on the same queries, in percent.

    Attributes:
        run, baseline: R@depth, or the accuracy, of each.
        difference: run − baseline, with the 95% interval `low` to `high` of a paired bootstrap over pictures.
        p: of a paired permutation test.
    """

    run: float
    baseline: float
    difference: float
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class Comparison:
    """A run and a baseline: language → direction → their difference."""

    run: str
    baseline: str
    languages: dict[str, dict[str, Difference]]

    def to_json(self) -> dict[str, object]:
        return asdict(self)


def evaluated_alike(names: Sequence[str], data: Path | None = None, device: str = "auto") -> list[Run]:
    """The folders that have the evaluations of these models, made anew where they no longer hold.

    A model that is no run, and whose folder has no evaluation, is asked what the first evaluated one was asked.
    """
    folders = [Run(Path(name).expanduser()) for name in names]
    for run in dict.fromkeys(folders):
        if run.evaluation_file.exists():
            refresh(run, data, device)
    first = next((run for run in folders if run.evaluation_file.exists()), None)
    return [
        run if _has_answers(run) else _asked_like(first, name, data, device)
        for run, name in zip(folders, names, strict=True)
    ]


def _has_answers(run: Run) -> bool:
    """A run that has none yet is evaluated by the user, who may want to wait until it has ended."""
    return run.evaluation_file.exists() or run.recipe_file.exists()


def _asked_like(first: Run | None, name: str, data: Path | None, device: str) -> Run:
    model = load(name, device=device)
    if first is None:
        raise UserError(
            f"{name}: evaluate it first and compare its folder: groundling evaluate {name} --corpus CORPUS --out FOLDER"
        )
    made = made_from(first)
    request = made.request if made is not None else None
    if request is None:
        recipe = first.recipe()
        request = EvaluationRequest(recipe.corpus, captions=recipe.evaluation.captions, folds=recipe.evaluation.folds)
    there = Run(answers_folder(model, request.corpus_for(model).name))
    if there.evaluation_file.exists():
        known = made_from(there)
        if known is not None and known.weights == model.fingerprint and known.settings == request.to_json(model):
            return there
    notice(f"{name}: evaluating it on corpus {request.corpus_for(model).name}, in {there.folder}")
    return evaluate_model(model, request, data).run


def compare(run: Run, baseline: Run, depth: int = 10, samples: int = 10_000) -> Comparison:
    """For each language of both runs: R@depth of each direction or, of runs that judge statements, the accuracy."""
    judging = [one.predictions_file.exists() for one in (run, baseline)]
    if judging[0] != judging[1]:
        judge = run if judging[0] else baseline
        raise UserError(f"{judge.folder} judges statements, which cannot be compared with a run that finds pictures")
    ours, theirs = (
        load_answers(one, one.predictions_file if judging[0] else one.ranks_file) for one in (run, baseline)
    )
    folds, other_folds = (int(arrays.get("folds", [1])[0]) for arrays in (ours, theirs))
    if folds != other_folds:
        raise UserError(
            f"{run.folder} was ranked in {folds} fold(s) and {baseline.folder} in {other_folds}; evaluate both alike"
        )
    languages = sorted(languages_of(ours) & languages_of(theirs))
    if not languages:
        raise UserError(f"{run.folder} and {baseline.folder} have no language in common")
    origins = made_from(run), made_from(baseline)
    found = {}
    for code in languages:
        if not (_same_queries(ours, theirs, code) and _same_texts(*origins, code)):
            what = "statements" if judging[0] else "captions and pictures"
            raise UserError(f"{run.folder} and {baseline.folder} were not tested on the same {code} {what}")
        found[code] = (
            _entailment(ours, theirs, code, samples) if judging[0] else _retrieval(ours, theirs, code, depth, samples)
        )
    return Comparison(str(run.folder), str(baseline.folder), found)


def languages_of(arrays: Arrays) -> set[str]:
    return {name.removesuffix(".owners") for name in arrays if name.endswith(".owners")}


def _same_queries(ours: Arrays, theirs: Arrays, code: str) -> bool:
    keys = [key for key in (f"{code}.owners", f"{code}.classes") if key in ours]
    pictures = f"{code}.image_to_text"
    return all(np.array_equal(ours[key], theirs[key]) for key in keys) and (
        pictures not in ours or len(ours[pictures]) == len(theirs[pictures])
    )


def _same_texts(ours: Provenance | None, theirs: Provenance | None, code: str) -> bool:
    """Whether the queries were the same, word for word; evaluations of older versions do not tell."""
    if ours is None or theirs is None:
        return True
    asked = ours.corpus.get(code)
    return asked is not None and asked == theirs.corpus.get(code)


def _retrieval(ours: Arrays, theirs: Arrays, code: str, depth: int, samples: int) -> dict[str, Difference]:
    found = {}
    for direction in DIRECTIONS:
        a, b = ours[f"{code}.{direction}"], theirs[f"{code}.{direction}"]
        groups = ours[f"{code}.owners"] if direction == "text_to_image" else np.arange(len(a))
        asked = a > 0  # a picture without captions is no query
        found[direction] = _tested(hits(a[asked], depth), hits(b[asked], depth), groups[asked], samples)
    return found


def _entailment(ours: Arrays, theirs: Arrays, code: str, samples: int) -> dict[str, Difference]:
    a, b = (one[f"{code}.probabilities"].argmax(axis=1) == one[f"{code}.classes"] for one in (ours, theirs))
    return {ENTAILMENT: _tested(a, b, ours[f"{code}.owners"], samples)}


def _tested(
    a: npt.NDArray[np.bool_], b: npt.NDArray[np.bool_], groups: npt.NDArray[np.int64], samples: int
) -> Difference:
    drawn = paired_bootstrap(a, b, groups, samples)
    p = paired_permutation(a, b, groups, samples)
    difference, low, high = (100 * value for value in drawn)
    return Difference(100 * float(a.mean()), 100 * float(b.mean()), difference, low, high, p)
