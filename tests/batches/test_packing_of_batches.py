"""The packing of a batch: every caption is read to its end, and never more than without it."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundling.batches import packing
from groundling.batches.packing import effort, even_groups, groups_of, packing_of, words_read


@given(st.lists(st.integers(1, 30), min_size=1, max_size=60), st.integers(0, 5))
def test_every_caption_is_read_to_its_end_and_no_more_than_before(lengths: list[int], room: int) -> None:
    longest = max(lengths)
    packing = packing_of(np.array(lengths), longest + room)
    assert packing[0][1] == len(lengths)
    assert longest <= packing[-1][0] <= longest + room
    for (end, count), (later, fewer) in pairwise(packing):
        assert end < later
        assert count > fewer > 0
    for rank, length in enumerate(sorted(lengths, reverse=True)):
        assert length <= max(end for end, count in packing if count > rank)
    assert sum(lengths) <= words_read(packing) <= longest * len(lengths)


def test_a_packing_by_hand() -> None:
    lengths = np.array([1] * 8 + [2, 4, 4, 5, 5, 5, 5, 8])  # eighths are two captions
    assert packing_of(lengths, 40) == ((3, 16), (6, 8), (9, 2))
    assert packing_of(lengths[::-1], 8) == ((3, 16), (6, 8), (8, 2))
    assert words_read(packing_of(lengths, 40)) == 3 * 16 + 3 * 8 + 3 * 2
    assert packing_of(np.array([4] * 7 + [1]), 40) == ((3, 8), (4, 7))  # rounded up they would be 45 words, not 32
    assert packing_of(np.array([5]), 40) == ((5, 1),)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=60), st.integers(0, 5))
def test_groups_are_as_large_in_every_batch_and_long_enough(lengths: list[int], room: int) -> None:
    most = max(lengths) + room
    groups = groups_of(np.array(lengths), most)
    assert groups[0][1] == len(lengths)
    for (end, count), (later, fewer) in pairwise(groups):
        assert end < later <= most
        assert count > fewer > 0
    for rank, length in enumerate(sorted(lengths, reverse=True)):
        assert length <= max(end for end, count in groups if count > rank)


def test_groups_by_hand() -> None:
    lengths = np.array([[3, 9, 2, 17, 5], [4, 1, 8, 6, 7]])  # the five shortest, four between, the longest
    assert groups_of(lengths, 40) == ((8, 10), (12, 5), (24, 1))
    assert groups_of(lengths, 18) == ((8, 10), (12, 5), (18, 1))
    assert groups_of(np.full(20, 6), 40) == ((8, 20),)


@pytest.fixture
def of_64(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "AT_ONCE", 64)


@pytest.mark.usefixtures("of_64")
def test_even_groups_by_hand() -> None:
    """Two groups of 24 and 104 captions, of nine and of three words, take (24 + 16) · 9 = (104 + 16) · 3."""
    assert even_groups([9] * 16 + [3] * 112) == [24, 104]
    assert effort(24, 9) == effort(104, 3) == 360
    assert even_groups([4] * 40) == [40]
    assert even_groups([7]) == [1]


@pytest.mark.usefixtures("of_64")
@pytest.mark.parametrize("captions", [1, 63, 200, 512, 1000])
def test_even_groups_take_about_as_long_and_have_little_padding(captions: int) -> None:
    draw = np.random.default_rng(captions)
    lengths = sorted(np.clip(draw.gamma(6.0, 2.2, captions).round(), 4, 40).astype(int).tolist(), reverse=True)
    counts = even_groups(lengths)
    longest = [lengths[begin] for begin in np.cumsum([0, *counts[:-1]])]
    assert sum(counts) == captions and all(count % 8 == 0 for count in counts[:-1])
    assert len(counts) <= max(1, round(captions / 64))
    efforts = [effort(count, longest) for count, longest in zip(counts, longest, strict=True)]
    equal = [effort(len(part), part[0]) for part in (lengths[at : at + 64] for at in range(0, captions, 64))]
    assert sum(efforts) <= 1.02 * sum(equal)
    assert len(counts) == 1 or max(efforts) < 0.7 * max(equal)
