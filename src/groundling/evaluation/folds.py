"""Means over folds: equal parts of consecutive pictures, each ranked by itself.

COCO's 1K protocol is the mean over five folds of 1,000 of Karpathy's 5,000 test pictures (Karpathy and Fei-Fei 2015);
the 5K protocol ranks all of them together.
"""

from dataclasses import replace

import numpy as np
from torch import Tensor

from groundling.errors import UserError
from groundling.evaluation.ranks import Integers, Ranks, Vectors, as_matrix, as_owners, ranks
from groundling.evaluation.recalls import recalls
from groundling.evaluation.results import RetrievalScores
from groundling.evaluation.scores import Score

BLOCK = 4096  # rows looked at together


def parts(pictures: int, owners: Integers, folds: int, caption: str = "caption", where: str = "") -> list[slice]:
    """The rows of pictures of each fold; an error where they cannot be equal, or where one has nothing to ask.

    `owners` are the rows of the captions' pictures; `caption` says which captions they are ("caption in de"), and
    `where` begins the sentence with a place.
    """
    if folds < 1 or pictures % folds or not pictures:
        raise UserError(f"{where}{pictures:,} pictures cannot be divided into {folds:,} equal folds")
    size = pictures // folds
    asked = np.bincount(owners // size, minlength=folds)
    if not asked.all():
        first = int(np.argmin(asked)) * size
        raise UserError(
            f"{where}rows {first:,} to {first + size - 1:,} of the pictures, fold {first // size + 1} of {folds}, "
            f"are without a single {caption}"
        )
    return [slice(start, start + size) for start in range(0, pictures, size)]


def fold_ranks(
    pictures: Vectors,
    captions: Vectors,
    owners: Vectors,
    folds: int,
    *,
    score: Score | None = None,
    names: tuple[str, str, str] = ("pictures", "captions", "owners"),
) -> Ranks:
    """Every query's rank within its fold, in the order of all queries; arguments as in `ranks`."""
    if folds == 1:
        return ranks(pictures, captions, owners, score=score, names=names)
    matrix, texts = as_matrix(pictures, names[0]), as_matrix(captions, names[1])
    rows = as_owners(owners, len(matrix), len(texts), names)
    for vectors, name in ((matrix, names[0]), (texts, names[1])):
        _require_finite(vectors, name)  # here, where a row still has its number in the whole array
    found = Ranks(np.zeros(len(texts), dtype=np.int64), np.zeros(len(matrix), dtype=np.int64))
    for part in parts(len(matrix), rows, folds, where=f"{names[0]}: "):
        inside = np.flatnonzero((rows >= part.start) & (rows < part.stop))
        one = ranks(matrix[part], texts[inside], rows[inside] - part.start, score=score, names=names)
        found.text_to_image[inside], found.image_to_text[part] = one.text_to_image, one.image_to_text
    return found


def fold_recalls(found: Ranks, owners: Integers, folds: int) -> RetrievalScores:
    """The mean of each number over the folds; pictures and captions are counted over all of them."""
    if folds == 1:
        return recalls(found)
    results = []
    for part in parts(len(found.image_to_text), owners, folds):
        inside = (owners >= part.start) & (owners < part.stop)
        results.append(recalls(Ranks(found.text_to_image[inside], found.image_to_text[part])))
    mean = RetrievalScores.average(results)
    return replace(mean, pictures=len(found.image_to_text), captions=len(found.text_to_image))


def _require_finite(vectors: Tensor, name: str) -> None:
    for start in range(0, len(vectors), BLOCK):
        broken = ~vectors[start : start + BLOCK].isfinite().all(dim=1)
        if broken.any():
            row = start + int(broken.nonzero()[0, 0])
            raise UserError(f"{name}: row {row} holds a number that is not finite (NaN or infinity)")
