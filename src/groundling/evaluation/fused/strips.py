"""Counts of a strip of pictures against all captions, in both directions, by the kernels."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor
from triton.tools.tensor_descriptor import TensorDescriptor

from groundling.evaluation.fused import kernels
from groundling.evaluation.fused.centred import (
    FLOAT64_ROUNDING,
    NEVER,
    SHORTEST,
    Centred,
    centred,
    mean,
    product_roundings,
)
from groundling.evaluation.fused.copies import kinds, share_of_equal_pairs
from groundling.evaluation.scores import LANES

# How the kernel cuts its work: the fastest of twelve ways on an H200.
ROWS, COLUMNS, DEPTH, GROUP, WARPS, STAGES = 128, 128, 64, 16, 4, 3
CAPACITY = 2**24  # pairs too near to tell that are kept at a time
SMALLEST, HIGHEST = 8, 512  # tiles from top to bottom of a strip
MANY_COPIES = 2.0**-16  # a larger share of pairs that tie because vectors are the same is worth a comparison of kinds


class Strips:
    """Counts scores that reach the thresholds, of all captions and of as many pictures as asked for.

    Args:
        pictures, captions: vectors [P, D] and [C, D] of float32 or less, where 1 is neither very large nor very small.
        owners: for each caption, the row of its picture [C], on the same device.
    """

    def __init__(self, pictures: Tensor, captions: Tensor, owners: Tensor) -> None:
        self.pictures, self.captions, self.owners = pictures.contiguous(), captions.contiguous(), owners
        self.capacity, self.device = CAPACITY, pictures.device
        self.own = torch.empty(len(captions), dtype=torch.float64, device=self.device)
        self.best = torch.full((len(pictures),), math.inf, dtype=torch.float64, device=self.device)
        self.pairs, self.near_pairs = torch.empty(2, CAPACITY, dtype=torch.int64, device=self.device)
        self.near_words = torch.empty(CAPACITY, dtype=torch.int32, device=self.device)
        for part in torch.arange(len(captions), device=self.device).split(CAPACITY):
            self.pairs[: len(part)] = (owners[part] << 32) + part
            self.score_pairs(len(part), None)
        self.best.scatter_reduce_(0, owners, self.own, "amax", include_self=False)
        is_best = self.own >= self.best[owners]
        self.own_best = torch.zeros(len(pictures), dtype=torch.int32, device=self.device)
        self.own_best.index_add_(0, owners, is_best.int())
        self.prepare(is_best)

    def prepare(self, is_best: Tensor) -> None:
        """What the kernel reads: both halves of the centred vectors, and four numbers and two kinds for each."""
        means = mean(self.pictures), mean(self.captions)
        left = centred(self.pictures, *means, high_first=False, multiple=(ROWS, DEPTH))
        right = centred(self.captions, *means[::-1], high_first=True, multiple=(COLUMNS, DEPTH))
        self.left, self.right, self.width = left.halves, right.halves, left.halves.shape[1] // 2
        scale = left.scale * right.scale
        # The same sums in float64: p·c − m·c and p·c − p·n, of the pairs that thresholds come from.
        own = self.own - _products(self.captions, means[0])
        best = self.best - _products(self.pictures, means[1])
        picture_norms, caption_norms = _norms(self.pictures), _norms(self.captions)
        rounding = (self.width + 32) * FLOAT64_ROUNDING * scale
        self.row_numbers = _numbers(left, best * scale, scale, rounding * picture_norms * caption_norms.max())
        self.column_numbers = _numbers(right, own * scale, scale, rounding * caption_norms * picture_norms.max())
        picture_kinds, caption_kinds = kinds(self.pictures), kinds(self.captions)
        self.copies = max(share_of_equal_pairs(picture_kinds), share_of_equal_pairs(caption_kinds)) > MANY_COPIES
        best_kinds = torch.full_like(picture_kinds, -1)
        best_kinds[self.owners[is_best]] = caption_kinds[is_best]
        self.row_kinds = _filled(torch.stack([picture_kinds, best_kinds]), len(self.left), -1)
        own_kinds = picture_kinds[self.owners]
        self.column_kinds = _filled(torch.stack([caption_kinds, own_kinds]), len(self.right), -2)

    def __iter__(self) -> Iterator[tuple[slice, tuple[Tensor, Tensor] | None]]:
        """Strip after strip, with its counts by caption and by picture; none where too many pairs are too near to tell.

        Strips are as high as the list of such pairs allows, judged by how many the one before had.
        """
        smallest = SMALLEST * ROWS
        start, height = 0, smallest
        while start < len(self.best):
            rows = slice(start, min(start + height, len(self.best)))
            by_caption, by_picture, near = self.count(rows)
            if near > self.capacity and height > smallest:
                height = max(smallest, height // 4 // smallest * smallest)
                continue
            yield rows, (by_caption, by_picture) if near <= self.capacity else None
            start = rows.stop
            fitting = 0.6 * self.capacity * (rows.stop - rows.start) / max(near, 1)
            height = min(max(1, int(fitting) // smallest), HIGHEST // SMALLEST) * smallest

    def count(self, rows: slice) -> tuple[Tensor, Tensor, int]:
        """How many of these pictures score at least each caption's own [C], how many captions of other pictures at
        least the best of each of these [rows], and how many pairs were too near to tell at first. Where these are more
        than `capacity`, the counts say nothing. `rows` starts with a tile, and ends with one or with the last picture.
        """
        capacity = self.capacity
        by_picture = torch.zeros(len(self.left), dtype=torch.int32, device=self.device)
        by_caption = torch.zeros(len(self.right), dtype=torch.int32, device=self.device)
        words, pairs = torch.zeros(2, 1, dtype=torch.int64, device=self.device)
        tiles = -(-(rows.stop - rows.start) // ROWS), len(self.right) // COLUMNS
        kernels.count_tile[(tiles[0] * tiles[1],)](
            TensorDescriptor.from_tensor(self.left, [ROWS, DEPTH]),
            TensorDescriptor.from_tensor(self.right, [COLUMNS, DEPTH]),
            self.row_numbers, self.row_kinds, len(self.left),
            self.column_numbers, self.column_kinds, len(self.right),
            by_picture, by_caption, self.near_pairs, self.near_words, words, capacity,
            rows.start, *tiles, product_roundings(self.width),
            self.width, ROWS, COLUMNS, DEPTH, GROUP, self.copies, num_warps=WARPS, num_stages=STAGES,
        )  # fmt: skip
        near = int(words)
        if 0 < near <= capacity:
            kernels.list_pairs[(-(-near // 1024),)](
                self.near_pairs, self.near_words, near, self.pairs, pairs, capacity, 1024
            )
            near = int(pairs)
        if near <= capacity:
            self.score_pairs(near, (by_picture, by_caption))
        # Every picture has been compared with itself, and its captions with each other: they do not compete.
        by_caption, by_picture = by_caption[: len(self.own)], by_picture[rows]
        by_caption -= ((self.owners >= rows.start) & (self.owners < rows.stop)).int()
        return by_caption, by_picture - self.own_best[rows], near

    def score_pairs(self, count: int, counts: tuple[Tensor, Tensor] | None) -> None:
        """Score the first pairs of the list: into counts by picture and by caption, or into `own`."""
        by_picture, by_caption = counts or (self.pairs, self.pairs)
        width, pairs = self.pictures.shape[1], 16
        if count:
            kernels.score_pairs[(-(-count // pairs),)](
                self.pairs, count, self.pictures, self.captions, self.own, self.best, by_picture, by_caption,
                width, pairs, LANES, LANES.bit_length() - 1, counts is None, num_warps=4,
            )  # fmt: skip


def _products(vectors: Tensor, other: Tensor) -> Tensor:
    return torch.cat([part.double() @ other for part in vectors.split(2**16)])


def _norms(vectors: Tensor) -> Tensor:
    return torch.cat([torch.linalg.vector_norm(part, dim=1, dtype=torch.float64) for part in vectors.split(2**16)])


def _numbers(side: Centred, thresholds: Tensor, scale: float, rounding: Tensor) -> Tensor:
    """Float32 [4, rows]: shift, threshold, norm, and errors that are the same for all that is compared with it."""
    asked = thresholds.isfinite()
    norms = 1.0001 * side.norms.clamp(min=SHORTEST)
    errors = torch.where(asked, 1.0001 * (rounding + thresholds.abs() * 2.0**-22), 0.0)
    numbers = torch.stack([side.shifts * scale, thresholds.nan_to_num(posinf=NEVER), norms, errors]).float()
    filled = _filled(numbers, len(side.halves), 0)
    filled[0, len(thresholds) :], filled[1, len(thresholds) :] = -NEVER, NEVER
    return filled


def _filled(values: Tensor, size: int, filling: int) -> Tensor:
    return torch.nn.functional.pad(values, (0, size - values.shape[1]), value=filling)
