"""Captions of dev and test that nearly say what one of train says, found without comparing all pairs.

Near are two captions that share at least `NEAR` of their character trigrams (Jaccard). MinHash (Broder, 1997, "On the
resemblance and containment of documents", https://doi.org/10.1109/SEQUEN.1997.666900) draws a few numbers from the
trigrams of a text so that two texts agree in each with a probability of their Jaccard index. They are put together in
bands: only captions that agree in a whole band are compared, and then by their trigrams themselves. Of pairs at the
threshold, 998 of 1,000 agree in a band, of nearer ones more; what is found is near beyond doubt.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from groundling.corpus.caption_keys import CaptionKeys, blocks, normalised
from groundling.corpus.columns import Integers, Mask
from groundling.corpus.corpus import Corpus
from groundling.progress import bar

NEAR = 0.8
BANDS, ROWS = 12, 4  # 1 − (1 − 0.8⁴)¹² = 0.998
DRAWS = BANDS * ROWS
SURE = 0.55  # agreeing draws below which a pair is not worth a look: four deviations below the threshold
MOST = 32  # groups with the same band that a caption is compared with; where there are more, each with others
_PAIRS = 2**17  # whose draws are compared together

Numbers = npt.NDArray[np.uint32]
_draw = np.random.default_rng(20)
_FACTORS = _draw.integers(0, 2**32, DRAWS, dtype=np.uint32) | np.uint32(1)
_SHIFTS = _draw.integers(0, 2**32, DRAWS, dtype=np.uint32)
_MIX = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], dtype=np.uint64)


@dataclass(frozen=True)
class NearCaption:
    """A caption of dev or test (`row`), the one of train that is near it, and the share of trigrams in common."""

    row: int
    train: int
    similarity: float


def near_captions(corpus: Corpus, keys: CaptionKeys, asked: Mask) -> list[NearCaption]:
    """For each caption of dev and test that is `asked` about, one of train in its language that is near it, if there
    is one. Captions that say nothing are near to none."""
    in_train = (corpus.splits == "train")[corpus.owners] & (keys.hashes != 0)
    held_out = (corpus.splits != "train")[corpus.owners] & (keys.hashes != 0) & asked
    numbers = np.zeros(len(corpus), dtype=np.uint32)  # of languages
    for number, code in enumerate(corpus.all_languages()):
        numbers[corpus.languages == code] = number
    if not held_out.any() or not in_train.any():
        return []
    there = _HeldOut.of(corpus.texts, np.flatnonzero(held_out), numbers)
    found: dict[int, NearCaption] = {}
    with bar("Looking for captions nearly the same", len(corpus)) as progress:
        for rows, texts in _chosen(corpus.texts, in_train):
            for place, group in there.candidates(signatures_of(texts), numbers[rows]):
                for row, similarity in there.near(group, texts[place]) if there.left[group] else ():
                    found[row] = NearCaption(row, int(rows[place]), similarity)
            progress.advance(len(texts))
    return [found[row] for row in sorted(found)]


def signatures_of(texts: Sequence[str]) -> Numbers:
    """[texts, DRAWS] the least of each draw over the trigrams of each text, none of which is empty."""
    letters = np.frombuffer("".join([f" {text} " for text in texts]).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    counts = np.array([len(text) for text in texts])  # trigrams of the text with a space at each end
    ends = np.cumsum(counts + 2)
    inside = np.ones(len(letters), dtype=bool)
    inside[ends - 1] = inside[ends - 2] = False
    wide = letters.astype(np.uint64)
    mixed = wide * _MIX[0]
    mixed[:-1] += wide[1:] * _MIX[1]
    mixed[:-2] += wide[2:] * _MIX[2]
    mixed ^= mixed >> np.uint64(29)
    mixed *= _MIX[1]
    trigrams = (mixed[inside] >> np.uint64(32)).astype(np.uint32)
    starts = np.cumsum(counts) - counts
    least = np.empty((DRAWS, len(texts)), dtype=np.uint32)
    drawn = np.empty_like(trigrams)
    for number in range(DRAWS):
        np.multiply(trigrams, _FACTORS[number], out=drawn)
        drawn += _SHIFTS[number]
        np.minimum.reduceat(drawn, starts, out=least[number])
    return np.ascontiguousarray(least.T)


def jaccard(one: str, other: str) -> float:
    """The share of character trigrams that two texts have in common."""
    first, second = _trigrams(one), _trigrams(other)
    return len(first & second) / len(first | second)


def _trigrams(text: str) -> set[str]:
    padded = f" {text} "
    return {padded[at : at + 3] for at in range(len(text))}


def _bands(signatures: Numbers, languages: Numbers) -> Numbers:
    """[BANDS, texts] one number for what a text has in each band, other ones in other languages."""
    mixed = np.repeat(languages.astype(np.uint64)[:, None], BANDS, axis=1) + np.uint64(1)
    for row in range(ROWS):
        mixed = (mixed ^ signatures[:, row::ROWS]) * _MIX[row % 3]
        mixed ^= mixed >> np.uint64(31)
    return np.ascontiguousarray((mixed >> np.uint64(32)).astype(np.uint32).T)


@dataclass
class _HeldOut:
    """Captions of dev and test, to be looked up by their bands. Those with the same draws are one group: what is near
    one of them is near them all, or nearly all.

    Attributes:
        at: their rows in the corpus.
        said: their normalised texts one after the other, and in `ends` where each ends.
        groups: the captions of each group.
        signatures, languages: of each group.
        values, places: for each band its numbers in order, and which group has which.
        left: for each group, whether one of train is still looked for.
    """

    at: list[int]
    said: bytearray
    ends: Integers
    groups: list[Integers]
    signatures: Numbers
    languages: Numbers
    left: Mask
    values: list[Numbers] = field(default_factory=list)
    places: list[Integers] = field(default_factory=list)

    @staticmethod
    def of(texts: Sequence[str], rows: Integers, numbers: Numbers) -> "_HeldOut":
        chosen = np.zeros(len(texts), dtype=bool)
        chosen[rows] = True
        signatures, said, ends = np.empty((len(rows), DRAWS), dtype=np.uint32), bytearray(), [0]
        done = 0
        for _, part in _chosen(texts, chosen):
            signatures[done : done + len(part)] = signatures_of(part)
            done += len(part)
            for text in part:
                said += text.encode("utf-8", "surrogatepass")
                ends.append(len(said))
        bands = _bands(signatures, numbers[rows])
        whole = np.zeros(len(rows), dtype=np.uint64)  # one number for all draws and the language
        for values in bands:
            whole = (whole ^ values) * _MIX[0]
            whole ^= whole >> np.uint64(31)
        _, first, counts = np.unique(whole, return_index=True, return_counts=True)
        groups = np.split(np.argsort(whole, kind="stable"), np.cumsum(counts)[:-1])
        there = np.ones(len(first), dtype=bool)
        made = _HeldOut(rows.tolist(), said, np.array(ends), groups, signatures[first], numbers[rows][first], there)
        for values in bands[:, first]:
            order = np.argsort(values, kind="stable")
            made.values.append(values[order])
            made.places.append(order.astype(np.int32))
        return made

    def text(self, place: int) -> str:
        return self.said[self.ends[place] : self.ends[place + 1]].decode("utf-8", "surrogatepass")

    def candidates(self, signatures: Numbers, languages: Numbers) -> list[tuple[int, int]]:
        """(place among these captions, group) of pairs that are likely near, in order."""
        found: list[Integers] = []
        for values, places, asked in zip(self.values, self.places, _bands(signatures, languages), strict=True):
            first = np.searchsorted(values, asked)
            size = np.searchsorted(values, asked, side="right") - first
            here = np.flatnonzero(size)
            first, size = first[here], size[here]
            taken = np.minimum(size, MOST)
            within = np.arange(taken.sum()) - np.repeat(np.cumsum(taken) - taken, taken)
            turn = np.repeat(here * 7919 * (size > MOST), taken)
            group = places[np.repeat(first, taken) + (turn + within) % np.repeat(size, taken)]
            wanted = self.left[group]
            found.append(np.repeat(here, taken)[wanted] * len(self.left) + group[wanted])
        one, group = np.divmod(np.unique(np.concatenate(found)), len(self.left))
        likely = [np.empty(0, dtype=np.int64)]
        for start in range(0, len(one), _PAIRS):
            part = slice(start, start + _PAIRS)
            agree = (signatures[one[part]] == self.signatures[group[part]]).mean(axis=1)
            same = languages[one[part]] == self.languages[group[part]]
            likely.append(start + np.flatnonzero((agree >= SURE) & same))
        kept = np.concatenate(likely)
        return list(zip(one[kept].tolist(), group[kept].tolist(), strict=True))

    def near(self, group: int, text: str) -> list[tuple[int, float]]:
        """The captions of a group that are near a text, and how near. They are not looked for again."""
        members = self.groups[group]
        if jaccard(text, self.text(int(members[0]))) < NEAR:
            return []
        found = [(place, jaccard(text, self.text(place))) for place in members.tolist()]
        near = [(place, likeness) for place, likeness in found if likeness >= NEAR]
        self.groups[group] = np.setdiff1d(members, [place for place, _ in near])
        self.left[group] = len(self.groups[group]) > 0
        return [(self.at[place], likeness) for place, likeness in near]


def _chosen(texts: Sequence[str], chosen: Mask) -> Iterator[tuple[Integers, list[str]]]:
    """(rows, normalised texts) of the chosen ones, block by block."""
    for start, part in blocks(texts):
        rows = np.flatnonzero(chosen[start : start + len(part)])
        if len(rows):
            yield rows + start, [normalised(part[row]) for row in rows.tolist()]
