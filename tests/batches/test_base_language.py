"""Steps of a base language against pictures and against the other languages."""

import numpy as np
import pytest
import torch

from groundling.batches import BaseLanguageSampler, Batch, TrainingData
from groundling.errors import UserError


def data_of(languages: list[list[int]], codes: tuple[str, ...]) -> TrainingData:
    """Picture p has captions in the languages listed for it; lengths are drawn."""
    owners = np.array([picture for picture, found in enumerate(languages) for _ in found], dtype=np.int64)
    lengths = np.random.default_rng(0).integers(2, 9, len(owners))
    return TrainingData(
        ids=torch.zeros(len(owners), 9, dtype=torch.int32),
        device_lengths=torch.from_numpy(lengths),
        device_owners=torch.from_numpy(owners),
        device_texts=torch.arange(len(owners)),
        features=torch.zeros(len(languages), 4),
        lengths=lengths,
        owners=owners,
        languages=np.array([language for found in languages for language in found], dtype=np.int64),
        codes=codes,
    )


def three_languages() -> TrainingData:
    return data_of([[0, 0, 1, 1, 2, 2]] * 60, ("de", "en", "fr"))


def check_pictures(data: TrainingData, batch: Batch, base: str) -> None:
    assert (data.owners[batch.rows[0]] == batch.rows[1]).all()
    assert {data.codes[number] for number in data.languages[batch.rows[0]]} == {base}
    captions = np.delete(batch.rows, 1, axis=0)
    assert batch.longest == data.lengths[captions].max()


@pytest.mark.parametrize("base", ["de", "en", "fr"])
def test_a_step_is_the_base_with_its_pictures_and_the_base_with_one_other_language(base: str) -> None:
    data = three_languages()
    sampler = BaseLanguageSampler(data, 16, seed=0, base=base)
    others = []
    for step in range(300):
        batch = sampler.batch(step)
        assert batch.kind == "base"
        assert batch.rows.shape == (4, 16)
        check_pictures(data, batch, base)
        _, _, left, right = batch.rows
        assert (data.owners[left] == data.owners[right]).all()
        assert {data.codes[number] for number in data.languages[left]} == {base}
        (other,) = {data.codes[number] for number in data.languages[right]}
        others.append(other)
    assert set(others) == {"de", "en", "fr"} - {base}
    assert min(others.count(code) for code in set(others)) > 110  # evenly: about 150 of 300


def test_with_every_other_each_step_has_all_of_them() -> None:
    data = three_languages()
    sampler = BaseLanguageSampler(data, 16, seed=0, base="en", every_other=True)
    for step in range(20):
        batch = sampler.batch(step)
        assert batch.rows.shape == (6, 16)
        check_pictures(data, batch, "en")
        for lines, code in ((batch.rows[2:4], "de"), (batch.rows[4:6], "fr")):
            assert (data.owners[lines[0]] == data.owners[lines[1]]).all()
            assert {data.codes[number] for number in data.languages[lines[0]]} == {"en"}
            assert {data.codes[number] for number in data.languages[lines[1]]} == {code}


def test_all_pairs_of_base_and_other_come_up_in_an_epoch() -> None:
    data = data_of([[0, 0, 1], [0, 1, 1], [1], [0]], ("de", "en"))
    sampler = BaseLanguageSampler(data, 2, seed=0, base="en")
    expected = {(2, 0), (2, 1), (4, 3), (5, 3)}  # (en, de) of pictures 0 and 1
    found = {(int(a), int(b)) for step in range(2) for a, b in sampler.batch(step).rows[2:].T}
    assert found == expected


@pytest.mark.parametrize("code", ["de", "en"])
def test_one_language_alone_is_its_own_base(code: str) -> None:
    data = data_of([[0, 0]] * 30, (code,))
    batch = BaseLanguageSampler(data, 16, seed=0, base="en").batch(0)
    assert batch.kind == "picture"
    assert batch.rows.shape == (2, 16)
    check_pictures(data, batch, code)


@pytest.mark.parametrize("every_other", [False, True])
def test_a_sampler_goes_on_from_its_position(every_other: bool) -> None:
    def make() -> BaseLanguageSampler:
        return BaseLanguageSampler(three_languages(), 16, seed=3, base="en", pool=4, every_other=every_other)

    whole, first, resumed = make(), make(), make()
    expected = [whole.batch(step).rows.tolist() for step in range(80)]
    start = [first.batch(step).rows.tolist() for step in range(30)]
    resumed.state = first.state
    assert start + [resumed.batch(step).rows.tolist() for step in range(30, 80)] == expected
    assert resumed.epoch() == whole.epoch() == pytest.approx(80 / (120 // 16))
    with pytest.raises(ValueError, match="another sampler"):
        resumed.state = [1]


def test_batches_shrink_together_where_pairs_are_few() -> None:
    data = data_of([[0, 1]] * 5 + [[0]] * 50, ("en", "sw"))
    batch = BaseLanguageSampler(data, 16, seed=0, base="en").batch(0)
    assert batch.rows.shape == (4, 5)


@pytest.mark.parametrize(
    ("base", "sentence"),
    [
        ("eng", r'system.base: no training captions in "eng" \(did you mean "en"\?\)'),
        ("xx", r'system.base: no training captions in "xx" \(there is: de, en, fr\)'),
    ],
)
def test_a_base_that_is_not_there(base: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        BaseLanguageSampler(three_languages(), 16, seed=0, base=base)


def test_languages_that_share_no_picture() -> None:
    data = data_of([[0], [1]] * 10, ("de", "en"))
    with pytest.raises(UserError, match="no training picture has captions in both en and de"):
        BaseLanguageSampler(data, 4, seed=0, base="en")
