"""Vectors less their mean, as sums of two float16 numbers, and a bound on what their product loses.

With pictures p = p' + m and captions c = c' + n, where m and n are any two vectors, say the means,

    p·c = p'·c' + p'·n + m·c        which caption c compares among pictures: m·c is the same for all of them;
        = p'·c' + m·c' + p·n        which picture p compares among captions: p·n is the same for all of them.

So p'·c' + p'·n is compared with what caption c's own picture has in its place, and p'·c' + m·c' with what picture p's
best caption has. The single products are cheap and taken in float64; only p'·c' is multiplied fast, and its error is in
proportion to the lengths of p' and c'. Vectors that all point the same way, whose scores agree to many digits, are
short once their mean is gone, and are told apart as well as any others.
"""

import math
from dataclasses import dataclass

import torch
from torch import Tensor

AT_ONCE = 2**16  # rows in float64 at a time
LONGEST, SHORTEST = 2.0**14, 2.0**4  # lengths that float16 can hold, and at which its smallest numbers do not matter
NEVER = 3e38  # a threshold that no score reaches; its negative, a score that reaches none
FLOAT64_ROUNDING = 2.0**-51  # of two sums, and of what is subtracted from them


def product_roundings(width: int) -> float:
    """By how much the product of two vectors of length 1 and this many dimensions can be off, once added to a shift.

    A float16 number is rounded by 2⁻¹¹, the sum of two by 2⁻²²: of either vector, and of low·low, which is left out. A
    tensor core adds up products at least as precisely as in float32, rounded in any way (2⁻²³), with at most two
    roundings more for every eight products. High·low and low·high sum up to 2⁻¹⁰ at most, and their roundings to as
    little. The last part is for the shift, and for numbers of short vectors, which float16 rounds to multiples of 2⁻²⁴.
    """
    return 3.05 * 2.0**-22 + 1.05 * (1.25 * width + 16) * 2.0**-23 + 2.0**-21


@dataclass(frozen=True)
class Centred:
    """One side, ready to be multiplied.

    Attributes:
        halves: float16 [rows filled up to whole tiles, 2 · width filled up], scaled by `scale`, a power of two.
        norms: float64 [rows], of the centred and scaled vectors.
        shifts: float64 [rows], products of the centred vectors with the other side's mean, not scaled.
    """

    halves: Tensor
    norms: Tensor
    shifts: Tensor
    scale: float


def mean(vectors: Tensor) -> Tensor:
    total = torch.zeros(vectors.shape[1], dtype=torch.float64, device=vectors.device)
    for part in vectors.split(AT_ONCE):
        total += part.sum(dim=0, dtype=torch.float64)
    return total / len(vectors)


def centred(
    vectors: Tensor, own_mean: Tensor, other_mean: Tensor, *, high_first: bool, multiple: tuple[int, int]
) -> Centred:
    """`multiple`: what the numbers of rows and dimensions are filled up to, with zeros."""
    rows, width = (-(-size // step) * step for size, step in zip(vectors.shape, multiple, strict=True))
    norms, shifts = vectors.new_empty(2, len(vectors), dtype=torch.float64)
    for start, part in _parts(vectors):
        short = part.double() - own_mean
        norms[start : start + len(part)] = torch.linalg.vector_norm(short, dim=1)
        shifts[start : start + len(part)] = short @ other_mean
    longest, length = float(norms.max()), float(own_mean.norm())
    # As long as float16 allows, but no further than float64 can tell the centred vectors from rounding.
    scale = LONGEST * 2.0 ** -math.frexp(max(longest, length * 2.0**-60))[1] if longest else 1.0
    halves = torch.zeros(rows, 2, width, dtype=torch.float16, device=vectors.device)
    first, second = (0, 1) if high_first else (1, 0)
    for start, part in _parts(vectors):
        short = (part.double() - own_mean).mul_(scale)
        high = short.half()
        halves[start : start + len(part), first, : vectors.shape[1]] = high
        halves[start : start + len(part), second, : vectors.shape[1]] = short.sub_(high).half()
    return Centred(halves.view(rows, 2 * width), norms * scale, shifts, scale)


def _parts(vectors: Tensor) -> list[tuple[int, Tensor]]:
    return [(start, vectors[start : start + AT_ONCE]) for start in range(0, len(vectors), AT_ONCE)]
