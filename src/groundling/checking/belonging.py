"""Does a caption belong to its picture? Every caption of a table against all of its pictures, without a label.

The similarity s of a caption and its own picture says little by itself: some captions are near to many pictures, and
some pictures to many captions. So it is set against the nearest of those that do not belong to it, on either side, as
in CSLS (Conneau et al. 2018, "Word translation without parallel data", https://arxiv.org/abs/1710.04087):

    fit(c, p) = s(c, p) − ½ r(c) − ½ r(p)
    r(c): the mean similarity of c and the five pictures nearest to it, but its own;  r(p): the same among the captions
    of other pictures in c's language

Above 0, caption and picture are nearer to each other than to what is nearest to them elsewhere. On F8K-7, this tells
swapped captions better than the cosine alone, than both ranks, or than s in standard deviations of its row and column
(docs/results/check-f8k7.md).

How many of the pairs that do not belong together fit as well as a caption and its own picture? That share is its
p-value, and `chance.probability_of_chance` makes of all p-values the probability that a caption is wrong.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from groundling.checking.chance import probability_of_chance
from groundling.model import Vectors
from groundling.model.vectors import Owners, similarities

NEAREST = 5
FEWEST_ROWS = 20  # captions from which on a share of wrong ones can be told
SAME = 0.999  # cosine from which on two pictures are one, saved twice
TIE = 1e-6  # fits nearer than rounding are equal
MOST = 4096  # pictures, and captions, that each one is compared with
BLOCK = 1024  # of either, at once

Floats = npt.NDArray[np.float64]
Masks = npt.NDArray[np.bool_]
Codes = npt.NDArray[np.str_]


@dataclass(frozen=True)
class Belonging:
    """Of each caption, in their order, how it fits its picture; all arrays are [captions].

    Attributes:
        score: the similarity of caption and picture.
        fit: the same against what is nearest to either elsewhere.
        p_value: the share of pairs that do not belong together, in this language, and fit at least as well.
        doubt: the probability that the caption does not belong to the picture; None for a table that is too small.
        picture_rank: of its picture among all, from 1, for this caption.
        caption_rank: of the caption among those of other pictures in its language, from 1, for this picture.
        better_picture: the picture that fits the caption best where that is not its own, else −1.
        better_caption: the caption of another picture that fits this picture best where it fits better, else −1.
    """

    score: Floats
    fit: Floats
    p_value: Floats
    doubt: Floats | None
    picture_rank: Owners
    caption_rank: Owners
    better_picture: Owners
    better_caption: Owners


class Comparison:
    """Captions [captions, d] with their pictures, rows `owners` of [pictures, d], and all others to set them against.

    Of more than `MOST` pictures or captions, so many are compared with, chosen by their vectors alone: the order of
    rows changes nothing.

    Attributes:
        deviation: of the fits of pairs that do not belong together; told by `belonging`.
    """

    def __init__(
        self, captions: Vectors, pictures: Vectors, owners: Owners, languages: Codes, similarity: str = "cosine"
    ) -> None:
        self.captions, self.pictures, self.owners = captions, pictures, owners
        self.languages, self.similarity = languages, similarity
        self.some_captions, self.some_pictures = _some(captions), _some(pictures)
        self.deviation = 0.0
        self._near_pictures = {code: self._nearest_captions(code) for code in np.unique(languages).tolist()}

    def fit(self, captions: Vectors, owners: Owners, languages: Codes) -> tuple[Floats, Floats]:
        """[texts] similarities and fits of any texts [texts, d] with pictures of the table, one each."""
        score, fit = np.zeros(len(captions)), np.zeros(len(captions))
        for rows in _blocks(np.arange(len(captions))):
            places, column = np.unique(owners[rows], return_inverse=True)
            score[rows] = self._similarities(captions[rows], places)[np.arange(len(rows)), column]
            near = self._nearest_pictures(captions[rows], owners[rows])
            spoken = zip(languages[rows].tolist(), owners[rows].tolist(), strict=True)
            by_picture = np.stack([self._near_pictures[code][owner] for code, owner in spoken])
            by_caption = _mean(near)
            fit[rows] = score[rows] - by_caption / 2 - _mean(by_picture, by_caption) / 2
        return score, fit

    def belonging(self) -> Belonging:
        """All captions of the table, language by language."""
        count = len(self.captions)
        score, fit = self.fit(self.captions, self.owners, self.languages)
        ones, none = np.ones(count, dtype=np.int64), np.full(count, -1, dtype=np.int64)
        found = Belonging(score, fit, np.ones(count), None, ones, ones.copy(), none, none.copy())
        for code in self._near_pictures:
            self._compare(code, found)
        doubt = probability_of_chance(found.p_value) if count >= FEWEST_ROWS else None
        return replace(found, doubt=doubt)

    def _compare(self, code: str, found: Belonging) -> None:
        """Ranks, better ones and p-values of the captions of one language, written into what was found."""
        mine = np.flatnonzero(self.languages == code)
        some = self.some_captions[self.languages[self.some_captions] == code]
        wrong = []
        for rows in _blocks(mine):
            fits, other = self._fits(rows, self.some_pictures, code)
            wrong.append(fits[other & np.isin(rows, some)[:, None]])
            best, before = _better(fits, other, found.fit[rows])
            found.picture_rank[rows], found.better_picture[rows] = 1 + before, _at(self.some_pictures, best)
        for rows in _blocks(mine):
            places, column = np.unique(self.owners[rows], return_inverse=True)
            fits, other = self._fits(some, places, code)
            best, before = _better(fits.T[column], other.T[column], found.fit[rows])
            found.caption_rank[rows], found.better_caption[rows] = 1 + before, _at(some, best)
        chance = np.sort(np.concatenate(wrong))
        self.deviation = max(self.deviation, float(chance.std()) if len(chance) else 0.0)
        as_good = len(chance) - np.searchsorted(chance, found.fit[mine], side="left")
        found.p_value[mine] = (1 + as_good) / (1 + len(chance))

    def _fits(self, captions: Owners, pictures: Owners, code: str) -> tuple[Floats, Masks]:
        """[captions, pictures] fits, and which of the pairs do not belong together.

        As with a caption's own picture, what is nearest does not include the pair itself.
        """
        values = self._similarities(self.captions[captions], pictures)
        near = self._nearest_pictures(self.captions[captions], self.owners[captions])
        by_caption = _mean_without(near[:, None], values)
        by_picture = _mean_without(self._near_pictures[code][pictures][None], values, by_caption)
        return values - by_caption / 2 - by_picture / 2, ~self._same(self.owners[captions], pictures)

    def _nearest_pictures(self, captions: Vectors, owners: Owners) -> Floats:
        """[captions, nearest + 1] the largest similarities of captions with pictures that are not their own."""
        other = ~self._same(owners, self.some_pictures)
        return _largest(self._similarities(captions, self.some_pictures), other)

    def _nearest_captions(self, code: str) -> Floats:
        """[pictures, nearest + 1] the largest similarities of pictures with captions of others, in one language."""
        some = self.some_captions[self.languages[self.some_captions] == code]
        parts = [
            _largest(self._similarities(self.captions[some], places).T, ~self._same(self.owners[some], places).T)
            for places in _blocks(np.arange(len(self.pictures)))
        ]
        return np.concatenate(parts)

    def _similarities(self, captions: Vectors, pictures: Owners) -> Floats:
        return similarities(self.similarity, captions, self.pictures[pictures]).astype(np.float64)

    def _same(self, owners: Owners, pictures: Owners) -> Masks:
        """[owners, pictures] whether a picture is the one that a caption stands beside, or looks exactly the same."""
        alike = self.pictures[owners] @ self.pictures[pictures].T >= SAME
        return np.asarray(alike | (owners[:, None] == pictures))


def _largest(values: Floats, counted: Masks) -> Floats:
    """[rows, nearest + 1] by row the largest values that count, falling; −∞ where there are fewer."""
    padded = np.pad(np.where(counted, values, -np.inf), ((0, 0), (0, NEAREST + 1)), constant_values=-np.inf)
    return -np.sort(-np.partition(padded, -NEAREST - 1, axis=1)[:, -NEAREST - 1 :], axis=1)


def _mean(near: Floats, otherwise: Floats | float = 0.0) -> Floats:
    """The mean of the nearest, the first of `near`; where there are none, `otherwise`."""
    first, there = near[..., :NEAREST], np.isfinite(near[..., :NEAREST])
    count = there.sum(axis=-1)
    return np.where(count > 0, np.where(there, first, 0).sum(axis=-1) / np.maximum(count, 1), otherwise)


def _mean_without(near: Floats, values: Floats, otherwise: Floats | float = 0.0) -> Floats:
    """The same where the pair itself, with its value, is not to be counted among the nearest."""
    there = np.isfinite(near)
    left = there.sum(axis=-1) - 1
    without = (np.where(there, near, 0).sum(axis=-1) - values) / np.maximum(left, 1)
    inside = values >= near[..., NEAREST]
    return np.where(inside, np.where(left > 0, without, otherwise), _mean(near, otherwise))


def _better(fits: Floats, other: Masks, own: Floats) -> tuple[Owners, Owners]:
    """By row the place of the best that fits better than one's own, −1 for none, and how many fit better."""
    allowed = np.where(other, fits, -np.inf)
    better = allowed > own[:, None] + TIE
    return np.where(better.any(axis=1), allowed.argmax(axis=1), -1), better.sum(axis=1)


def _at(places: Owners, found: Owners) -> Owners:
    return np.where(found >= 0, places[found], -1)


def _some(vectors: Vectors) -> Owners:
    """All rows, or `MOST` of them, evenly spread over the order of their first number."""
    if len(vectors) <= MOST:
        return np.arange(len(vectors))
    order = np.argsort(vectors[:, 0], kind="stable")
    return np.sort(order[np.linspace(0, len(order) - 1, MOST).astype(np.int64)])


def _blocks(rows: Owners) -> Iterator[Owners]:
    for start in range(0, len(rows), BLOCK):
        yield rows[start : start + BLOCK]
