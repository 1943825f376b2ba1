"""How many scores are at least as high as the one that should be the highest: exactly, tile by tile, or strip by strip.

A tile is scored in float32 first. Where a score is so near the score it is compared with that rounding could decide,
the pair is scored again in float64 (see `ranks`, whose counts these are).
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

from groundling.evaluation import fused
from groundling.evaluation.scores import Score
from groundling.evaluation.sides import Side, parts_of
from groundling.progress import bar
from groundling.threads import Each

if TYPE_CHECKING:
    from groundling.evaluation.fused.strips import Strips

Integers = npt.NDArray[np.int64]

SAMPLE = 256  # captions, and pictures, whose ranks are counted twice where kernels of our own counted them
STRIP = 256  # pictures of a tile that are compared at a time on a CPU: their scores stay in the cache of a core
SPARSE = 64  # a tile with more than one pair in 64 near a threshold is scored anew as a whole, not pair by pair


def _even(rows: int, most: int) -> int:
    """The size of parts that are all about as large; products are fastest where it is a multiple of sixteen."""
    return -(-rows // -(-rows // most) // 16) * 16


def _some(rows: int, random: np.random.Generator) -> slice:
    """A few neighbours among so many rows."""
    first = int(random.integers(max(1, rows - SAMPLE + 1)))
    return slice(first, min(first + SAMPLE, rows))


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


class Counting:
    """Counts, tile by tile, the scores that are at least as high as the one that should be the highest."""

    def __init__(self, pictures: Side, captions: Side, owners: Integers, score: Score, each: Each) -> None:
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

    def run(self, tile: tuple[int, int] | None) -> tuple[Integers, Integers]:
        """The ranks of captions among pictures, and of pictures among captions."""
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
        return self.text_to_image.cpu().numpy(), self.image_to_text.cpu().numpy()

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
        for part in parts_of(slice(0, len(self.best)), tile[0]):
            by_caption += self.count(part, columns)[0]
        for part in parts_of(slice(0, len(self.own)), tile[1]):
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
        picture_parts, caption_parts = parts_of(rows, tile[0]), parts_of(slice(0, len(self.own)), tile[1])
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
