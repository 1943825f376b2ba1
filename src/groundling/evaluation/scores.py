"""How well a picture and a caption match, and how far a fast score can be from an exact one."""

import math
from collections.abc import Iterable, Iterator
from typing import Protocol

import torch
from torch import Tensor

from groundling.encoders.similarity import DEEPEST, SHALLOWEST, order_similarities

DEPTH = 64  # dimensions summed at a time in a float32 product: the shorter the sums, the smaller the rounding error
LANES = 128  # sums of a float64 score that are kept side by side, and added up at the end


class Score(Protocol):
    """How well a picture and a caption match; `Dot` is the usual one, the asymmetric `Order` can stand in its place.

    Attributes:
        scales_apart: whether no rank changes when all pictures, or all captions, are multiplied by a positive number;
            where it is false, none changes when both are multiplied by the same.
        parts: how many vectors of a picture's length make up the row of a caption, one after the other.
        product: whether it is the dot product of both and nothing else, which may then be had in faster ways.
    """

    scales_apart: bool
    parts: int
    product: bool

    def block(self, pictures: Tensor, captions: Tensor, out: Tensor | None = None) -> Tensor:
        """All scores [p, c] of pictures [p, d] and captions [c, parts · d], in their precision, as fast as can be.

        `out` is memory [p, c] of that precision, which may be used for them.
        """
        ...

    def pairs(self, pictures: Tensor, captions: Tensor) -> Tensor:
        """The score of each row of pictures [n, d] with that row of captions [n, parts · d], computed in float64.

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

    scales_apart, parts, product = True, 1, True

    def block(self, pictures: Tensor, captions: Tensor, out: Tensor | None = None) -> Tensor:
        first, *others = zip(pictures.split(DEPTH, dim=1), captions.T.split(DEPTH), strict=True)
        scores = torch.mm(*first, out=out)
        for part in others:
            scores.addmm_(*part)
        return scores

    def pairs(self, pictures: Tensor, captions: Tensor) -> Tensor:
        return row_sums(pictures.to(torch.float64, copy=True).mul_(captions).split(LANES, dim=1))

    def error(
        self, picture_norms: Tensor, caption_norms: Tensor, dimensions: int, dtype: torch.dtype, whole: bool
    ) -> Tensor:
        # A sum of n products is off by at most n roundings of Σ|aᵢbᵢ| ≤ ‖a‖‖b‖, in whatever order it is added up.
        # Added to n: partial sums, rounding of the vectors and of the score itself; and the additions of `pairs`.
        roundings = min(dimensions, DEPTH) + math.ceil(dimensions / DEPTH) + 6
        half_step = torch.finfo(dtype).eps / 2
        largest = picture_norms * caption_norms
        bound = 1.01 * (roundings * half_step + pair_error(dimensions)) * largest
        return torch.where(largest < 0.99 / half_step, 0.0, bound) if whole else bound  # small whole numbers are exact


class Order:
    """−‖max(0, caption − picture)‖² of absolute values, as order embeddings score (see `encoders.similarity`)."""

    scales_apart, parts, product = False, 1, False

    def block(self, pictures: Tensor, captions: Tensor, out: Tensor | None = None) -> Tensor:
        return order_similarities(pictures.abs(), captions.abs())

    def pairs(self, pictures: Tensor, captions: Tensor) -> Tensor:
        parts = _in_parts(pictures, captions)
        return -row_sums((others.abs() - some.abs()).relu_().square_() for some, others in parts)

    def error(
        self, picture_norms: Tensor, caption_norms: Tensor, dimensions: int, dtype: torch.dtype, whole: bool
    ) -> Tensor:
        # What is squared is at most the caption's own entry, so a score is at most ‖b‖². Its sum is rounded as that of
        # `Dot` is, but in portions whose size depends on the block: the longer of both ends counts.
        depths = (min(dimensions, depth) + math.ceil(dimensions / depth) for depth in (SHALLOWEST, DEEPEST))
        roundings = max(depths) + 6
        half_step = torch.finfo(dtype).eps / 2
        largest = caption_norms.square()
        # Vectors rounded to `dtype` move an entry of b − a by |a| + |b| half steps, and its square by twice that times
        # at most |b|: over all entries no more than 2‖b‖(‖a‖ + ‖b‖).
        moved = 2 * caption_norms * (picture_norms + caption_norms)
        bound = 1.01 * (half_step * (roundings * largest + moved) + pair_error(dimensions) * largest)
        return torch.where(largest < 0.99 / half_step, 0.0, bound) if whole else bound  # small whole numbers are exact


#: the score that goes with a system's similarity
SCORES: dict[str, Score] = {"cosine": Dot(), "order": Order()}


def pair_error(dimensions: int) -> float:
    """By what share of the numbers added up `row_sums` can be off: half a step of float64 for every addition of one."""
    return (math.ceil(dimensions / LANES) + LANES.bit_length()) * 2.0**-53


def row_sums(parts: Iterable[Tensor]) -> Tensor:
    """The sum of each row [n, d], given in parts [n, LANES] from left to right, the last of which may be narrower.

    In an order that no library decides and that kernels for GPUs keep to as well: number k is added to sum k mod
    `LANES`, one after the other; then sums are added two by two, neighbours first.
    """
    first, *others = parts
    lanes = 1 << (first.shape[1] - 1).bit_length()
    sums = torch.nn.functional.pad(first, (0, lanes - first.shape[1]))
    for part in others:
        (sums if part.shape[1] == lanes else sums[:, : part.shape[1]]).add_(part)
    sums = sums.T.contiguous()
    while len(sums) > 1:
        sums = sums.view(-1, 2, sums.shape[1]).sum(dim=1)
    return sums[0]


def _in_parts(pictures: Tensor, captions: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    """Both sides in float64, so many dimensions at a time as `row_sums` takes: what is worked on stays in the cache."""
    for some, others in zip(pictures.split(LANES, dim=1), captions.split(LANES, dim=1), strict=True):
        yield some.double(), others.double()
