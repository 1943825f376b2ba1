"""Cross-lingual consistency: a query and its translations are scored together (SMALR, Burns et al. 2020, section 3.4).

The row of a query is as many vectors side by side as there are languages: its own and those of its translations, each
in its language's place, zeros where there is none. Each matches a picture to some degree; `Average` (CLC-A) takes the
mean of these degrees, `Learned` (CLC-C) a small network of them. Any score and any model can be combined in this way,
and the ranks are as exact as those of single vectors.
"""

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

from groundling.evaluation.scores import LANES, Score, row_sums

HIDDEN = 32
FEWEST = 8  # roundings of its largest score that the error of any score allows for, at least
AT_ONCE = 2**23  # numbers held in memory while a tile is combined


class Combination(Protocol):
    """From one score per language to one score.

    Attributes:
        gain: how far the result can move when every score moves by one.
        shift: what is added to every score first.
        roundings: how many follow each other, at most, on the way from a score to the result.
    """

    gain: float
    shift: float
    roundings: int

    def fast(self, scores: Tensor) -> Tensor:
        """[…, languages] → […], as fast as can be."""
        ...

    def exact(self, scores: Tensor) -> Tensor:
        """[n, languages] → [n] in float64, each row without regard to the others, not even in the last bit."""
        ...


class Average:
    """CLC-A: the mean over the languages; nothing to learn."""

    gain, shift = 1.0, 0.0

    def __init__(self, languages: int) -> None:
        self.roundings = languages + 4

    def fast(self, scores: Tensor) -> Tensor:
        return scores.mean(dim=-1)

    def exact(self, scores: Tensor) -> Tensor:
        return row_sums(scores.split(LANES, dim=1)) / scores.shape[1]


class Learned:
    """CLC-C: languages → 32 → 1 with a ReLU between, without biases: 352 weights for ten languages.

    The paper gives neither the activation nor the range of the scores. One is added to each, so that they are never
    negative: from equal weights, which is where learning starts, it ranks exactly as `Average` does.
    """

    shift = 1.0

    def __init__(self, first: Tensor, second: Tensor) -> None:
        """Weights [languages, hidden] and [hidden]."""
        self.first, self.second = first.detach(), second.detach()
        self.gain = float((self.first.double().abs() @ self.second.double().abs()).sum())
        self.roundings = first.shape[0] + first.shape[1] + 8

    @staticmethod
    def equal(languages: int) -> "Learned":
        """All weights of a layer the same: the mean."""
        return Learned(torch.full((languages, HIDDEN), 1 / languages), torch.full((HIDDEN,), 1 / HIDDEN))

    @property
    def parameters(self) -> int:
        return self.first.numel() + self.second.numel()

    def importance(self) -> list[float]:
        """For each language, its share of the result when all languages score alike."""
        weight = (self.first.double() @ self.second.double()).tolist()
        total = sum(weight)
        return [value / total for value in weight] if total else weight

    def fast(self, scores: Tensor) -> Tensor:
        first, second = self.first.to(scores), self.second.to(scores)
        return ((scores + self.shift) @ first).relu_() @ second

    def exact(self, scores: Tensor) -> Tensor:
        first, second = self.first.to(scores), self.second.to(scores)
        hidden = torch.zeros(len(scores), first.shape[1], dtype=scores.dtype, device=scores.device)
        for column, weights in zip((scores + self.shift).split(1, dim=1), first, strict=True):
            hidden += column * weights  # not a matrix product, which may add up in another order from row to row
        return row_sums((hidden.relu_() * second).split(LANES, dim=1))


@dataclass
class Combined:
    """A score of pictures with queries of several parts, one per language; a part of zeros is a missing translation.

    A missing score is taken to be the mean of those that are there: neither a vote for nor against a picture.
    """

    base: Score
    combination: Combination
    parts: int
    scales_apart: bool = False
    product: bool = False

    def block(self, pictures: Tensor, captions: Tensor, out: Tensor | None = None) -> Tensor:
        step = max(1, AT_ONCE // (len(captions) * (self.parts + HIDDEN)))
        return torch.cat([self.combination.fast(self.single(some, captions)) for some in pictures.split(step)])

    def single(self, pictures: Tensor, captions: Tensor) -> Tensor:
        """[p, c, parts] the scores of the languages apart, missing ones filled in."""
        there = present(captions, self.parts)
        scores = self.base.block(pictures, captions.reshape(-1, pictures.shape[1]))
        return _filled(scores.view(len(pictures), -1, self.parts), there)

    def pairs(self, pictures: Tensor, captions: Tensor) -> Tensor:
        return self.combination.exact(part_scores(self.base, pictures, captions, self.parts))

    def error(
        self, picture_norms: Tensor, caption_norms: Tensor, dimensions: int, dtype: torch.dtype, whole: bool
    ) -> Tensor:
        # The norm of a row is at least that of each of its parts, so that this holds for every part.
        error = self.base.error(picture_norms, caption_norms, dimensions, dtype, whole=False)
        half_step = torch.finfo(dtype).eps / 2
        rounding = error / FEWEST  # of one score
        filled = error + (self.parts + 3) * rounding
        shifted = rounding + self.combination.shift * half_step
        return 1.01 * self.combination.gain * (filled + self.combination.roundings * shifted)


def present(captions: Tensor, parts: int) -> Tensor:
    """[captions, parts]: which translations there are."""
    return captions.view(len(captions), parts, -1).any(dim=2)


def part_scores(base: Score, pictures: Tensor, captions: Tensor, parts: int) -> Tensor:
    """[n, parts] float64 scores of each picture [n, d] with the parts of that caption [n, parts · d], missing ones
    filled in; each row without regard to the others."""
    there = present(captions, parts)
    columns = [base.pairs(pictures, part) for part in captions.split(pictures.shape[1], dim=1)]
    total = torch.zeros_like(columns[0])
    for column, here in zip(columns, there.T, strict=True):
        total = total + torch.where(here, column, 0.0)
    mean = total / there.sum(dim=1).clamp(min=1)
    return torch.where(there, torch.stack(columns, dim=1), mean[:, None])


def _filled(scores: Tensor, there: Tensor) -> Tensor:
    """Scores [p, c, parts] with the mean of those that are there [c, parts] in place of the others."""
    if there.all():
        return scores
    mean = scores.masked_fill(~there, 0).sum(dim=2) / there.sum(dim=1).clamp(min=1)
    return torch.where(there, scores, mean[:, :, None])
