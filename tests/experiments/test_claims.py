"""What our seeds say about a sentence of a paper that compares two rows."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_tables import make_table

from groundling.experiments.results import outcome, summarise
from groundling.experiments.table_entries import table_entries
from groundling.experiments.table_settings import TableSettings
from made_results import entry_result, scores

METRICS = ("image_to_text.R@10", "text_to_image.R@10")


@pytest.mark.parametrize(
    ("difference", "half_width", "as_good", "said"),
    [
        (2.0, 1.0, False, "holds"),
        (-2.0, 1.0, False, "opposite"),
        (0.9, 1.0, False, "not resolved"),
        (-0.9, 1.0, False, "not resolved"),
        (1.0, 1.0, False, "not resolved"),  # zero is the end of the interval
        (0.1, 0.0, False, "holds"),  # seeds that agree to the last digit
        (0.0, 0.0, False, "not resolved"),
        (5.0, None, False, "one seed"),
        (0.9, 1.0, True, "no difference seen"),
        (0.0, 0.0, True, "no difference seen"),
        (2.0, 1.0, True, "better"),
        (-2.0, 1.0, True, "worse"),
        (5.0, None, True, "one seed"),
    ],
)
def test_outcomes(difference: float, half_width: float | None, as_good: bool, said: str) -> None:
    assert outcome(difference, half_width, as_good) == said


@given(st.floats(-50, 50), st.floats(0, 20))
@settings(deadline=None)
def test_turning_a_claim_round_turns_its_outcome_round(difference: float, half_width: float) -> None:
    other = {"holds": "opposite", "opposite": "holds", "better": "worse", "worse": "better"}
    for equal in (False, True):
        here, there = outcome(difference, half_width, equal), outcome(-difference, half_width, equal)
        assert there == other.get(here, here)


def table_of(claim: dict[str, Any], **changes: Any) -> TableSettings:
    claims = [{"says": "Two are better", "better": "Two", "than": "One", **claim}]
    rows = [
        {"name": "One", "each": "language", "published": {"en": 40.0, "de": 30.0}},
        {"name": "Two", "published": {"en": 42.5}},
    ]
    return make_table(**{"rows": rows, "claims": claims, "seeds": [0, 1, 2], **changes})


def weighed(table: TableSettings, numbers: dict[tuple[str, str], list[Any]]) -> dict[str, Any]:
    """The first claim of the table; numbers by row and language, one for each seed, each a number or one per metric."""
    results = {}
    for entry in table_entries(table):
        languages = {}
        for code in entry.group:
            number = numbers[entry.row, code][entry.recipe.training.seed]
            if isinstance(number, tuple):
                by_pictures, by_words = number
                languages[code] = scores({}, {"R@10": by_words}, {"R@10": by_pictures})
            else:
                languages[code] = scores({"mR": number}, {"median": number, "mean": number, "R@10": number})
        results[entry.folder] = entry_result(languages)
    (claim,) = summarise(table, results).to_json()["claims"]
    return claim


NUMBERS: dict[tuple[str, str], list[Any]] = {
    ("One", "en"): [10.0, 12.0, 14.0],
    ("Two", "en"): [20.0, 21.0, 22.0],
    ("One", "de"): [10.0, 12.0, 14.0],
    ("Two", "de"): [12.0, 9.0, 15.0],
}


def test_difference_and_interval_by_hand() -> None:
    """English: means 21 and 12, variances 1 and 4, errors 1/3 and 4/3. The square of their sum over the sum of their
    squares / 2 is (25/9) / (17/18) = 50/17 = 2.94 degrees of freedom, rounded down 2: t = 4.303."""
    claim = weighed(table_of({}), NUMBERS)
    assert (claim["says"], claim["better"], claim["than"]) == ("Two are better", "Two", "One")
    assert claim["languages"]["en"] == {
        "published": 2.5,
        "difference": 9,
        "interval": pytest.approx(4.303 * math.sqrt(5 / 3)),
        "verdict": "holds",
    }
    german = claim["languages"]["de"]
    assert (german["published"], german["difference"], german["verdict"]) == (None, 0, "not resolved")


def test_a_claim_turned_round_has_the_opposite_difference() -> None:
    here = weighed(table_of({}), NUMBERS)["languages"]["en"]
    there = weighed(table_of({"better": "One", "than": "Two"}), NUMBERS)["languages"]["en"]
    assert there["difference"] == -here["difference"]
    assert there["published"] == -here["published"]
    assert there["interval"] == pytest.approx(here["interval"])
    assert (here["verdict"], there["verdict"]) == ("holds", "opposite")


def test_a_claim_of_equality_and_one_of_some_languages() -> None:
    languages = weighed(table_of({"equal": True, "languages": ["de"]}), NUMBERS)["languages"]
    assert list(languages) == ["de"]
    assert languages["de"]["verdict"] == "no difference seen"
    assert weighed(table_of({"equal": True}), NUMBERS)["languages"]["en"]["verdict"] == "better"


def test_several_metrics_are_averaged_seed_by_seed() -> None:
    """What varies against each other in two metrics does not vary in their mean: the interval must see it."""
    rows = [
        {"name": "One", "published": {"en": [10.0, 20.0]}},
        {"name": "Two", "set": {"training.batch_size": 32}, "published": {"en": [12.0, 21.0]}},
    ]
    table = table_of({}, rows=rows, metrics=list(METRICS), languages=["en"])
    numbers: dict[tuple[str, str], list[Any]] = {
        ("One", "en"): [(10.0, 30.0), (30.0, 10.0), (20.0, 20.0)],
        ("Two", "en"): [(21.0, 21.0), (40.0, 2.0), (10.0, 32.0)],
    }
    found = weighed(table, numbers)["languages"]["en"]
    assert found == {"published": 1.5, "difference": 1, "interval": 0, "verdict": "holds"}


def test_rows_that_share_what_they_start_from_are_compared_within_seeds() -> None:
    """English: the differences are 10, 9 and 8, their mean is 9 ± t(2) · 1 / √3; the row's own spread is not in it."""
    claim = weighed(table_of({"by_seed": True}), NUMBERS)
    assert claim["by_seed"] is True
    english = claim["languages"]["en"]
    assert (english["difference"], english["interval"]) == (9, pytest.approx(4.303 / math.sqrt(3)))
    assert claim["languages"]["de"]["verdict"] == "not resolved"  # 2, -3, 1
    assert weighed(table_of({"by_seed": True}, seeds=[1]), NUMBERS)["languages"]["en"]["verdict"] == "one seed"


def test_one_seed_has_a_difference_and_no_outcome() -> None:
    found = weighed(table_of({}, seeds=[1]), NUMBERS)["languages"]["en"]
    assert (found["difference"], found["interval"], found["verdict"]) == (9, None, "one seed")


def test_a_row_without_results_leaves_the_published_difference() -> None:
    summary = summarise(table_of({}), {}).to_json()
    assert summary["claims"][0]["languages"] == {"en": {"published": 2.5}, "de": {"published": None}}


@pytest.mark.parametrize("metric", ["text_to_image.median", "text_to_image.mean"])
def test_of_ranks_the_lower_is_better(metric: str) -> None:
    found = weighed(table_of({"better": "One", "than": "Two"}, metrics=[metric]), NUMBERS)["languages"]["en"]
    assert found["verdict"] == "holds"
