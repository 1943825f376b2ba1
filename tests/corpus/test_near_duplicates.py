"""Pictures that look the same, by their features: by hand, and against one pair at a time."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pets import corpus

from groundling.corpus import near_duplicates, nearest_features
from groundling.corpus.inspect import describe, summary
from groundling.corpus.leaks import leaks


def find(features: np.ndarray, splits: str, threshold: float = 0.999, rows: list[int] | None = None) -> dict:
    named = np.array([f"p{row}" for row in range(len(splits.split()))])
    places = np.arange(len(named)) if rows is None else np.array(rows)
    return near_duplicates.find(named, np.array(splits.split()), features, places, threshold).to_json()


def test_by_hand_the_closest_first() -> None:
    features = np.array([[1, 0, 0], [0, 2, 0], [0, 1, 0.01], [0, 0, 1], [3, 0, 0], [0, 2, 0]], dtype=np.float32)
    found = json.loads(json.dumps(find(features, "train train test test test dev")))
    assert found["checked"] == {"train": 2, "dev": 1, "test": 3}
    assert found["test"]["count"] == 2
    assert found["test"]["identical"] == 0  # the same direction is not the same features
    assert found["test"]["pairs"] == [
        {"picture": "p4", "train": "p0", "cosine": 1.0},
        {"picture": "p2", "train": "p1", "cosine": pytest.approx(1 / np.sqrt(1.0001), abs=1e-9)},
    ]
    assert found["test"]["nearest"] == found["test"]["pairs"][0]
    assert (found["dev"]["count"], found["dev"]["identical"]) == (1, 1)
    assert found["dev"]["pairs"] == [{"picture": "p5", "train": "p1", "cosine": 1.0}]


def test_the_threshold_and_the_nearest_below_it() -> None:
    features = np.array([[1.0, 0.0], [0.8, 0.6]])
    for threshold, count in ((0.79, 1), (0.81, 0), (1.0, 0)):
        found = find(features, "train test", threshold)["test"]
        assert (found["count"], len(found["pairs"])) == (count, count)
        assert found["nearest"] == {"picture": "p1", "train": "p0", "cosine": pytest.approx(0.8, abs=1e-6)}


def test_the_very_same_features_are_found_at_any_threshold() -> None:
    draw = np.random.default_rng(0)
    features = draw.standard_normal((40, 100)).astype(np.float16)
    features[39] = features[7]
    found = find(features, " ".join(["train"] * 30 + ["test"] * 10), threshold=1.0)["test"]
    assert found["pairs"] == [{"picture": "p39", "train": "p7", "cosine": 1.0}]


def test_a_cosine_at_the_threshold_is_decided_in_float64() -> None:
    """Differences that float32 cannot see."""
    angle = np.arccos(0.999)
    for shift, count in ((-1e-9, 1), (1e-9, 0)):
        features = np.array([[1.0, 0.0], [np.cos(angle + shift), np.sin(angle + shift)]])
        assert find(features, "train test")["test"]["count"] == count


def test_pictures_without_features_or_with_broken_ones_are_named_and_like_no_other() -> None:
    features = np.array([[0, 0], [1, 1], [np.nan, 1], [1e-30, 1e-30], [1e30, 1e30], [np.inf, 0]])
    found = find(features, "train train train test test dev test", rows=[0, 1, 2, 3, 4, 5, -1])
    assert found["without_features"] == ["p6"]
    assert found["without_direction"] == ["p0", "p2", "p5"]
    assert found["checked"] == {"train": 1, "dev": 0, "test": 2}
    assert [pair["picture"] for pair in found["test"]["pairs"]] == ["p3", "p4"]  # very small and very large numbers
    assert found["dev"] == {"count": 0, "identical": 0, "pairs": [], "nearest": None}


@pytest.mark.parametrize("splits", ["test dev", "train train"])
def test_nothing_to_compare(splits: str) -> None:
    found = find(np.ones((2, 3)), splits)
    for split in ("dev", "test"):
        assert found[split] == {"count": 0, "identical": 0, "pairs": [], "nearest": None}


def test_a_memory_mapped_array_with_rows_in_another_order(tmp_path: Path) -> None:
    np.save(tmp_path / "f.npy", np.array([[0, 1], [1, 0], [5, 5], [1, 0]], dtype=np.float16))
    features = np.load(tmp_path / "f.npy", mmap_mode="r")
    assert find(features, "train test", rows=[3, 1])["test"]["count"] == 1
    assert find(features, "train test", rows=[3, 0])["test"]["count"] == 0
    one = corpus()
    found = leaks(one, features, np.array([0, 1, 3, 2])).pictures_by_feature
    assert found is not None
    assert found.splits["test"].pairs == [near_duplicates.NearPair("c", "b", 1.0)]
    with pytest.raises(ValueError, match="3 rows of features for 4 pictures"):
        leaks(one, features[:3])


@pytest.mark.parametrize("pairs", [2**32, 0])  # compared all, or in cells
@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_blocks_find_what_one_by_one_finds(pairs: int, seed: int) -> None:
    """Vectors with few possible directions, so that twins are common; some rows are zero or broken."""
    random = np.random.default_rng(seed)
    count = 23
    features = random.integers(-1, 2, (count, 2)) * random.choice([0.5, 1.0, 2.0], (count, 1))
    features[random.integers(count)] = np.nan
    splits = random.choice(["train", "dev", "test"], count)

    def cosine(row: int, other: int) -> float:
        one, two = features[row], features[other]
        length = np.linalg.norm(one) * np.linalg.norm(two)
        return float(one @ two / length) if length > 0 else -1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(near_duplicates, "ALL_PAIRS", pairs)
        patch.setattr(near_duplicates, "BLOCK", 4)
        patch.setattr(nearest_features, "BLOCK", 4)
        patch.setattr(nearest_features, "_AT_ONCE", 3)
        found = find(features, " ".join(splits))
    train = [row for row in range(count) if splits[row] == "train"]
    for split in ("dev", "test"):
        leaking = {
            f"p{row}" for row in range(count) if splits[row] == split and any(cosine(row, x) >= 0.999 for x in train)
        }
        assert found[split]["count"] == len(leaking)
        assert {pair["picture"] for pair in found[split]["pairs"]} == leaking
        for pair in found[split]["pairs"]:
            assert cosine(int(pair["picture"][1:]), int(pair["train"][1:])) == pytest.approx(pair["cosine"])
        cosines = [pair["cosine"] for pair in found[split]["pairs"]]
        assert cosines == sorted(cosines, reverse=True)


def planted(cosines: np.ndarray, seed: int = 0) -> tuple[np.ndarray, str]:
    """Pictures in a hundred groups, as photos of the same things are; of some, test has one with a known cosine."""
    draw = np.random.default_rng(seed)
    groups = draw.standard_normal((100, 48)) + 0.5
    train = groups[draw.integers(100, size=3000)] + 0.5 * draw.standard_normal((3000, 48))
    held_out = groups[draw.integers(100, size=500)] + 0.5 * draw.standard_normal((500, 48))
    for row, cosine in enumerate(cosines):
        one, other = train[7 * row] / np.linalg.norm(train[7 * row]), held_out[row]
        across = other - (other @ one) * one
        held_out[row] = cosine * one + np.sqrt(1 - cosine**2) * across / np.linalg.norm(across)
    splits = ["train"] * 3000 + ["test"] * 400 + ["dev"] * 100
    return np.concatenate([train, held_out]).astype(np.float32), " ".join(splits)


@pytest.mark.parametrize("threshold", [0.99, 0.999, 0.9995])
def test_cells_find_the_same_near_duplicates_as_all_pairs(threshold: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those planted around the threshold, and whatever else is there; the same partners with the same cosines."""
    spread = min(0.01, 1 - threshold)
    cosines = np.linspace(threshold - spread, threshold + spread, 301)
    features, splits = planted(cosines)
    expected = find(features, splits, threshold)
    assert expected["test"]["count"] >= (cosines >= threshold + 1e-6).sum() > 50
    monkeypatch.setattr(near_duplicates, "ALL_PAIRS", 0)
    found = find(features, splits, threshold)
    for split in ("dev", "test"):
        assert found[split]["count"] == expected[split]["count"]
        pairs, others = (
            {(pair["picture"], pair["train"]): pair["cosine"] for pair in one[split]["pairs"]}
            for one in (found, expected)
        )
        assert pairs == pytest.approx(others, abs=1e-12)


def test_cells_pass_over_most_pairs() -> None:
    features, _ = planted(np.array([0.9995]))
    cells = nearest_features.Cells(features, np.arange(3000), 0.999)
    cosines, places = cells.nearest(np.arange(3000, 3500), np.float64)
    assert (cosines[0], places[0]) == (pytest.approx(0.9995, abs=1e-6), 0)
    assert (cosines[1:] == -np.inf).all()
    assert 0 < cells.compared < 0.1 * 500 * 3000


def test_where_nothing_is_near_among_too_many_pairs_the_nearest_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_duplicates, "ALL_PAIRS", 0)
    one = corpus()
    found = leaks(one, np.eye(4, dtype=np.float32))
    assert found.pictures_by_feature is not None
    assert found.pictures_by_feature.splits["test"].nearest is None
    assert any(line.endswith("in train by its features") for line in summary(describe(one), found))
