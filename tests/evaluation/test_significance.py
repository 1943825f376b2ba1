"""Paired tests against full enumeration and formulas; intervals against the t distribution."""

import itertools
import math

import numpy as np
import pytest

from groundling.evaluation.significance import hits, mean_interval, paired_bootstrap, paired_permutation


def test_hits_leave_out_pictures_without_captions() -> None:
    assert hits(np.array([1, 5, 6, 0]), 5).tolist() == [True, True, False, False]


def test_equal_runs() -> None:
    same = np.random.default_rng(0).integers(0, 2, 50)
    assert paired_permutation(same, same) == 1
    assert paired_bootstrap(same, same) == {"difference": 0, "low": 0, "high": 0}


def test_runs_that_differ_by_chance_alone() -> None:
    draw = np.random.default_rng(1)
    a, b = draw.integers(0, 2, 400), draw.integers(0, 2, 400)
    found = paired_bootstrap(a, b)
    assert found["low"] < 0 < found["high"]
    assert found["difference"] == pytest.approx(a.mean() - b.mean())
    assert paired_permutation(a, b) > 0.05


def test_always_better() -> None:
    assert paired_permutation(np.ones(40), np.zeros(40), samples=2000) == pytest.approx(1 / 2001)
    found = paired_bootstrap(np.ones(40), np.zeros(40))
    assert found == {"difference": 1, "low": 1, "high": 1}
    better = np.arange(40) < 30
    assert paired_bootstrap(better, np.zeros(40))["low"] > 0.5
    assert paired_bootstrap(np.zeros(40), better)["high"] < -0.5


def enumerated(gains: list[float]) -> float:
    """All ways the coins can fall."""
    sums = [
        abs(sum(sign * gain for sign, gain in zip(signs, gains, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(gains))
    ]
    return sum(found >= abs(sum(gains)) - 1e-9 for found in sums) / len(sums)


@pytest.mark.parametrize("seed", range(4))
def test_permutation_approaches_enumeration(seed: int) -> None:
    draw = np.random.default_rng(seed)
    a, b = draw.normal(0.4, 1, 24).round(1), draw.normal(0, 1, 24).round(1)
    groups = draw.integers(0, 9, 24)
    gains = [float((a - b)[groups == group].sum()) for group in np.unique(groups)]
    found = paired_permutation(a, b, groups, samples=40_000)
    assert found == pytest.approx(enumerated(gains), abs=0.012)  # five standard errors


def test_bootstrap_approaches_the_normal_interval() -> None:
    draw = np.random.default_rng(2)
    gains = draw.normal(0.1, 2, 500)
    found = paired_bootstrap(gains, np.zeros(500), samples=20_000)
    half_width = 1.96 * gains.std() / math.sqrt(500)
    assert found["low"] == pytest.approx(gains.mean() - half_width, abs=0.06 * half_width)
    assert found["high"] == pytest.approx(gains.mean() + half_width, abs=0.06 * half_width)


def test_captions_of_a_picture_are_one_witness() -> None:
    """Five copies of every query are no more evidence than one, if we know that they are copies."""
    draw = np.random.default_rng(3)
    a, b = draw.integers(0, 2, 100), draw.integers(0, 2, 100)
    copies = [np.repeat(values, 5) for values in (a, b, np.arange(100))]
    assert paired_bootstrap(*copies) == pytest.approx(paired_bootstrap(a, b))
    assert paired_permutation(*copies) == paired_permutation(a, b)
    alone, together = paired_bootstrap(copies[0], copies[1]), paired_bootstrap(*copies)
    assert alone["high"] - alone["low"] < 0.6 * (together["high"] - together["low"])


def test_pictures_with_more_captions_weigh_more() -> None:
    found = paired_bootstrap([1, 1, 1, 0], [0, 0, 0, 1], groups=[7, 7, 7, 3])
    assert found == {"difference": 0.5, "low": -1, "high": 1}  # (3 − 1) / 4; one picture drawn twice is all it says


def test_results_do_not_change_from_call_to_call() -> None:
    a, b = np.random.default_rng(4).normal(size=(2, 3000))
    assert paired_bootstrap(a, b, samples=3000) == paired_bootstrap(a, b, samples=3000)
    assert paired_bootstrap(a, b, samples=3000) != paired_bootstrap(a, b, samples=3000, seed=1)


def test_interval_over_seeds() -> None:
    assert mean_interval([1.0, 2.0, 3.0]) == pytest.approx((2, 1, 4.303 / math.sqrt(3)))
    assert mean_interval([5.0, 5.0]) == (5, 0, 0)
    assert mean_interval([41.5]) == (41.5, None, None)


@pytest.mark.parametrize(("freedom", "errors"), [(1, 12.706), (30, 2.042), (31, 2.040), (60, 2.000), (1000, 1.962)])
def test_interval_follows_student(freedom: int, errors: float) -> None:
    """Values from the tables of the t distribution, 97.5%."""
    values = np.random.default_rng(5).normal(size=freedom + 1)
    _, deviation, half_width = mean_interval(values.tolist())
    assert deviation == pytest.approx(values.std(ddof=1))
    assert half_width == pytest.approx(errors * values.std(ddof=1) / math.sqrt(len(values)), rel=5e-4)


def test_runs_on_different_queries_cannot_be_compared() -> None:
    with pytest.raises(ValueError, match="same queries"):
        paired_bootstrap([1, 0], [1, 0, 1])
    with pytest.raises(ValueError, match="groups"):
        paired_permutation([1, 0], [1, 0], groups=[1])
