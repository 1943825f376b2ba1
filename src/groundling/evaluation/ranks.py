"""Exact ranks of captions among pictures and of pictures among captions, without ever holding all scores at once.

Scores are computed tile by tile in float32, which is fast but rounds. A rank must not depend on that: where a score is
so near the score it is compared with that rounding could decide, the pair is scored again in float64, always by the
same operations in the same order, so that equal vectors tie exactly. The ranks are those of a float64 double loop that
adds up in that order (`scores.row_sums`), whatever the tiles, on a CPU and on a GPU. In another order, float64 itself
may tell two scores apart, or not, that differ by less than its rounding. On a GPU whole strips of pictures are counted
at a time, by the same rule, in `groundling.evaluation.fused`.
"""

from __future__ import annotations

import math
import threading
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from groundling.errors import UserError
from groundling.evaluation import fused
from groundling.evaluation.compute import full_precision
from groundling.evaluation.scores import Dot, Score
from groundling.progress import bar
from groundling.threads import Each, workers

if TYPE_CHECKING:
    from groundling.evaluation.fused.strips import Strips

Vectors = Tensor | npt.NDArray[np.generic]
Integers = npt.NDArray[np.int64]

SAMPLE = 256  # captions, and pictures, whose ranks are counted twice where kernels of our own counted them
STRIP = 256  # pictures of a tile that are compared at a time on a CPU: their scores stay in the cache of a core
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
            sides = _Side(picture_rows, names[0], each), _Side(caption_rows, names[1], each)
            counting = _Counting(*sides, owner_rows, score, each)
            return counting.run(tile)


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


def _parts(rows: slice, size: int) -> list[slice]:
    return [slice(start, min(start + size, rows.stop)) for start in range(rows.start, rows.stop, size)]


def _even(rows: int, most: int) -> int:
    """The size of parts that are all about as large; products are fastest where it is a multiple of sixteen."""
    return -(-rows // -(-rows // most) // 16) * 16


def _some(rows: int, random: np.random.Generator) -> slice:
    """A few neighbours among so many rows."""
    first = int(random.integers(max(1, rows - SAMPLE + 1)))
    return slice(first, min(first + SAMPLE, rows))


class _Side:
    """The pictures or the captions: rows in any precision, and what the error bound needs to know of them.

    Vectors whose numbers are very large or very small are scaled by a power of two, which changes no rank, so that no
    product leaves the range of float32.
    """

    def __init__(self, vectors: Tensor, name: str, each: Each) -> None:
        self.vectors, self.name, self.factor = vectors, name, 1.0
        narrow = vectors.dtype in (torch.float32, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int16)
        self.dtype = torch.float32 if narrow else torch.float64
        at_once = 1000 if vectors.device.type == "cpu" else 2**16
        self.parts = _parts(slice(0, len(vectors)), at_once)
        self.peak = max(each(self.peak_of, self.parts))

    def scale(self, peak: float, each: Each) -> None:
        if peak and not 2.0**-20 <= peak <= 2.0**20:
            self.factor = 2.0 ** -math.frexp(peak)[1]
        self.whole = self.is_whole(self.parts[0]) and all(each(self.is_whole, self.parts))
        self.norms = torch.cat(list(each(self.norms_of, self.parts)))

    def rows(self, which: slice | Tensor, dtype: torch.dtype) -> Tensor:
        rows = self.vectors[which] if isinstance(which, slice) else self.vectors.index_select(0, which)
        return rows.to(dtype) if self.factor == 1 else (rows.double() * self.factor).to(dtype)

    @property
    def narrow(self) -> bool:
        """Whether float32 holds all rows as they are."""
        return self.dtype == torch.float32 and self.factor == 1

    def floats(self) -> Tensor:
        """All rows in floating point, where these are narrow; a copy only of whole numbers."""
        return self.vectors.detach() if self.vectors.is_floating_point() else self.vectors.float()

    def exact(self, which: Tensor) -> Tensor:
        """These rows, in a precision that loses nothing."""
        return self.rows(which, torch.float32 if self.narrow else torch.float64)

    def kinds(self, part: slice) -> tuple[Tensor, Tensor]:
        """Equal vectors are of one kind: the kind of each row, and a row that is an example of each kind."""
        distinct, kind = torch.unique(self.rows(part, torch.float64), dim=0, return_inverse=True)
        rows = torch.arange(part.start, part.stop, device=kind.device)
        return kind, torch.empty_like(rows[: len(distinct)]).scatter_(0, kind, rows)

    def peak_of(self, part: slice) -> float:
        rows = self.rows(part, self.dtype)
        low, high = (float(extreme) for extreme in torch.aminmax(rows))
        if not (math.isfinite(low) and math.isfinite(high)):
            row = part.start + int((~rows.isfinite()).any(dim=1).nonzero()[0, 0])
            raise UserError(f"{self.name}: row {row} holds a number that is not finite (NaN or infinity)")
        return max(-low, high)

    def is_whole(self, part: slice) -> bool:
        rows = self.rows(part, self.dtype)
        return bool((rows == rows.round()).all())

    def norms_of(self, part: slice) -> Tensor:
        norms = torch.linalg.vector_norm(self.rows(part, self.dtype), dim=1)
        return norms.double().clamp_(min=2.0**-30)  # any smaller, and the error bound would have to mind underflow


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


class _Room(threading.local):
    """Memory for the scores of a tile, and for what they are compared into, which every thread keeps: the system takes
    a while to hand out fresh memory, and would do so for every tile anew."""

    def __init__(self) -> None:
        self.kept: dict[torch.dtype, Tensor] = {}

    def take(self, rows: int, columns: int, dtype: torch.dtype, device: torch.device) -> Tensor:
        size = rows * columns
        if dtype not in self.kept or len(self.kept[dtype]) < size:
            self.kept[dtype] = torch.empty(size, dtype=dtype, device=device)
        return self.kept[dtype][:size].view(rows, columns)


class _Counting:
    """Counts, tile by tile, the scores that are at least as high as the one that should be the highest."""

    def __init__(self, pictures: _Side, captions: _Side, owners: Integers, score: Score, each: Each) -> None:
        self.pictures, self.captions, self.owners, self.score, self.each = pictures, captions, owners, score, each
        self.room = _Room()
        for side in (pictures, captions):
            side.scale(side.peak if score.scales_apart else max(pictures.peak, captions.peak), each)
        self.device, self.dimensions = pictures.vectors.device, pictures.vectors.shape[1]
        self.owner = owner = torch.from_numpy(owners).to(self.device)
        caption = torch.arange(len(owners), device=self.device)
        self.own = torch.cat(list(each(self.pair_scores, owner.split(1000), caption.split(1000))))
        self.best = torch.full((len(pictures.vectors),), math.inf, dtype=torch.float64, device=self.device)
        self.best.scatter_reduce_(0, owner, self.own, "amax", include_self=False)

    def run(self, tile: tuple[int, int] | None) -> Ranks:
        strips = self.strips() if tile is None else None
        on_cores = _even(len(self.best), 1000), _even(len(self.own), 1000)
        tile = tile or (on_cores if self.device.type == "cpu" else (4096, 4096))
        self.start()
        if strips is None:
            self.count_tiles(slice(0, len(self.best)), tile)
        else:
            self.count_strips(strips, tile)
            if not self.sample_agrees(tile):
                warnings.warn("ranks by the GPU's own kernels were wrong; all are counted again without", stacklevel=3)
                self.start()
                self.count_tiles(slice(0, len(self.best)), tile)
        return Ranks(self.text_to_image.cpu().numpy(), self.image_to_text.cpu().numpy())

    def start(self) -> None:
        self.text_to_image = torch.ones_like(self.own, dtype=torch.int64)
        self.image_to_text = (self.best < math.inf).long()

    def count_strips(self, strips: Strips, tile: tuple[int, int]) -> None:
        with bar("ranking", len(self.best)) as progress:
            for rows, counts in strips:
                if counts is None:
                    self.count_tiles(rows, tile)
                else:
                    self.text_to_image += counts[0]
                    self.image_to_text[rows] += counts[1]
                progress.advance(rows.stop - rows.start)

    def sample_agrees(self, tile: tuple[int, int]) -> bool:
        """Some captions and some pictures, ranked again tile by tile: what kernels do depends on a compiler and a chip,
        and a rank must not."""
        random = np.random.default_rng(0)
        columns, rows = (_some(len(side), random) for side in (self.own, self.best))
        by_caption = torch.ones_like(self.text_to_image[columns])
        by_picture = (self.best[rows] < math.inf).long()
        for part in _parts(slice(0, len(self.best)), tile[0]):
            by_caption += self.count(part, columns)[0]
        for part in _parts(slice(0, len(self.own)), tile[1]):
            by_picture += self.count(rows, part)[1]
        found = self.text_to_image[columns], self.image_to_text[rows]
        return torch.equal(by_caption, found[0]) and torch.equal(by_picture, found[1])

    def strips(self) -> Strips | None:
        """Whole strips of pictures at a time, by kernels of our own, where these can be had and are worth starting."""
        whole = self.pictures.whole and self.captions.whole  # exact, and perhaps full of ties: tiles are better at it
        fitting = self.score.product and self.pictures.narrow and self.captions.narrow and not whole
        if not (fitting and fused.is_worthwhile(self.device, len(self.best), len(self.own))):
            return None
        from groundling.evaluation.fused.strips import Strips

        return Strips(self.pictures.floats(), self.captions.floats(), self.owner)

    def count_tiles(self, rows: slice, tile: tuple[int, int]) -> None:
        """Tile by tile, each first in float32."""
        picture_parts, caption_parts = _parts(rows, tile[0]), _parts(slice(0, len(self.own)), tile[1])
        tiles = [(some, columns) for columns in caption_parts for some in picture_parts]
        with bar("ranking", len(tiles)) as progress:
            counts = self.each(self.count, *zip(*tiles, strict=True))
            for (some, columns), (by_caption, by_picture) in zip(tiles, counts, strict=True):
                self.text_to_image[columns] += by_caption
                self.image_to_text[some] += by_picture
                progress.advance()

    def count(self, rows: slice, columns: slice) -> tuple[Tensor, Tensor]:
        """How many pictures of a tile score at least each caption's own, and how many captions each picture's best."""
        own, best = self.own[columns], self.best[rows]
        strip = min(len(best), STRIP) if self.device.type == "cpu" else len(best)
        for dtype in (torch.float32, torch.float64):
            room, flags = self.room.take(len(best) + strip, len(own), dtype, self.device).tensor_split([len(best)])
            scores = self.score.block(self.pictures.rows(rows, dtype), self.captions.rows(columns, dtype), room)
            self.hide_own(scores, rows, columns)
            bands = self.bands(scores, flags, rows, columns)
            near = int(bands[0].near.sum() + bands[1].near.sum())
            if near * SPARSE <= scores.numel():
                break
        by_caption, by_picture = bands[0].sure.long(), bands[1].sure.long()
        if near:
            (picture, caption), (other_picture, other_caption) = (self.near_pairs(scores, band) for band in bands)
            pairs = torch.cat([picture, other_picture]), torch.cat([caption, other_caption])
            exact = self.settle(*pairs, rows, columns).split([len(picture), len(other_picture)])
            by_caption.index_add_(0, caption, (exact[0] >= own[caption]).long())
            by_picture.index_add_(0, other_picture, (exact[1] >= best[other_picture]).long())
        return by_caption, by_picture

    def hide_own(self, scores: Tensor, rows: slice, columns: slice) -> None:
        """A picture and its own captions do not compete: no threshold is as low as their scores become here."""
        owners = self.owners[columns]
        inside = np.flatnonzero((owners >= rows.start) & (owners < rows.stop))
        if not len(inside):
            return
        at = torch.from_numpy(np.stack([owners[inside] - rows.start, inside])).to(self.device)
        scores[at[0], at[1]] = -math.inf

    def bands(self, scores: Tensor, flags: Tensor, rows: slice, columns: slice) -> tuple[_Band, _Band]:
        """Both directions, a strip of as many pictures at a time as `flags` has room for.

        `flags` is written to: ones and zeros of the scores' own type are the fastest to add up.
        """
        pictures, captions = self.pictures.norms[rows], self.captions.norms[columns]
        whole = self.pictures.whole and self.captions.whole
        by_caption = self.score.error(pictures.max(), captions, self.dimensions, scores.dtype, whole)
        by_picture = self.score.error(pictures, captions.max(), self.dimensions, scores.dtype, whole)
        edges = []
        for along, threshold, error in ((0, self.own[columns], by_caption), (1, self.best[rows], by_picture)):
            lower, upper = (threshold - error).to(scores.dtype), (threshold + error).to(scores.dtype)
            if whole:  # where there is no error, equal scores are surely counted
                upper = torch.where(error == 0, lower.nextafter(lower.new_tensor(-math.inf)), upper)
            edges.append((lower.unsqueeze(along), upper.unsqueeze(along)))
        (own_lower, own_upper), (best_lower, best_upper) = edges
        sure, reached = own_upper.new_zeros(2, scores.shape[1])
        sure_of_strips, reached_of_strips = [], []
        strips = (values.split(len(flags)) for values in (scores, best_lower, best_upper))
        for strip, lower, upper in zip(*strips, strict=True):
            out = flags[: len(strip)]
            sure += torch.gt(strip, own_upper, out=out).sum(dim=0)
            reached += torch.ge(strip, own_lower, out=out).sum(dim=0)
            sure_of_strips.append(torch.gt(strip, upper, out=out).sum(dim=1))
            reached_of_strips.append(torch.ge(strip, lower, out=out).sum(dim=1))
        best_sure, best_reached = torch.cat(sure_of_strips), torch.cat(reached_of_strips)
        return (
            _Band(0, own_lower, own_upper, sure, reached - sure),
            _Band(1, best_lower, best_upper, best_sure, best_reached - best_sure),
        )

    def near_pairs(self, scores: Tensor, band: _Band) -> tuple[Tensor, Tensor]:
        """The rows and columns of the scores that lie inside the band."""
        lines = band.near.nonzero().squeeze(1)
        across = 1 - band.along
        part, lower, upper = (values.index_select(across, lines) for values in (scores, band.lower, band.upper))
        found = list(((part >= lower) & (part <= upper)).nonzero(as_tuple=True))
        found[across] = lines[found[across]]
        return found[0], found[1]

    def settle(self, picture: Tensor, caption: Tensor, rows: slice, columns: slice) -> Tensor:
        """The float64 scores of pairs of a tile; where they are many, only those of vectors that are not the same."""
        if len(picture) < 10_000:
            return self.pair_scores(picture + rows.start, caption + columns.start)
        picture_kind, picture_example = self.pictures.kinds(rows)
        caption_kind, caption_example = self.captions.kinds(columns)
        kind = picture_kind[picture] * len(caption_example) + caption_kind[caption]
        scores = torch.zeros(len(picture_example) * len(caption_example), dtype=torch.float64, device=self.device)
        found = scores.bool().index_fill_(0, kind, True).nonzero().squeeze(1)
        row, column = found // len(caption_example), found % len(caption_example)
        scores[found] = self.pair_scores(picture_example[row], caption_example[column])
        return scores[kind]

    def pair_scores(self, pictures: Tensor, captions: Tensor) -> Tensor:
        """The float64 scores of these pictures with these captions (rows of each), a cacheful at a time."""
        size = max(1, 2 ** (18 if self.device.type == "cpu" else 24) // (self.dimensions * self.score.parts))
        parts = [
            self.score.pairs(self.pictures.exact(some), self.captions.exact(others))
            for some, others in zip(pictures.split(size), captions.split(size), strict=True)
        ]
        return torch.cat(parts)
