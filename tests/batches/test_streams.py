from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.batches.pairs import CaptionPairs
from groundling.batches.permutation import shuffled
from groundling.batches.stream import Stream


@given(st.integers(1, 3000), st.lists(st.integers(0, 2**31), min_size=1, max_size=3))
def test_every_item_stands_at_one_place(items: int, key: list[int]) -> None:
    order = shuffled(np.arange(items), items, key)
    assert sorted(order.tolist()) == list(range(items))


def test_parts_of_a_huge_order_can_be_asked_for_alone() -> None:
    items = 10**12
    some = shuffled(np.array([0, 1, 5, items - 1]), items, [1])
    assert some[2] == shuffled(np.array([5]), items, [1])[0]
    assert len(set(some.tolist())) == 4
    assert some.max() < items


def test_orders_are_even_and_differ_by_key() -> None:
    # Where item 0 lands should be uniform over keys: chi-square with 9 degrees of freedom, 99.9% quantile 27.9.
    places = [int(np.flatnonzero(shuffled(np.arange(50), 50, [key]) == 0)[0]) for key in range(2000)]
    counts = np.bincount(np.array(places) // 5, minlength=10)
    assert ((counts - 200) ** 2 / 200).sum() < 27.9
    # Neighbours in the list should not stay neighbours.
    order = shuffled(np.arange(10_000), 10_000, [3])
    assert (np.abs(np.diff(order)) == 1).mean() < 0.01


@settings(deadline=None)
@given(st.integers(1, 400), st.integers(1, 50), st.integers(1, 8), st.integers(0, 5))
def test_an_epoch_shows_no_item_twice_and_drops_less_than_a_batch(items: int, size: int, pool: int, seed: int) -> None:
    stream = Stream(items, size, lambda rows: rows % 7, [seed], pool)
    for epoch in range(2):
        seen = np.concatenate([stream.batch(epoch * stream.per_epoch + n) for n in range(stream.per_epoch)])
        assert len(set(seen.tolist())) == len(seen) > items - min(size, items)


def test_batches_hold_similar_lengths_and_come_in_random_order() -> None:
    lengths = np.random.default_rng(0).integers(1, 30, 6400)
    stream = Stream(6400, 64, lambda rows: lengths[rows], [0], pool=100)
    batches = [lengths[stream.batch(number)] for number in range(100)]
    assert np.mean([batch.max() - batch.min() for batch in batches]) < 1.5
    means = [batch.mean() for batch in batches]
    assert abs(np.corrcoef(means, np.arange(100))[0, 1]) < 0.3


def test_batches_can_be_asked_for_in_any_order() -> None:
    forward = Stream(1000, 32, lambda rows: rows % 11, [4])
    backward = Stream(1000, 32, lambda rows: rows % 11, [4])
    expected = [forward.batch(number).tolist() for number in range(80)]
    assert [backward.batch(number).tolist() for number in reversed(range(80))] == expected[::-1]


def test_an_empty_stream_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one item"):
        Stream(0, 8, None, [0])


def slow_pairs(owners: list[int], languages: list[int]) -> set[frozenset[int]]:
    """All unordered pairs of captions with the same picture and different languages, straight from the paper."""
    found = set()
    for picture in set(owners):
        captions = [row for row, owner in enumerate(owners) if owner == picture]
        for one, other in combinations(sorted({languages[row] for row in captions}), 2):
            left = [row for row in captions if languages[row] == one]
            right = [row for row in captions if languages[row] == other]
            found |= {frozenset(pair) for pair in product(left, right)}
    return found


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)), max_size=25))
def test_caption_pairs_are_all_pairs_across_languages(captions: list[tuple[int, int]]) -> None:
    owners, languages = [c[0] for c in captions], [c[1] for c in captions]
    pairs = CaptionPairs(np.array(owners, dtype=np.int64), np.array(languages, dtype=np.int64))
    left, right = pairs.rows(np.arange(len(pairs)))
    listed = [frozenset(pair) for pair in zip(left.tolist(), right.tolist(), strict=True)]
    expected = slow_pairs(owners, languages)
    assert len(listed) == len(expected)
    assert set(listed) == expected


def test_a_picture_of_f8k7_has_257_pairs() -> None:
    languages = np.repeat(np.arange(7), [5, 5, 5, 5, 3, 1, 1])
    assert len(CaptionPairs(np.zeros(25, dtype=np.int64), languages)) == 257
