"""Paired tests against full enumeration and formulas; intervals against the t distribution."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from groundling.evaluation.significance import (
    difference_interval,
    hits,
    mean_interval,
    paired_bootstrap,
    paired_permutation,
)


def test_hits_leave_out_pictures_without_captions() -> None:
    assert hits(np.array([1, 5, 6, 0]), 5).tolist() == [True, True, False, False]


def test_equal_runs() -> None:
    same = np.random.default_rng(0).integers(0, 2, 50)
    assert paired_permutation(same, same) == 1
    assert paired_bootstrap(same, same) == (0, 0, 0)


def test_runs_that_differ_by_chance_alone() -> None:
    draw = np.random.default_rng(1)
    a, b = draw.integers(0, 2, 400), draw.integers(0, 2, 400)
    found = paired_bootstrap(a, b)
    assert found.low < 0 < found.high
    assert found.difference == pytest.approx(a.mean() - b.mean())
    assert paired_permutation(a, b) > 0.05


def test_always_better() -> None:
    assert paired_permutation(np.ones(40), np.zeros(40), samples=2000) == pytest.approx(1 / 2001)
    found = paired_bootstrap(np.ones(40), np.zeros(40))
    assert tuple(found) == (1, 1, 1)
    better = np.arange(40) < 30
    assert paired_bootstrap(better, np.zeros(40)).low > 0.5
    assert paired_bootstrap(np.zeros(40), better).high < -0.5


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
    assert found.low == pytest.approx(gains.mean() - half_width, abs=0.06 * half_width)
    assert found.high == pytest.approx(gains.mean() + half_width, abs=0.06 * half_width)


def test_captions_of_a_picture_are_one_witness() -> None:
    """Five copies of every query are no more evidence than one, if we know that they are copies."""
    draw = np.random.default_rng(3)
    a, b = draw.integers(0, 2, 100), draw.integers(0, 2, 100)
    copies = [np.repeat(values, 5) for values in (a, b, np.arange(100))]
    assert paired_bootstrap(*copies) == pytest.approx(paired_bootstrap(a, b))
    assert paired_permutation(*copies) == paired_permutation(a, b)
    alone, together = paired_bootstrap(copies[0], copies[1]), paired_bootstrap(*copies)
    assert alone.high - alone.low < 0.6 * (together.high - together.low)


def test_pictures_with_more_captions_weigh_more() -> None:
    found = paired_bootstrap([1, 1, 1, 0], [0, 0, 0, 1], groups=[7, 7, 7, 3])
    assert found == (0.5, -1, 1)  # (3 − 1) / 4; one picture drawn twice is all it says


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


FIRST = [27.5, 21.0, 19.0, 23.6, 17.0, 17.9, 16.9, 20.1, 21.9, 22.6, 23.1, 19.6, 19.0, 21.7, 21.4]
SECOND = [27.1, 22.0, 20.8, 23.4, 23.4, 23.5, 25.8, 22.0, 24.8, 20.2, 21.9, 22.1, 22.9, 30.0, 23.9]


def test_difference_of_two_means_by_hand() -> None:
    """15 values each, with the sums 312.3 and 353.8 and the sums of squares around their means 110.144 and 89.8173:
    variances 7.86743 and 6.41552, errors .52450 and .42770, together .95220. The degrees of freedom are
    .95220² / ((.52450² + .42770²) / 14) = 27.71, rounded down 27: t = 2.052, and the half width 2.052 · √.95220."""
    difference, half_width = difference_interval(FIRST, SECOND)
    assert difference == pytest.approx((312.3 - 353.8) / 15)
    assert half_width == pytest.approx(2.0024, abs=1e-4)


def test_small_differences_by_hand() -> None:
    """Variances 1 and 4 of three values each: errors 1/3 and 4/3, 50/17 = 2.94 degrees of freedom, rounded down 2."""
    assert difference_interval([1, 2, 3], [2, 4, 6]) == pytest.approx((-2, 4.303 * math.sqrt(5 / 3)))
    # Equal spread and size: 2 · (3 − 1) = 4 degrees, not 3 by a rounding error.
    assert difference_interval([1.1, 2.1, 3.1], [0.3, 1.3, 2.3]) == pytest.approx((0.8, 2.776 * math.sqrt(2 / 3)))
    # One side has no spread: the degrees are those of the other one.
    assert difference_interval([5, 5, 5], [1, 2, 3]) == pytest.approx((3, 4.303 * math.sqrt(1 / 3)))
    assert difference_interval([5, 5], [3, 3, 3]) == (2, 0)
    assert difference_interval([5], [1, 2, 3]) == (3, None)
    assert difference_interval([1, 2, 3], [5]) == (-3, None)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("sizes", [(3, 3), (10, 10), (3, 10), (40, 35)])
def test_difference_follows_welch(sizes: tuple[int, int], seed: int) -> None:
    """Against scipy's quantile for whole degrees of freedom, and never narrower than its own interval."""
    stats = pytest.importorskip("scipy.stats")
    draw = np.random.default_rng(seed)
    one, other = draw.normal(3, 1, sizes[0]), draw.normal(2, draw.uniform(0.2, 3), sizes[1])
    interval = stats.ttest_ind(one, other, equal_var=False).confidence_interval(0.95)
    freedom = stats.ttest_ind(one, other, equal_var=False).df
    difference, half_width = difference_interval(one.tolist(), other.tolist())
    assert half_width is not None
    theirs = (interval.high - interval.low) / 2
    assert difference == pytest.approx((interval.high + interval.low) / 2)
    down = theirs / stats.t.ppf(0.975, freedom) * stats.t.ppf(0.975, math.floor(freedom))
    assert half_width == pytest.approx(down, rel=5e-4)
    assert half_width >= theirs * (1 - 5e-4)


SEEDS = st.lists(st.integers(0, 1000).map(lambda tenths: tenths / 10), min_size=2, max_size=12)


@given(SEEDS, SEEDS, st.floats(-50, 50))
@settings(deadline=None)
def test_exchange_turns_the_sign_and_a_shift_of_both_changes_nothing(
    one: list[float], other: list[float], shift: float
) -> None:
    difference, half_width = difference_interval(one, other)
    turned, same = difference_interval(other, one)
    assert turned == pytest.approx(-difference)
    assert half_width is not None
    assert same == pytest.approx(half_width)
    assume(min(np.std(one), np.std(other)) > 1e-3)  # else the degrees of freedom are those of rounding errors
    moved, width = difference_interval([value + shift for value in one], [value + shift for value in other])
    assert moved == pytest.approx(difference, abs=1e-9)
    assert width == pytest.approx(half_width, rel=1e-6) or _near_a_whole_number_of_degrees(one, other)


def _near_a_whole_number_of_degrees(one: list[float], other: list[float]) -> bool:
    errors = [np.var(values, ddof=1) / len(values) for values in (one, other)]
    squares = sum(error**2 / (len(values) - 1) for error, values in zip(errors, (one, other), strict=True))
    freedom = sum(errors) ** 2 / squares
    return bool(abs(freedom - round(freedom)) < 1e-5)
