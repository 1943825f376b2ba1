"""Batches of every language: what is in them, that all captions have their turn, and that positions can be resumed."""

from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.batches import EveryLanguageSampler, TrainingData
from groundling.batches.packing import packing_of


def data_of(counts: list[list[int]]) -> TrainingData:
    """Picture p has counts[p][l] captions in language l; captions stand in no particular order."""
    rows = [(p, code) for p, each in enumerate(counts) for code, number in enumerate(each) for _ in range(number)]
    rows = [rows[place] for place in np.random.default_rng(0).permutation(len(rows))]
    owners, languages = (np.array(column, dtype=np.int64) for column in zip(*rows, strict=True))
    lengths = np.random.default_rng(1).integers(1, 12, len(rows))
    return TrainingData(
        ids=torch.zeros(len(rows), 12, dtype=torch.int32),
        device_lengths=torch.from_numpy(lengths),
        device_owners=torch.from_numpy(owners),
        device_texts=torch.arange(len(rows)),
        features=torch.zeros(len(counts), 1),
        lengths=lengths,
        owners=owners,
        languages=languages,
        codes=[f"l{number}" for number in range(len(counts[0]))],
    )


@st.composite
def corpora(draw: st.DrawFn) -> list[list[int]]:
    languages = draw(st.integers(1, 3))
    counts = draw(st.lists(st.lists(st.integers(0, 4), min_size=languages, max_size=languages), min_size=1, max_size=9))
    return counts if any(map(any, counts)) else [[1] * languages, *counts]


@settings(max_examples=60, deadline=None)
@given(corpora(), st.integers(1, 3), st.integers(1, 4), st.integers(0, 3))
def test_a_step_shows_captions_of_its_pictures_and_no_more(
    counts: list[list[int]], sentences: int, size: int, seed: int
) -> None:
    data = data_of(counts)
    sampler = EveryLanguageSampler(data, size, seed, sentences, pool=2)
    captioned = [picture for picture, each in enumerate(counts) if any(each)]
    seen: Counter[int] = Counter()
    for step in range(sampler.stream.per_epoch):
        batch = sampler.batch(step)
        pictures, captions = batch.rows[0], batch.rows[1:].reshape(len(data.codes), sentences, -1)
        seen.update(pictures.tolist())
        real = captions >= 0
        assert batch.longest == data.lengths[captions[real]].max()
        for place, picture in enumerate(pictures.tolist()):
            for language in range(len(data.codes)):
                shown = captions[language, :, place]
                shown = shown[shown >= 0]
                assert len(set(shown.tolist())) == len(shown) == min(sentences, counts[picture][language])
                assert (data.owners[shown] == picture).all()
                assert (data.languages[shown] == language).all()
    assert max(seen.values()) == 1  # each picture once in a pass
    assert set(seen) <= set(captioned)
    assert len(seen) == len(captioned) - len(captioned) % min(size, len(captioned))


def test_all_captions_have_their_turn() -> None:
    data = data_of([[5, 1], [3, 0], [2, 4], [0, 2]])
    sampler = EveryLanguageSampler(data, 4, 0, sentences=2)
    shown = Counter(row for step in range(200) for row in sampler.batch(step).rows[1:].flatten().tolist() if row >= 0)
    assert set(shown) == set(range(len(data.owners)))
    five = [row for row in shown if data.owners[row] == 0 and data.languages[row] == 0]
    assert all(60 < shown[row] < 100 for row in five)  # two of five in each pass: 80 of 200 on average


@pytest.mark.parametrize("at", [1, 3, 7])
def test_a_position_can_be_written_down(at: int) -> None:
    data = data_of([[2, 1], [1, 3], [2, 2], [0, 4], [5, 5]])
    whole = EveryLanguageSampler(data, 2, 7, align_epochs=1.5)
    batches = [whole.batch(step) for step in range(12)]
    first, second = (
        EveryLanguageSampler(data, 2, 7, align_epochs=1.5),
        EveryLanguageSampler(data, 2, 7, align_epochs=1.5),
    )
    for step in range(at):
        first.batch(step)
    second.state = first.state
    for step in range(at, 12):
        found = second.batch(step)
        assert found.kind == batches[step].kind
        assert found.longest == batches[step].longest
        assert np.array_equal(found.rows, batches[step].rows)
    other = EveryLanguageSampler(data, 2, 8)
    assert any(not np.array_equal(other.batch(step).rows, batches[step].rows) for step in range(12))
    with pytest.raises(ValueError, match="another sampler"):
        other.state = [1, 2]


def test_the_packing_is_that_of_the_captions_in_a_batch() -> None:
    """Only where captions are read in their order; beside them a batch is what it is without packing."""
    data = data_of([[2, 1], [1, 3], [2, 2], [0, 4], [5, 5]] * 4)
    plain, stepped = (EveryLanguageSampler(data, 10, 7, align_epochs=1, packing=packing) for packing in (False, True))
    for step in range(8):
        one, other = plain.batch(step), stepped.batch(step)
        assert np.array_equal(one.rows, other.rows)
        assert one.packing == ()
        if step < 2:
            assert (other.longest, other.packing) == (one.longest, ())
            continue
        captions = other.rows[1:].flatten()
        lengths = np.where(captions < 0, 1, data.lengths[captions])
        assert other.packing == packing_of(lengths, 12)
        assert one.longest <= other.longest == other.packing[-1][0] <= 12


def test_alignment_comes_first() -> None:
    data = data_of([[1, 1]] * 6)
    sampler = EveryLanguageSampler(data, 2, 0, align_epochs=2)
    assert [sampler.batch(step).kind for step in range(8)] == ["align"] * 6 + ["every"] * 2
    assert sampler.epoch() == pytest.approx(8 / 3)
    assert EveryLanguageSampler(data, 2, 0).batch(0).kind == "every"
