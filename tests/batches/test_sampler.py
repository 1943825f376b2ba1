import numpy as np
import pytest
import torch

from groundling.batches import LanguageSampler, TrainingData


def some_data(pictures: int = 60, codes: tuple[str, ...] = ("de", "en", "fr")) -> TrainingData:
    draw = np.random.default_rng(0)
    captions = pictures * len(codes) * 2
    lengths = draw.integers(2, 9, captions)
    owners = np.repeat(np.arange(pictures), len(codes) * 2)
    return TrainingData(
        ids=torch.zeros(captions, 9, dtype=torch.int32),
        device_lengths=torch.from_numpy(lengths),
        device_owners=torch.from_numpy(owners),
        device_texts=torch.arange(captions),
        features=torch.zeros(pictures, 4),
        lengths=lengths,
        owners=owners,
        languages=np.tile(np.repeat(np.arange(len(codes)), 2), pictures),
        codes=codes,
    )


def test_a_batch_is_of_one_language_and_matches_its_pictures() -> None:
    data = some_data()
    sampler = LanguageSampler(data, 16, seed=0, groups=[["de"], ["en"], ["fr"]])
    drawn = []
    for step in range(300):
        batch = sampler.batch(step)
        assert batch.kind == "picture"
        assert (data.owners[batch.captions] == batch.partners).all()
        assert batch.longest == data.lengths[batch.captions].max()
        (language,) = set(data.languages[batch.captions].tolist())
        drawn.append(language)
    counts = np.bincount(drawn)
    assert counts.min() > 70  # each of three languages about 100 times of 300


def test_pair_batches_cross_languages_with_the_given_probability() -> None:
    data = some_data()
    sampler = LanguageSampler(data, 16, seed=0, groups=[["de"], ["en"], ["fr"]], pair_probability=0.5)
    kinds = []
    for step in range(400):
        batch = sampler.batch(step)
        kinds.append(batch.kind)
        if batch.kind == "caption":
            assert (data.owners[batch.captions] == data.owners[batch.partners]).all()
            assert (data.languages[batch.captions] != data.languages[batch.partners]).all()
            # the lengths must be those of these captions, on both sides (a bug of the released code)
            assert batch.longest == max(data.lengths[batch.captions].max(), data.lengths[batch.partners].max())
            assert len(set(data.languages[batch.captions].tolist())) > 1
    assert 150 < kinds.count("caption") < 250


@pytest.mark.parametrize("probability", [0.0, 0.5])
def test_a_sampler_goes_on_from_its_position(probability: float) -> None:
    def make() -> LanguageSampler:
        return LanguageSampler(some_data(), 16, seed=3, groups=[["de"], ["en"], ["fr"]], pair_probability=probability)

    whole, first = make(), make()
    expected = [whole.batch(step).captions.tolist() for step in range(120)]
    start = [first.batch(step).captions.tolist() for step in range(50)]
    resumed = make()
    resumed.state = first.state
    rest = [resumed.batch(step).captions.tolist() for step in range(50, 120)]
    assert start + rest == expected


def test_a_position_of_another_sampler_is_refused() -> None:
    sampler = LanguageSampler(some_data(), 16, seed=0, groups=[["de"]])
    with pytest.raises(ValueError, match="another sampler"):
        sampler.state = [1, 2]


def test_languages_in_one_group_are_mixed() -> None:
    data = some_data()
    batch = LanguageSampler(data, 32, seed=0, groups=[["de", "en"]]).batch(0)
    assert set(data.languages[batch.captions].tolist()) == {0, 1}


@pytest.mark.parametrize("swap", [True, False])
def test_sides_of_pairs(swap: bool) -> None:
    """On fixed sides, as in C_m × C_n, the language that comes first stands on the left in every pair."""
    data = some_data(codes=("de", "en", "fr"))
    sampler = LanguageSampler(data, 16, 0, [["de"], ["en"], ["fr"]], pair_probability=0.9, swap_pairs=swap)
    pairs = [batch for batch in map(sampler.batch, range(40)) if batch.kind == "caption"]
    in_order = [(data.languages[batch.captions] < data.languages[batch.partners]).mean() for batch in pairs]
    assert pairs and (0.4 < np.mean(in_order) < 0.6 if swap else np.mean(in_order) == 1)


def test_with_two_languages_on_fixed_sides_all_wrong_pairs_are_of_two_languages() -> None:
    data = some_data(codes=("de", "en"))
    sampler = LanguageSampler(data, 16, 0, [["de"], ["en"]], pair_probability=0.9, swap_pairs=False)
    batch = next(batch for batch in map(sampler.batch, range(40)) if batch.kind == "caption")
    assert set(data.languages[batch.captions]) == {0}
    assert set(data.languages[batch.partners]) == {1}
