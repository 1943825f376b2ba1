"""Batches of pictures with a caption in every language: who is in them, when, and after a resume."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.batches import Batch, PivotSampler, TrainingData
from groundling.errors import UserError


def some_data(counts: list[list[int]], shuffle: int = 0) -> TrainingData:
    """`counts[picture][language]` captions, in shuffled order, of random lengths."""
    numbers = np.array(counts)
    draw = np.random.default_rng(shuffle)
    owners = np.repeat(np.repeat(np.arange(len(numbers)), numbers.shape[1]), numbers.ravel())
    languages = np.repeat(np.tile(np.arange(numbers.shape[1]), len(numbers)), numbers.ravel())
    order = draw.permutation(len(owners))
    owners, languages, lengths = owners[order], languages[order], draw.integers(2, 30, len(owners))
    return TrainingData(
        ids=torch.zeros(len(owners), 30, dtype=torch.int32),
        device_lengths=torch.from_numpy(lengths),
        device_owners=torch.from_numpy(owners),
        device_texts=torch.arange(len(owners)),
        features=torch.zeros(len(numbers), 4),
        lengths=lengths,
        owners=owners,
        languages=languages,
        codes=["de", "en", "fr", "cs"][: numbers.shape[1]],
    )


def passes(sampler: PivotSampler, number: int) -> list[list[Batch]]:
    """So many passes through the pictures, each as its batches."""
    return [[sampler.batch(0) for _ in range(sampler.stream.per_epoch)] for _ in range(number)]


@settings(deadline=None, max_examples=60)
@given(
    st.integers(1, 4).flatmap(
        lambda languages: st.lists(
            st.lists(st.integers(0, 4), min_size=languages, max_size=languages), min_size=1, max_size=25
        )
    ),
    st.integers(1, 6),
    st.integers(1, 4),
    st.integers(0, 3),
)
def test_what_a_pass_holds(counts: list[list[int]], size: int, pool: int, seed: int) -> None:
    """Each picture once, but for fewer than fill a batch; its captions are its own and of the language of the line."""
    data = some_data(counts, seed)
    complete = [picture for picture, numbers in enumerate(counts) if all(numbers)]
    if not complete:
        with pytest.raises(UserError, match="no training picture has captions in all of de"):
            PivotSampler(data, size, seed, pool)
        return
    for batches in passes(PivotSampler(data, size, seed, pool), 3):
        seen = np.concatenate([batch.rows[0] for batch in batches]).tolist()
        assert len(set(seen)) == len(seen) > len(complete) - min(size, len(complete))
        assert set(seen) <= set(complete)
        for batch in batches:
            assert batch.kind == "pivot"
            pictures, captions = batch.rows[0], batch.rows[1:]
            assert (data.owners[captions] == pictures).all()
            assert (data.languages[captions] == np.arange(len(data.codes))[:, None]).all()
            assert batch.longest == data.lengths[captions].max()


def test_every_caption_has_its_turn_before_one_comes_again() -> None:
    counts = [[5, 3], [5, 1], [2, 3], [1, 1]] * 3
    data = some_data(counts)
    sampler = PivotSampler(data, 4, seed=1)  # twelve pictures fill three batches: none is dropped
    shown: dict[tuple[int, int], list[int]] = {}
    for batches in passes(sampler, 30):
        for batch in batches:
            for line, captions in enumerate(batch.rows[1:]):
                for picture, caption in zip(batch.rows[0], captions, strict=True):
                    shown.setdefault((int(picture), line), []).append(int(caption))
    for (picture, line), captions in shown.items():
        count = counts[picture][line]
        own = set(np.flatnonzero((data.owners == picture) & (data.languages == line)).tolist())
        for start in range(0, 30, count):
            assert set(captions[start : start + count]) == own


def test_the_captions_that_meet_change_from_round_to_round() -> None:
    """Five and five captions can meet in 25 ways; were the pairing fixed, only five of them ever would."""
    data = some_data([[5, 5]] * 8)
    met: dict[int, set[tuple[int, int]]] = {picture: set() for picture in range(8)}
    for batches in passes(PivotSampler(data, 8, seed=0), 60):
        for picture, one, other in batches[0].rows.T.tolist():
            met[picture].add((one, other))
    assert min(len(pairs) for pairs in met.values()) > 15
    assert len({frozenset((one % 5, other % 5) for one, other in pairs) for pairs in met.values()}) > 1


def test_batches_hold_captions_of_similar_length() -> None:
    data = some_data([[1, 1]] * 640)
    sorted_by_length, mixed = (PivotSampler(data, 16, seed=0, pool=pool) for pool in (40, 1))
    spread = [
        np.mean([np.ptp(data.lengths[batch.rows[1:]].max(axis=0)) for batch in passes(sampler, 1)[0]])
        for sampler in (sorted_by_length, mixed)
    ]
    assert spread[0] < 2 < 10 < spread[1]


def test_a_sampler_goes_on_from_its_position() -> None:
    def make() -> PivotSampler:
        return PivotSampler(some_data([[2, 3], [1, 4], [3, 3]] * 20), 8, seed=3, pool=4)

    whole, first, resumed = make(), make(), make()
    expected = [whole.batch(step).rows.tolist() for step in range(70)]
    for stop in (5, 7, 30):  # inside a pass, at the end of one, and later
        first.state = [0]
        start = [first.batch(step).rows.tolist() for step in range(stop)]
        resumed.state = first.state
        assert start + [resumed.batch(step).rows.tolist() for step in range(stop, 70)] == expected
        assert resumed.epoch() == whole.epoch()
    with pytest.raises(ValueError, match="another sampler"):
        resumed.state = [1, 2]


def test_seeds_differ_and_epochs_count_captions() -> None:
    data = some_data([[5, 5]] * 64)
    one, other = PivotSampler(data, 16, seed=0), PivotSampler(data, 16, seed=1)
    assert one.batch(0).rows.tolist() != other.batch(0).rows.tolist()
    one.state = [0]
    passes(one, 5)  # five passes of four batches show all five captions
    assert one.epoch() == 1.0
    uneven = PivotSampler(some_data([[5, 1]] * 64), 16, seed=0)
    passes(uneven, 3)  # 3 × 2 × 64 captions were shown, of 6 × 64
    assert uneven.epoch() == 1.0


def test_a_large_batch_is_as_large_as_the_pictures_allow() -> None:
    batch = PivotSampler(some_data([[1, 1], [1, 0], [2, 2]]), 128, seed=0).batch(0)
    assert sorted(batch.rows[0].tolist()) == [0, 2]
