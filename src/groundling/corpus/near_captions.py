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
FEW = (
    4  # captions of one band that are looked at: where there are more they are alike, and another band tells them apart
)

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
            for place, other in there.candidates(signatures_of(texts), numbers[rows]):
                known = there.at[other]
                if known in found:
                    continue
                similarity = jaccard(texts[place], there.text(other))
                if similarity >= NEAR:
                    found[known] = NearCaption(known, int(rows[place]), similarity)
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
    """Captions of dev and test, to be looked up by their bands.

    Attributes:
        at: their rows in the corpus.
        said: their normalised texts one after the other, and in `ends` where each ends.
        values, places: for each band its numbers in order, and which caption has which.
    """

    at: list[int]
    signatures: Numbers
    languages: Numbers
    said: bytearray
    ends: Integers
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
        made = _HeldOut(rows.tolist(), signatures, numbers[rows], said, np.array(ends))
        for values in _bands(signatures, made.languages):
            order = np.argsort(values, kind="stable")
            made.values.append(values[order])
            made.places.append(order.astype(np.int32))
        return made

    def text(self, place: int) -> str:
        return self.said[self.ends[place] : self.ends[place + 1]].decode("utf-8", "surrogatepass")

    def candidates(self, signatures: Numbers, languages: Numbers) -> list[tuple[int, int]]:
        """(place among these captions, place among those of dev and test) of pairs that are likely near, in order."""
        pairs: list[Integers] = []
        for values, places, asked in zip(self.values, self.places, _bands(signatures, languages), strict=True):
            first = np.searchsorted(values, asked)
            for further in range(FEW):
                at = first + further
                same = np.flatnonzero(at < len(values))
                same = same[values[at[same]] == asked[same]]
                pairs.append(np.stack([same, places[at[same]]], axis=1))
        both = np.unique(np.concatenate(pairs), axis=0)
        agree = (signatures[both[:, 0]] == self.signatures[both[:, 1]]).mean(axis=1)
        likely = (agree >= SURE) & (languages[both[:, 0]] == self.languages[both[:, 1]])
        return [(int(one), int(other)) for one, other in both[likely]]


def _chosen(texts: Sequence[str], chosen: Mask) -> Iterator[tuple[Integers, list[str]]]:
    """(rows, normalised texts) of the chosen ones, block by block."""
    for start, part in blocks(texts):
        rows = np.flatnonzero(chosen[start : start + len(part)])
        if len(rows):
            yield rows + start, [normalised(part[row]) for row in rows.tolist()]
