"""Measures of judged statements: by hand, against slow twins, and what must not matter."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.corpus.entailment import LABELS
from groundling.errors import UserError
from groundling.evaluation.entailment_scores import calibration, measure_entailment, wilson
from groundling.evaluation.results import EntailmentResult, result_from_json

# Five statements, worked by hand: truth, probabilities, language. Said: 0, 1, 1, 2, 0; right: yes, no, yes, yes, no.
TRUTH = [0, 0, 1, 2, 2]
SHARES = [[0.7, 0.2, 0.1], [0.25, 0.5, 0.25], [0.1, 0.8, 0.1], [0.0, 0.05, 0.95], [0.5, 0.25, 0.25]]
CODES = ["en", "de", "en", "en", "de"]


def drawn(seed: int, count: int = 200) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    draw = np.random.default_rng(seed)
    return draw.integers(3, size=count), draw.dirichlet([1, 1, 1], count), draw.choice(["ar", "en", "ko"], count)


def test_five_statements_by_hand() -> None:
    found = measure_entailment(TRUTH, SHARES, CODES)
    overall = found.overall
    assert overall.statements == 5
    assert overall.accuracy == pytest.approx(60)
    assert overall.confusion == [[1, 1, 0], [0, 1, 0], [1, 0, 1]]
    assert overall.log_loss == pytest.approx(-math.log(0.7 * 0.25 * 0.8 * 0.95 * 0.25) / 5)
    assert overall.majority == pytest.approx(40)
    # bins: 0.5 (two statements, none right), 0.7, 0.8, 0.95
    assert [(b.statements, b.accuracy) for b in overall.bins if b.statements] == [(2, 0), (1, 100), (1, 100), (1, 100)]
    assert overall.calibration_error == pytest.approx((2 * 50 + 30 + 20 + 5) / 5)
    assert list(found.languages) == ["de", "en"]
    assert (found.languages["en"].accuracy, found.languages["de"].accuracy) == (100, 0)
    assert found.languages["de"].majority == 50
    assert found.mean["accuracy"] == 50  # not 60: each language counts the same


def test_the_most_frequent_label_is_that_of_training_where_it_is_known() -> None:
    assert measure_entailment(TRUTH, SHARES, CODES, most_frequent=1).overall.majority == 20


def test_wilson_intervals_as_published() -> None:
    # Newcombe 1998, Table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    for right, count, low, high in [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0, 0.1611)]:
        assert wilson(right, count) == pytest.approx((low, high), abs=5e-5)
    assert wilson(1, 29) == pytest.approx((0.0061, 0.1718), abs=5e-5)


def test_slow_twin() -> None:
    truth, shares, codes = drawn(0)
    found = measure_entailment(truth, shares, codes)
    for code, part in [("", found.overall), *found.languages.items()]:
        rows = [row for row in range(len(truth)) if not code or codes[row] == code]
        confusion = [[0] * 3 for _ in range(3)]
        loss, right = 0.0, 0
        bins: list[list[tuple[float, bool]]] = [[] for _ in range(15)]
        for row in rows:
            said = max(range(3), key=lambda label, row=row: shares[row][label])
            confusion[truth[row]][said] += 1
            right += said == truth[row]
            loss -= math.log(shares[row][truth[row]])
            less_sure = sum(max(shares[other]) < shares[row][said] for other in rows)
            bins[15 * less_sure // len(rows)].append((shares[row][said], said == truth[row]))
        error = sum(abs(sum(sure for sure, _ in inside) - sum(hit for _, hit in inside)) for inside in bins)
        assert part.confusion == confusion
        assert part.accuracy == pytest.approx(100 * right / len(rows))
        assert part.log_loss == pytest.approx(loss / len(rows))
        assert part.calibration_error == pytest.approx(100 * error / len(rows))
        assert [b.statements for b in part.bins] == [len(inside) for inside in bins]
        assert max(b.statements for b in part.bins) - min(b.statements for b in part.bins) <= 1
        for inside, found_bin in zip(bins, part.bins, strict=True):
            assert (found_bin.low, found_bin.high) == (min(inside)[0], max(inside)[0])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 40), st.booleans())
def test_order_does_not_matter(seed: int, count: int, grouped: bool) -> None:
    truth, shares, codes = drawn(seed, count)
    draw = np.random.default_rng(seed)
    groups = draw.integers(5, size=count) if grouped else None
    other = draw.permutation(count)
    one = measure_entailment(truth, shares, codes, groups).to_json()
    two = measure_entailment(
        truth[other], shares[other], codes[other], None if groups is None else groups[other]
    ).to_json()

    def flat(value: object) -> list[object]:
        if isinstance(value, dict):
            return [leaf for key in value for leaf in [key, *flat(value[key])]]
        return [leaf for item in value for leaf in flat(item)] if isinstance(value, list) else [value]

    for first, second in zip(flat(one), flat(two), strict=True):
        assert first == (pytest.approx(second) if isinstance(first, float) else second)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 60))
def test_parts_make_up_the_whole(seed: int, count: int) -> None:
    truth, shares, codes = drawn(seed, count)
    found = measure_entailment(truth, shares, codes)
    parts = found.languages.values()
    assert sum(part.statements for part in parts) == found.overall.statements == count
    assert (sum(np.array(part.confusion) for part in parts) == np.array(found.overall.confusion)).all()
    for part in (found.overall, *parts):
        assert part.low <= part.accuracy + 1e-9
        assert part.high >= part.accuracy - 1e-9
        assert part.accuracy == pytest.approx(100 * np.trace(part.confusion) / np.sum(part.confusion))


def test_a_calibrated_model_has_no_error_and_a_boastful_one_much() -> None:
    draw = np.random.default_rng(0)
    sure = draw.uniform(0.4, 1, 100_000)
    right = draw.random(100_000) < sure
    assert calibration(sure, right)[0] < 1
    assert calibration(np.full(1000, 0.99), np.arange(1000) % 3 == 0)[0] == pytest.approx(99 - 33.4)


def test_translations_of_one_statement_say_no_more_than_one() -> None:
    """Ten copies of each statement have the interval of one copy, where it is said that they belong together."""
    truth, shares, codes = drawn(1, 100)
    once = measure_entailment(truth, shares, codes).overall
    tenfold = np.repeat(truth, 10), np.repeat(shares, 10, axis=0), np.repeat(codes, 10)
    said = measure_entailment(*tenfold, groups=np.repeat(np.arange(100), 10)).overall
    unsaid = measure_entailment(*tenfold).overall
    assert (said.low, said.high) == pytest.approx((once.low, once.high), abs=0.1)
    assert unsaid.high - unsaid.low < 0.4 * (once.high - once.low)
    perfect = measure_entailment(truth, np.eye(3)[truth], codes, groups=np.arange(100) // 10).overall
    assert perfect.low == pytest.approx(100 * wilson(10, 10)[0])


def test_groups_widen_intervals_about_as_drawing_groups_anew_does() -> None:
    draw = np.random.default_rng(3)
    groups = np.repeat(np.arange(150), 4)
    truth = np.zeros(600, dtype=int)
    likely = draw.beta(2, 1, 150)[groups]
    right = draw.random(600) < likely
    shares = np.where(right[:, None], [0.6, 0.2, 0.2], [0.2, 0.6, 0.2])
    found = measure_entailment(truth, shares, ["en"] * 600, groups).overall
    means = right.reshape(150, 4).mean(axis=1)
    again = [means[draw.integers(150, size=150)].mean() for _ in range(4000)]
    low, high = np.quantile(again, [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx((100 * low, 100 * high), abs=1)


def test_there_and_back_through_json() -> None:
    truth, shares, codes = drawn(2)
    found = measure_entailment(truth, shares, codes)
    text = json.dumps({**found.to_json(), "another": 1}, allow_nan=False)
    assert EntailmentResult.from_json(json.loads(text)) == found
    with pytest.raises(UserError, match=r"here\.json: not an evaluation .*; evaluate the run again"):
        result_from_json({"labels": list(LABELS), "languages": {}}, "here.json")
    with pytest.raises(ValueError, match="labels are"):
        EntailmentResult.from_json({**found.to_json(), "labels": ["yes", "no"]})


def test_the_truth_held_impossible_costs_much_but_not_everything() -> None:
    loss = measure_entailment([0], [[0.0, 0.0, 1.0]], ["en"]).overall.log_loss
    assert 20 < loss < 40


def test_equal_probabilities_are_answered_by_the_first_label() -> None:
    assert measure_entailment([0, 1, 2], np.full((3, 3), 1 / 3), ["en"] * 3).overall.confusion == [[1, 0, 0]] * 3


@pytest.mark.parametrize(
    ("classes", "shares", "codes", "words"),
    [
        ([], np.zeros((0, 3)), [], "no statements"),
        ([0], [[0.5, 0.5]], ["en"], "same statements"),
        ([0, 1], [[1, 0, 0]] * 2, ["en"], "same statements"),
        ([3], [[1, 0, 0]], ["en"], "from 0 to 2"),
        ([0.0], [[1, 0, 0]], ["en"], "whole numbers"),
        ([0], [[2.0, -1.0, 0.0]], ["en"], "sum to 1"),
        ([0], [[math.nan, 0.5, 0.5]], ["en"], "sum to 1"),
        ([0], [[3.0, 1.0, 0.0]], ["en"], "sum to 1"),
    ],
)
def test_what_cannot_be_judged_is_refused(classes: list, shares: object, codes: list, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        measure_entailment(classes, shares, codes)
