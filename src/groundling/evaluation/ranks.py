"""Exact ranks of captions among pictures and of pictures among captions, without ever holding all scores at once.

Scores are computed tile by tile in float32, which is fast but rounds. A rank must not depend on that: where a score is
so near the score it is compared with that rounding could decide, the pair is scored again in float64, always by the same
operations in the same order, so that equal vectors tie exactly. The ranks are those of a float64 double loop.
"""

import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from groundling.errors import UserError
from groundling.progress import bar

Vectors = Tensor | npt.NDArray[np.generic]
Integers = npt.NDArray[np.int64]

DEPTH = 128  # dimensions summed at a time in a float32 product: the shorter the sums, the smaller the rounding error
SPARSE = 64  # a tile with more than one pair in 64 near a threshold is scored anew as a whole, not pair by pair


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


class Score(Protocol):
    """How well a picture and a caption match; `Dot` is the usual one, an asymmetric score can stand in its place."""

    def block(self, pictures: Tensor, captions: Tensor) -> Tensor:
        """All scores [p, c] of pictures [p, d] and captions [c, d], in their precision, as fast as can be."""
        ...

    def pairs(self, pictures: Tensor, captions: Tensor) -> Tensor:
        """The score of each row of pictures [n, d] with that row of captions [n, d], in float64.

        Must not depend on the other rows, not even in the last bit.
        """
        ...

    def error(
        self, picture_norms: Tensor, caption_norms: Tensor, dimensions: int, dtype: torch.dtype, whole: bool
    ) -> Tensor:
        """How far `block` in precision `dtype` can be from `pairs`; `whole`: all vectors hold whole numbers.

        Never less than the rounding of a score itself to `dtype`; 0 only where `block` is exact.
        """
        ...


class Dot:
    """The dot product; the cosine where vectors are normalised."""

    def block(self, pictures: Tensor, captions: Tensor) -> Tensor:
        scores = pictures[:, :DEPTH] @ captions[:, :DEPTH].T
        for start in range(DEPTH, pictures.shape[1], DEPTH):
            scores.addmm_(pictures[:, start : start + DEPTH], captions[:, start : start + DEPTH].T)
        return scores

    def pairs(self, pictures: Tensor, captions: Tensor) -> Tensor:
        return row_sums(pictures * captions)

    def error(
        self, picture_norms: Tensor, caption_norms: Tensor, dimensions: int, dtype: torch.dtype, whole: bool
    ) -> Tensor:
        # A sum of n products is off by at most n roundings of Σ|aᵢbᵢ| ≤ ‖a‖‖b‖, in whatever order it is added up.
        # Added here: one rounding for each partial sum, for `pairs`, for the vectors and for the score itself.
        roundings = min(dimensions, DEPTH) + math.ceil(dimensions / DEPTH) + dimensions.bit_length() + 6
        half_step = torch.finfo(dtype).eps / 2
        largest = picture_norms * caption_norms
        bound = 1.01 * roundings * half_step * largest
        return torch.where(largest < 1 / half_step, 0.0, bound) if whole else bound


def row_sums(values: Tensor) -> Tensor:
    """The sum of each row [n, d], in place, by folding rows in halves: no library decides the order of additions."""
    width = values.shape[1]
    while width > 1:
        half = width // 2
        values[:, :half] += values[:, width - half : width]
        width -= half
    return values[:, 0]


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
        captions: vectors [C, D].
        owners: for each caption, the row of its picture [C].
        score: how pictures and captions match; the dot product of the vectors as they are, unless told.
        tile: how many pictures and how many captions are scored at once.
        names: what error messages call the three arrays (their files, say).
    """
    with torch.no_grad(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The given NumPy array is not writ")  # we only read
        picture_rows, caption_rows = as_matrix(pictures, names[0]), as_matrix(captions, names[1])
        if picture_rows.shape[1] != caption_rows.shape[1]:
            raise UserError(
                f"{names[0]} has vectors of {picture_rows.shape[1]} dimensions but {names[1]} of "
                f"{caption_rows.shape[1]}: encode both with the same model"
            )
        owner_rows = as_owners(owners, len(picture_rows), len(caption_rows), names)
        with full_precision(picture_rows.device):
            counting = _Counting(
                _Side(picture_rows, names[0]), _Side(caption_rows, names[1]), owner_rows, score or Dot()
            )
            return counting.run(tile or ((1000, 2000) if picture_rows.device.type == "cpu" else (4096, 4096)))


def as_matrix(vectors: Vectors, name: str) -> Tensor:
    """The vectors as a tensor of their own type, without a copy wherever possible."""
    if isinstance(vectors, np.ndarray):
        if vectors.dtype.kind not in "fiu" or vectors.dtype.itemsize > 8:
            raise UserError(f"{name} holds {vectors.dtype} values, where vectors are floating point or whole numbers")
        vectors = torch.from_numpy(np.ascontiguousarray(vectors, vectors.dtype.newbyteorder("=")))
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


@contextmanager
def full_precision(device: torch.device) -> Iterator[None]:
    """Float32 products in float32, whatever training has set: neither autocast nor TF32 nor bfloat16 inside."""
    parts = [getattr(backend, "matmul", None) for backend in (torch.backends.cuda, torch.backends.mkldnn)]
    with torch.autocast(device.type, enabled=False):
        if all(hasattr(part, "fp32_precision") for part in parts):
            before = [part.fp32_precision for part in parts]  # type: ignore[union-attr]
            try:
                for part in parts:
                    part.fp32_precision = "ieee"  # type: ignore[union-attr]
                yield
            finally:
                for part, value in zip(parts, before, strict=True):
                    part.fp32_precision = value  # type: ignore[union-attr]
        else:  # before torch 2.9 there is one setting for all
            legacy = torch.get_float32_matmul_precision()
            try:
                torch.set_float32_matmul_precision("highest")
                yield
            finally:
                torch.set_float32_matmul_precision(legacy)


class _Side:
    """The pictures or the captions: rows in any precision, and what the error bound needs to know of them.

    Vectors whose numbers are very large or very small are scaled by a power of two, which changes no rank, so that no
    product leaves the range of float32.
    """

    def __init__(self, vectors: Tensor, name: str) -> None:
        self.vectors, self.factor, self.whole = vectors, 1.0, True
        narrow = vectors.dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int16)
        dtype = torch.float32 if narrow else torch.float64
        parts = [slice(start, start + 1000) for start in range(0, len(vectors), 1000)]
        peak = 0.0
        for part in parts:
            rows = self.rows(part, dtype)
            low, high = (float(extreme) for extreme in torch.aminmax(rows))
            if not math.isfinite(low + high):
                row = part.start + int((~rows.isfinite()).any(dim=1).nonzero()[0, 0])
                raise UserError(f"{name}: row {row} holds a number that is not finite (NaN or infinity)")
            peak = max(peak, -low, high)
            self.whole = self.whole and bool((rows == rows.round()).all())
        if peak and not 2.0**-20 <= peak <= 2.0**20:
            self.factor, self.whole = 2.0 ** -math.frexp(peak)[1], False
        norms = [torch.linalg.vector_norm(self.rows(part, dtype), dim=1).double() for part in parts]
        self.norms = torch.cat(norms).clamp_(min=2.0**-30)  # below, error bounds would have to think of underflow

    def rows(self, which: slice | Tensor, dtype: torch.dtype) -> Tensor:
        rows = self.vectors[which]
        return rows.to(dtype) if self.factor == 1 else (rows.double() * self.factor).to(dtype)


@dataclass(frozen=True)
class _Band:
    """One direction of a tile: who surely scores at least its threshold, and who is too near to tell in this precision.

    Attributes:
        along: 0 where captions have the thresholds (one per column), 1 where pictures have (one per row).
        lower, upper: the edges of what is too near to tell.
        sure, near: how many scores of each column, or row, lie above the band and inside it.
    """

    along: int
    lower: Tensor
    upper: Tensor
    sure: Tensor
    near: Tensor


class _Counting:
    """Counts, tile by tile, the scores that are at least as high as the one that should be the highest."""

    def __init__(self, pictures: _Side, captions: _Side, owners: Integers, score: Score) -> None:
        self.pictures, self.captions, self.owners, self.score = pictures, captions, owners, score
        self.device, self.dimensions = pictures.vectors.device, pictures.vectors.shape[1]
        on_device = torch.from_numpy(owners).to(self.device)
        self.own = self.pair_scores(on_device, torch.arange(len(owners), device=self.device))
        self.best = torch.full((len(pictures.vectors),), math.inf, dtype=torch.float64, device=self.device)
        self.best.scatter_reduce_(0, on_device, self.own, "amax", include_self=False)
        self.above_own = torch.zeros(len(owners), dtype=torch.int64, device=self.device)
        self.above_best = torch.zeros(len(pictures.vectors), dtype=torch.int64, device=self.device)

    def run(self, tile: tuple[int, int]) -> Ranks:
        picture_parts, caption_parts = (
            [slice(start, min(start + size, total)) for start in range(0, total, size)]
            for size, total in zip(tile, (len(self.above_best), len(self.above_own)), strict=True)
        )
        with bar("ranking", len(picture_parts) * len(caption_parts)) as progress:
            for columns in caption_parts:
                for rows in picture_parts:
                    self.count(rows, columns)
                    progress.advance()
        text_to_image = (1 + self.above_own).cpu().numpy()
        image_to_text = torch.where(self.best == math.inf, 0, 1 + self.above_best).cpu().numpy()
        return Ranks(text_to_image, image_to_text)

    def count(self, rows: slice, columns: slice) -> None:
        """Add what the tile of these pictures and captions holds to the counts."""
        for dtype in (torch.float32, torch.float64):
            scores = self.score.block(self.pictures.rows(rows, dtype), self.captions.rows(columns, dtype))
            self.hide_own(scores, rows, columns)
            bands = self.bands(scores, rows, columns)
            near = int(bands[0].near.sum() + bands[1].near.sum())
            if near * SPARSE <= scores.numel():
                break
            if dtype == torch.float32 and (exact := self.exact_block(rows, columns)) is not None:
                self.hide_own(exact, rows, columns)
                self.above_own[columns] += (exact >= self.own[columns]).sum(dim=0)
                self.above_best[rows] += (exact >= self.best[rows, None]).sum(dim=1)
                return
        self.above_own[columns] += bands[0].sure.long()
        self.above_best[rows] += bands[1].sure.long()
        if near:
            picture, caption = self.near_pairs(scores, bands[0], rows, columns)
            counted = self.pair_scores(picture, caption) >= self.own[caption]
            self.above_own.index_add_(0, caption, counted.long())
            picture, caption = self.near_pairs(scores, bands[1], rows, columns)
            counted = self.pair_scores(picture, caption) >= self.best[picture]
            self.above_best.index_add_(0, picture, counted.long())

    def hide_own(self, scores: Tensor, rows: slice, columns: slice) -> None:
        """A picture and its own captions do not compete: no threshold is as low as their scores become here."""
        owners = self.owners[columns]
        inside = np.flatnonzero((owners >= rows.start) & (owners < rows.stop))
        at = torch.from_numpy(np.stack([owners[inside] - rows.start, inside])).to(self.device)
        scores[at[0], at[1]] = -math.inf

    def bands(self, scores: Tensor, rows: slice, columns: slice) -> tuple[_Band, _Band]:
        pictures, captions = self.pictures.norms[rows], self.captions.norms[columns]
        whole = self.pictures.whole and self.captions.whole
        by_caption = self.score.error(pictures.max(), captions, self.dimensions, scores.dtype, whole)
        by_picture = self.score.error(pictures, captions.max(), self.dimensions, scores.dtype, whole)
        flags = torch.empty_like(scores)  # ones and zeros of the scores' own type are by far the fastest to add up
        found = []
        for along, threshold, error in ((0, self.own[columns], by_caption), (1, self.best[rows], by_picture)):
            lower = (threshold - error).to(scores.dtype)
            just_below = lower.nextafter(lower.new_tensor(-math.inf))  # no error: equal scores are surely counted
            upper = torch.where(error == 0, just_below, (threshold + error).to(scores.dtype))
            lower, upper = lower.unsqueeze(along), upper.unsqueeze(along)
            sure = torch.gt(scores, upper, out=flags).sum(dim=along)
            near = torch.ge(scores, lower, out=flags).sum(dim=along) - sure
            found.append(_Band(along, lower, upper, sure, near))
        return found[0], found[1]

    def near_pairs(self, scores: Tensor, band: _Band, rows: slice, columns: slice) -> tuple[Tensor, Tensor]:
        """The pictures and captions whose scores lie inside the band."""
        lines = band.near.nonzero().squeeze(1)
        across = 1 - band.along
        part, lower, upper = (values.index_select(across, lines) for values in (scores, band.lower, band.upper))
        found = list(((part >= lower) & (part <= upper)).nonzero(as_tuple=True))
        found[across] = lines[found[across]]
        return found[0] + rows.start, found[1] + columns.start

    def pair_scores(self, pictures: Tensor, captions: Tensor) -> Tensor:
        """The float64 scores of these pictures with these captions (rows of each), a cacheful at a time."""
        size = max(1, 2 ** (18 if self.device.type == "cpu" else 24) // self.dimensions)
        parts = [
            self.score.pairs(self.pictures.rows(some, torch.float64), self.captions.rows(others, torch.float64))
            for some, others in zip(pictures.split(size), captions.split(size), strict=True)
        ]
        return torch.cat(parts)

    def exact_block(self, rows: slice, columns: slice) -> Tensor | None:
        """All scores of a tile in float64, if its vectors are mostly copies of a few (a collapsed model, say)."""
        kinds, kind_of = [], []
        for side, part in ((self.pictures, rows), (self.captions, columns)):
            distinct, inverse = torch.unique(side.rows(part, torch.float64), dim=0, return_inverse=True)
            example = torch.empty(len(distinct), dtype=torch.int64, device=self.device)
            kinds.append(example.scatter_(0, inverse, torch.arange(part.start, part.stop, device=self.device)))
            kind_of.append(inverse)
        if len(kinds[0]) * len(kinds[1]) * SPARSE > len(kind_of[0]) * len(kind_of[1]):
            return None
        table = self.pair_scores(*torch.cartesian_prod(*kinds).unbind(dim=1)).view(len(kinds[0]), len(kinds[1]))
        return table[kind_of[0]][:, kind_of[1]]
