"""Arrays that do not fit into memory are read as those that do; features are trained on as those that do."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from conftest import make_recipe
from groundling.dataset import Dataset
from groundling.errors import UserError
from groundling.large_arrays import GrowingArray, finite_rows, room, rows_of
from groundling.model.trained import TrainedModel
from groundling.training import train
from groundling.vision.features import features_from_array


@pytest.fixture
def everything_is_large(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("groundling.large_arrays.LARGE", 1)
    monkeypatch.setattr("groundling.large_arrays._BLOCK", 3)


def mapped(array: np.ndarray) -> bool:
    return isinstance(array, np.memmap)


def test_small_arrays_are_in_memory(own_cache: Path) -> None:
    assert not mapped(room((3, 4)))
    assert not mapped(rows_of(np.zeros((3, 4)), np.array([0, 2])))
    assert not (own_cache / "scratch").exists()


def test_rows_of_a_mapped_array(everything_is_large: None, own_cache: Path) -> None:
    array = room((7, 2, 2))
    assert mapped(array) and not array.any()
    array[:] = np.random.default_rng(0).standard_normal(array.shape)
    for rows in (np.array([6, 0, 0, 3, 5]), np.arange(7) % 2 == 0, np.zeros(7, dtype=bool)):
        found = rows_of(array, rows)
        assert found.tolist() == np.array(array)[rows].tolist()
        assert mapped(found) or not len(found)
    assert rows_of(array, np.ones(7, dtype=bool)) is array  # nothing is copied
    assert rows_of(array, np.arange(7), np.float16).dtype == np.float16
    array[4, 1, 0] = np.inf
    assert finite_rows(array).tolist() == [True] * 4 + [False] + [True] * 2
    assert list((own_cache / "scratch").iterdir()) == []  # files without names


def test_what_is_large_may_be_said(own_cache: Path) -> None:
    array = np.arange(12, dtype=np.float32).reshape(6, 2)  # 48 bytes
    assert mapped(room((6, 2), large=48)) and not mapped(room((6, 2), large=49))
    found = rows_of(array, np.array([5, 1]), large=16)
    assert mapped(found) and found.tolist() == [[10, 11], [2, 3]]
    assert not mapped(rows_of(array, np.array([5, 1]), large=17))


@pytest.mark.parametrize("large", [1, 20, 48, 49])
def test_blocks_of_rows_nobody_knows_how_many(own_cache: Path, large: int) -> None:
    array = np.random.default_rng(0).standard_normal((6, 2)).astype(np.float32)  # 48 bytes
    growing = GrowingArray(large)
    for block in (array[:1], array[1:1], array[1:4], array[:, ::-1][4:, ::-1]):
        growing.add(block)
    found = growing.whole()
    assert mapped(found) == (large <= 48) and found.dtype == np.float32
    assert np.array_equal(found, array)


def test_features_of_an_array_stay_in_its_file(world: Dataset, everything_is_large: None, tmp_path: Path) -> None:
    names = world.corpus.pictures.tolist()
    np.save(tmp_path / "a.npy", world.features)
    (tmp_path / "a.txt").write_text("".join(f"{name}\n" for name in names))
    found = features_from_array(world.corpus, tmp_path / "a.npy", tmp_path / "a.txt")
    assert mapped(found) and np.array_equal(found, world.features)
    (tmp_path / "a.txt").write_text("".join(f"{name}\n" for name in names[::-1]))
    found = features_from_array(world.corpus, tmp_path / "a.npy", tmp_path / "a.txt")
    assert mapped(found) and np.array_equal(found, world.features[::-1])
    broken = world.features.copy()
    broken[7, 0] = np.nan
    np.save(tmp_path / "a.npy", broken)
    with pytest.raises(UserError, match=f'1 rows are not finite numbers, the first is of picture "{names[-8]}"'):
        features_from_array(world.corpus, tmp_path / "a.npy", tmp_path / "a.txt")


def test_a_training_on_mapped_features(
    world: Dataset, everything_is_large: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = make_recipe(training={"maximum_steps": 12, "validate_every": 6})
    large = replace(world, features=rows_of(world.features, np.arange(len(world.features))))
    assert mapped(large.split("train").features)
    train(recipe, large, tmp_path / "files", device="cpu")
    monkeypatch.setattr("groundling.large_arrays.LARGE", 2**40)
    assert not mapped(world.split("train").features)
    train(recipe, world, tmp_path / "memory", device="cpu")
    one, other = (
        TrainedModel.load(tmp_path / name, "cpu").encode_text(["dog tree"], ["en"]) for name in ("files", "memory")
    )
    assert np.array_equal(one, other)
