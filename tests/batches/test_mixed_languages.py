"""Batches of mixed languages: what is in them, that languages come evenly, and that positions can be resumed."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_every_language import corpora, data_of

from groundling.batches.data import TrainingData
from groundling.batches.mixed_languages import EMPTY, LanguageDraw, MixedLanguageSampler
from groundling.errors import UserError


def with_pictures(data: TrainingData, count: int) -> TrainingData:
    """Only the first owners have pictures."""
    return replace(data, features=data.features[:count])


@settings(max_examples=80, deadline=None)
@given(corpora(), st.integers(1, 6), st.integers(1, 5), st.integers(0, 3), st.integers(0, 2), st.integers(0, 9))
def test_a_step_shows_captions_of_its_pictures_and_no_more(
    counts: list[list[int]], captions: int, size: int, seed: int, groups: int, pictured: int
) -> None:
    told = [owner for owner, each in enumerate(counts) if any(each)]
    pictured = max(pictured, told[0] + 1)
    data = with_pictures(data_of(counts), pictured)
    sampler = MixedLanguageSampler(data, size, seed, captions, 2, groups)
    seen: Counter[int] = Counter()
    for step in range(sampler.streams[0].per_epoch):
        batch = sampler.batch(step)
        pictures, lines = batch.rows[0], batch.rows[1 : 1 + sampler.captions]
        seen.update(pictures.tolist())
        for place, picture in enumerate(pictures.tolist()):
            shown = [row for row in lines[:, place].tolist() if row != EMPTY]
            assert len(set(shown)) == len(shown)
            assert all(data.owners[row] == picture for row in shown)
            languages = Counter(data.languages[shown].tolist())
            available = sum(1 for number in counts[picture] if number)
            assert len(languages) == min(sampler.captions, available)
            # As many as there are turns, unless the language has no more.
            for language, number in languages.items():
                turns = -(-sampler.captions // available)
                assert min(turns - 1, counts[picture][language]) <= number <= turns
        alone = batch.rows[1 + sampler.captions :].reshape(sampler.groups, sampler.sentences, len(pictures))
        for group in alone:
            for column in group.T:
                shown = [row for row in column.tolist() if row != EMPTY]
                owners = set(data.owners[shown].tolist())
                assert len(owners) <= 1 and all(owner >= pictured for owner in owners)
                assert len(set(shown)) == len(shown)
        real = batch.rows[1:][batch.rows[1:] != EMPTY]
        assert batch.longest >= data.lengths[real].max() and batch.longest <= data.ids.shape[1]
    assert max(seen.values()) == 1
    assert set(seen) <= {owner for owner in told if owner < pictured}
    assert len(seen) == sampler.streams[0].per_epoch * sampler.batch_size


def test_every_language_comes_as_often_whatever_its_captions() -> None:
    data = data_of([[5, 1, 3], [5, 0, 1]])
    draw = LanguageDraw(data.owners, data.languages)
    random = np.random.default_rng(0)
    found: Counter[tuple[int, int]] = Counter()
    captions: Counter[int] = Counter()
    for _ in range(3000):
        rows = draw(np.array([0, 1]), 1, random)[0]
        found.update((int(data.owners[row]), int(data.languages[row])) for row in rows)
        captions.update(rows.tolist())
    for language in range(3):
        assert found[0, language] == pytest.approx(1000, abs=100)
    assert found[1, 0] == pytest.approx(1500, abs=120) and found[1, 2] == pytest.approx(1500, abs=120)
    english = np.flatnonzero((data.owners == 0) & (data.languages == 0))
    assert all(captions[row] == pytest.approx(200, abs=60) for row in english.tolist())  # each of the five alike


@settings(max_examples=30, deadline=None)
@given(corpora(), st.integers(0, 3), st.integers(0, 7))
def test_a_resumed_sampler_goes_on_with_the_same_batches(counts: list[list[int]], seed: int, steps: int) -> None:
    pictured = max(1, len(counts) // 2)
    data = with_pictures(data_of([[1] * len(counts[0]), *counts]), pictured + 1)
    whole, resumed = (MixedLanguageSampler(data, 2, seed, 3, 2) for _ in range(2))
    for step in range(steps):
        whole.batch(step)
    resumed.state = whole.state
    for step in range(steps, steps + 4):
        one, other = whole.batch(step), resumed.batch(step)
        np.testing.assert_array_equal(one.rows, other.rows)
        assert one.longest == other.longest


def test_other_seeds_and_passes_draw_otherwise() -> None:
    data = data_of([[3, 2, 2]] * 12)
    one, other = MixedLanguageSampler(data, 4, 0, 2), MixedLanguageSampler(data, 4, 1, 2)
    passes = [np.concatenate([one.batch(step).rows for step in range(3)], axis=1) for _ in range(2)]
    assert sorted(passes[0][0]) == sorted(passes[1][0]) == list(range(12))
    assert not np.array_equal(*passes)
    assert not np.array_equal(passes[0], np.concatenate([other.batch(step).rows for step in range(3)], axis=1))


def test_a_step_has_its_share_of_every_part() -> None:
    data = data_of([[1, 1]] * 30)
    parts = [np.arange(6), np.arange(6, 30)]
    sampler = MixedLanguageSampler(data, 8, 0, 2, parts=parts, shares=[3, 5])
    seen: Counter[int] = Counter()
    for step in range(8):
        pictures = sampler.batch(step).rows[0]
        assert (pictures < 6).sum() == 3
        seen.update(pictures.tolist())
    assert all(seen[picture] == 4 for picture in range(6))  # four passes through the small part
    assert sampler.epoch() == 4


def test_no_captions_is_said() -> None:
    with pytest.raises(UserError, match="no training picture has a caption"):
        MixedLanguageSampler(with_pictures(data_of([[1], [1]]), 0), 2, 0)
