"""Two runs on the same test queries: the difference of their recalls, and whether it is more than chance."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load_file

from groundling.errors import UserError
from groundling.evaluation.significance import hits, paired_bootstrap, paired_permutation
from groundling.run import Run

DIRECTIONS = ("text_to_image", "image_to_text")

Arrays = dict[str, npt.NDArray[Any]]


def load_ranks(run: Run) -> Arrays:
    """The per-query ranks that `groundling evaluate` left in a run."""
    if run.verdicts_file.exists():
        raise UserError(f"{run.folder} judges statements, which cannot be compared with a run that finds pictures")
    if not run.ranks_file.exists():
        raise UserError(f"{run.folder}: no ranks.safetensors here; evaluate it first: groundling evaluate {run.folder}")
    return _load(run, run.ranks_file)


def _load(run: Run, path: Path) -> Arrays:
    try:
        return load_file(path)
    except SafetensorError as error:
        raise UserError(f"{path}: damaged ({error}); evaluate the run again") from None


def compare(run: Run, baseline: Run, depth: int = 10, samples: int = 10_000) -> dict[str, Any]:
    """For each language of both runs and each direction: R@depth of both, their difference (run − baseline, in points)
    with the 95% interval of a paired bootstrap over pictures, and the p-value of a paired permutation test."""
    if run.verdicts_file.exists() and baseline.verdicts_file.exists():
        return compare_entailment(run, baseline, samples)
    ours, theirs = load_ranks(run), load_ranks(baseline)
    folds, other_folds = (int(ranks.get("folds", [1])[0]) for ranks in (ours, theirs))
    if folds != other_folds:
        raise UserError(
            f"{run.folder} was ranked in {folds} fold(s) and {baseline.folder} in {other_folds}; evaluate both alike"
        )
    languages = sorted(languages_of(ours) & languages_of(theirs))
    if not languages:
        raise UserError(f"{run.folder} and {baseline.folder} have no language in common")
    result: dict[str, Any] = {"run": str(run.folder), "baseline": str(baseline.folder), "languages": {}}
    for code in languages:
        owners = ours[f"{code}.owners"]
        same = np.array_equal(owners, theirs[f"{code}.owners"])
        pictures = len(ours[f"{code}.image_to_text"])
        if not same or pictures != len(theirs[f"{code}.image_to_text"]):
            raise UserError(
                f"{run.folder} and {baseline.folder} were not tested on the same {code} captions and pictures"
            )
        result["languages"][code] = {
            direction: _paired(
                ours[f"{code}.{direction}"],
                theirs[f"{code}.{direction}"],
                owners if direction == "text_to_image" else np.arange(pictures),
                depth,
                samples,
            )
            for direction in DIRECTIONS
        }
    return result


def compare_entailment(run: Run, baseline: Run, samples: int = 10_000) -> dict[str, Any]:
    """The same of runs that judge statements: of each language the accuracy, under the direction "verdicts"."""
    ours, theirs = (_load(one, one.verdicts_file) for one in (run, baseline))
    languages = sorted(languages_of(ours) & languages_of(theirs))
    if not languages:
        raise UserError(f"{run.folder} and {baseline.folder} have no language in common")
    result: dict[str, Any] = {"run": str(run.folder), "baseline": str(baseline.folder), "languages": {}}
    for code in languages:
        same = all(np.array_equal(ours[f"{code}.{key}"], theirs[f"{code}.{key}"]) for key in ("owners", "classes"))
        if not same:
            raise UserError(f"{run.folder} and {baseline.folder} were not tested on the same {code} statements")
        a, b = (one[f"{code}.probabilities"].argmax(axis=1) == one[f"{code}.classes"] for one in (ours, theirs))
        result["languages"][code] = {"verdicts": _tested(a, b, ours[f"{code}.owners"], samples)}
    return result


def languages_of(ranks: Arrays) -> set[str]:
    return {name.removesuffix(".owners") for name in ranks if name.endswith(".owners")}


def _paired(
    ours: npt.NDArray[np.int64],
    theirs: npt.NDArray[np.int64],
    groups: npt.NDArray[np.int64],
    depth: int,
    samples: int,
) -> dict[str, float]:
    asked = ours > 0  # a picture without captions is no query
    return _tested(hits(ours[asked], depth), hits(theirs[asked], depth), groups[asked], samples)


def _tested(
    a: npt.NDArray[np.bool_], b: npt.NDArray[np.bool_], groups: npt.NDArray[np.int64], samples: int
) -> dict[str, float]:
    drawn = paired_bootstrap(a, b, groups, samples)
    return {
        "run": 100 * float(a.mean()),
        "baseline": 100 * float(b.mean()),
        **{key: 100 * value for key, value in drawn.items()},
        "p": paired_permutation(a, b, groups, samples),
    }
