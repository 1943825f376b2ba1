"""How the captions of a batch are packed (see `encoders.text.packing`): coarsely, so that few batches differ in it.

A GPU records a step anew for each packing that it has not seen. With cuts after every third word and eighths of the
captions, 1,290 batches of 128 pictures of F8K-7 have 21 different ones (their longest captions alone: 19 lengths), and
a GRU reads 1.7 times fewer words; with no padding at all it would be 2.1 times. The last part ends at such a cut, too:
did it end with the longest caption, there would be 40.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Packing = tuple[tuple[int, int], ...]  # up to which word how many captions are read; none: all of them, to the end
WORDS = 3
SHARES = 8
#: Tenths of the captions that a group and the longer ones have together, and what its longest is rounded up to.
GROUPS = ((10, 4), (5, 4), (1, 8))
AT_ONCE = 128  # captions that are read together, on average: with fewer, two cores of one process wait for each other


def packing_of(lengths: npt.NDArray[np.int64], most: int) -> Packing:
    """For captions of these lengths; `most` is what the longest one may be rounded up to.

    Never more is read than without packing: where few captions are shorter, the last part ends with the longest one.
    """
    longest = int(lengths.max())
    rounded = _up_to(min(_up(longest, WORDS), most), lengths)
    return rounded if words_read(rounded) <= lengths.size * longest else _up_to(longest, lengths)


def groups_of(lengths: npt.NDArray[np.int64], most: int) -> Packing:
    """Few groups of captions of similar length, each as large in every batch: the half that is shortest, the tenth that
    is longest, and what lies between. Each is read by itself, so that a caption is read once, up to its group's end."""
    ordered = np.sort(lengths, axis=None)[::-1]
    counts = [_up(tenths * len(ordered), 10) // 10 for tenths, _ in GROUPS]
    groups: dict[int, int] = {}  # those that end alike are one
    for count, longer, (_, step) in zip(counts, [*counts[1:], 0], GROUPS, strict=True):
        if count > longer:
            groups.setdefault(min(_up(int(ordered[longer]), step), most), count)
    return tuple(groups.items())


def even_groups(lengths: Sequence[int]) -> list[int]:
    """How many captions are read together, group by group, where the step is not recorded; the longest come first.

    Of long captions fewer, so that all groups take about as long: processes that share the groups have as much to do,
    and the few captions that are very long make hardly any padding.
    """
    groups = max(1, round(len(lengths) / AT_ONCE))
    low, high = 0, effort(_up(len(lengths), 8), lengths[0])
    while low < high:  # the least effort per group that makes so few groups
        middle = (low + high) // 2
        low, high = (low, middle) if len(_within(middle, lengths)) <= groups else (middle + 1, high)
    return _within(low, lengths)


def effort(captions: int, words: int) -> int:
    """How long a core takes to read captions of so many words, in words: of each word, sixteen more than there are."""
    return (captions + 16) * words


def _within(most: int, lengths: Sequence[int]) -> list[int]:
    """Groups of at most this effort, in eights of captions: others take a core longer, and have more shapes."""
    counts, begin = [], 0
    while begin < len(lengths):
        captions = most // max(1, lengths[begin]) // 8 * 8 - 16
        counts.append(min(max(8, captions), len(lengths) - begin))
        begin += counts[-1]
    return counts


def words_read(packing: Packing) -> int:
    """Σ captions · words, those of padding included."""
    begins = [0, *(end for end, _ in packing)]
    return sum((end - begin) * count for begin, (end, count) in zip(begins, packing, strict=False))


def _up_to(last: int, lengths: npt.NDArray[np.int64]) -> Packing:
    share = -(-lengths.size // SHARES)
    counts: dict[int, int] = {}  # captions → the word that so many are read up to
    for begin in range(0, last, WORDS):
        longer = int((lengths > begin).sum())
        counts[min(_up(longer, share), lengths.size)] = min(begin + WORDS, last)
    return tuple((end, count) for count, end in counts.items())


def _up(number: int, step: int) -> int:
    return -(-number // step) * step
