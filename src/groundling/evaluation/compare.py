"""Two runs on the same test queries: the difference of their recalls, and whether it is more than chance."""

from typing import Any

import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError
from safetensors.numpy import load_file

from groundling.errors import UserError
from groundling.evaluation.significance import hits, paired_bootstrap, paired_permutation
from groundling.run import Run

DIRECTIONS = ("text_to_image", "image_to_text")

Arrays = dict[str, npt.NDArray[np.int64]]


def load_ranks(run: Run) -> Arrays:
    """The per-query ranks that `groundling evaluate` left in a run."""
    if not run.ranks_file.exists():
        raise UserError(f"{run.folder}: no ranks.safetensors here; evaluate it first: groundling evaluate {run.folder}")
    try:
        return load_file(run.ranks_file)
    except SafetensorError as error:
        raise UserError(f"{run.ranks_file}: damaged ({error}); evaluate the run again") from None


def compare(run: Run, baseline: Run, depth: int = 10, samples: int = 10_000) -> dict[str, Any]:
    """For each language of both runs and each direction: R@depth of both, their difference (run − baseline, in points)
    with the 95% interval of a paired bootstrap over pictures, and the p-value of a paired permutation test."""
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
    a, b, groups = hits(ours[asked], depth), hits(theirs[asked], depth), groups[asked]
    drawn = paired_bootstrap(a, b, groups, samples)
    return {
        "run": 100 * float(a.mean()),
        "baseline": 100 * float(b.mean()),
        **{key: 100 * value for key, value in drawn.items()},
        "p": paired_permutation(a, b, groups, samples),
    }
