"""Exact ranks of captions among pictures and of pictures among captions, without ever holding all scores at once.

Scores are computed tile by tile in float32, which is fast but rounds. A rank must not depend on that: where a score is
so near the score it is compared with that rounding could decide, the pair is scored again in float64, always by the
same operations in the same order, so that equal vectors tie exactly. The ranks are those of a float64 double loop that
adds up in that order (`scores.row_sums`), whatever the tiles, on a CPU and on a GPU. In another order, float64 itself
may tell two scores apart, or not, that differ by less than its rounding. On a GPU whole strips of pictures are counted
at a time, by the same rule, in `groundling.evaluation.fused`.
"""

import warnings
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from groundling.errors import UserError
from groundling.evaluation.compute import full_precision
from groundling.evaluation.counting import Counting
from groundling.evaluation.scores import Dot, Score
from groundling.evaluation.sides import Side
from groundling.threads import workers

Vectors = Tensor | npt.NDArray[np.generic]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Ranks:
    """Ranks from 1 (best). A tie counts against the model.

    Attributes:
        text_to_image: for each caption, the rank of its picture among all pictures.
        image_to_text: for each picture, the rank of its best caption among the captions of other pictures;
            0 for a picture without captions, which is no query, though every caption is ranked against it.
    """

    text_to_image: Integers
    image_to_text: Integers

    def of(self, direction: str) -> Integers:
        """The ranks of the queries of one direction."""
        return self.text_to_image if direction == "text_to_image" else self.image_to_text[self.image_to_text > 0]


def ranks(
    pictures: Vectors,
    captions: Vectors,
    owners: Vectors,
    *,
    score: Score | None = None,
    tile: tuple[int, int] | None = None,
    names: tuple[str, str, str] = ("pictures", "captions", "owners"),
) -> Ranks:
    """Rank every caption's picture among all pictures, and every picture's best caption among all other captions.

    Args:
        pictures: vectors [P, D]; on a GPU where the tensors are there.
        captions: vectors [C, D]; with a score of several parts, so many of them side by side [C, parts · D].
        owners: for each caption, the row of its picture [C].
        score: how pictures and captions match; the dot product of the vectors as they are, unless told.
        tile: how many pictures and how many captions are scored at once; a matter of the device, unless told.
        names: what error messages call the three arrays (their files, say).
    """
    with torch.no_grad():
        picture_rows, caption_rows = as_matrix(pictures, names[0]), as_matrix(captions, names[1])
        score = score or Dot()
        if picture_rows.shape[1] * score.parts != caption_rows.shape[1]:
            raise UserError(
                f"{names[0]} has vectors of {picture_rows.shape[1]} dimensions but {names[1]} of "
                f"{caption_rows.shape[1]}: encode both with the same model"
            )
        owner_rows = as_owners(owners, len(picture_rows), len(caption_rows), names)
        device = picture_rows.device
        with full_precision(device), workers(device) as each:
            sides = Side(picture_rows, names[0], each), Side(caption_rows, names[1], each)
            return Ranks(*Counting(*sides, owner_rows, score, each).run(tile))


def as_matrix(vectors: Vectors, name: str) -> Tensor:
    """The vectors as a tensor of their own type, without a copy wherever possible."""
    if isinstance(vectors, np.ndarray):
        if vectors.dtype.kind not in "fiu" or vectors.dtype.itemsize > 8:
            raise UserError(f"{name} holds {vectors.dtype} values, where vectors are floating point or whole numbers")
        wide = vectors.dtype.kind == "u" and vectors.dtype.itemsize > 1  # torch cannot index these
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The given NumPy array is not writ")  # we only read
            kind = np.dtype(np.float64) if wide else vectors.dtype.newbyteorder("=")
            vectors = torch.from_numpy(np.ascontiguousarray(vectors, kind))
    if vectors.is_complex() or vectors.dtype == torch.bool:
        raise UserError(f"{name} holds {vectors.dtype} values, where vectors are floating point or whole numbers")
    if vectors.dim() != 2:
        shape = " × ".join(str(size) for size in vectors.shape)
        raise UserError(f"{name} has {vectors.dim()} dimension(s) ({shape}), where one vector per row is needed")
    if vectors.numel() == 0:
        raise UserError(f"{name} is empty ({len(vectors)} × {vectors.shape[1]}): there is nothing to rank")
    return vectors


def as_owners(owners: Vectors, pictures: int, captions: int, names: tuple[str, str, str]) -> Integers:
    """The owners, checked: one whole number per caption, each the row of a picture."""
    rows = np.asarray(owners.cpu() if isinstance(owners, Tensor) else owners)
    name = names[2]
    if rows.dtype.kind not in "iu":
        raise UserError(f"{name} holds {rows.dtype} values, where the row of each caption's picture is a whole number")
    if rows.shape != (captions,):
        shape = " × ".join(str(size) for size in rows.shape)
        raise UserError(f"{name} has the shape {shape}, but {names[1]} has {captions} captions: give one row for each")
    outside = np.flatnonzero((rows < 0) | (rows >= pictures))
    if len(outside):
        raise UserError(
            f"{name}: row {outside[0]} is {rows[outside[0]]}, but {names[0]} has {pictures} pictures, "
            f"rows 0 to {pictures - 1}"
        )
    return rows.astype(np.int64)
