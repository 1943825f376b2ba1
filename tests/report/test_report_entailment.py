"""Figures of judged statements, the distances between languages, and how accuracy goes with them."""

import itertools
import json
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundling.evaluation.entailment_scores import measure_entailment
from groundling.evaluation.language_distances import KINDS, by_distance, linguistic_distances, spearman
from groundling.evaluation.results import EntailmentResult, Uncalibrated
from groundling.report.charts import scatter, square
from groundling.report.curves import learning_curves
from groundling.report.entailment_figures import (
    confusion_figures,
    entailment_sections,
    published_entailment,
    published_table,
)
from groundling.report.html import Block

LANGUAGES = ["en", "de", "nl", "ja", "zh", "ko"]


def judged(languages: list[str], seed: int = 0, each: int = 40) -> EntailmentResult:
    """An evaluation in which each language is a little worse than the one before."""
    draw = np.random.default_rng(seed)
    truth = draw.integers(3, size=each * len(languages))
    place = np.repeat(np.arange(len(languages)), each)
    right = draw.random(len(truth)) < 0.95 - 0.1 * place
    said = np.where(right, truth, (truth + 1) % 3)
    shares = np.full((len(truth), 3), 0.1)
    shares[np.arange(len(truth)), said] = 0.8
    found = measure_entailment(truth, shares, np.array(languages)[place])
    return EntailmentResult.from_json(json.loads(json.dumps(found.to_json())))


def html_of(blocks: Sequence[Block]) -> str:
    return "\n".join(block.html() for block in blocks)


def sections(result: EntailmentResult) -> dict[str, str]:
    return {section.title: html_of(section.blocks) for section in entailment_sections(result)}


def drawings(html: str) -> list[ET.Element]:
    return [ET.fromstring(svg) for svg in re.findall(r"<svg.*?</svg>", html, re.S)]  # noqa: S314 (our own)


def test_distances_as_the_paper_prints_them() -> None:
    assert linguistic_distances("de") == {
        "featural": 0.4,
        "syntactic": 0.42,
        "genetic": 0.4286,
        "geographic": 0.1,
        "phonological": 0.3277,
        "inventory": 0.4364,
    }
    assert linguistic_distances("ko", "en")["syntactic"] == 0.62
    assert linguistic_distances("nl")["geographic"] == 0.0  # known to be 0, not unknown
    assert linguistic_distances("en", "de") == linguistic_distances("de", "en")
    assert linguistic_distances("de-AT", "en-GB") == linguistic_distances("de")
    assert set(linguistic_distances("fr").values()) == {None}
    assert set(linguistic_distances("ja", "ko").values()) == {None}  # only distances from English are in the table
    assert set(linguistic_distances("fr", "fr").values()) == {0.0}


def test_spearman_by_hand() -> None:
    assert spearman([1, 2, 3, 4, 5], [5, 4, 3, 2, 1]).value == pytest.approx(-1)
    assert spearman([1, 2, 3, 4, 5], [5, 4, 3, 2, 1]).chance == pytest.approx(2 / 120)
    # ranks 1 2 3 4 5 and 2 1 4 3 5: 1 − 6·4/(5·24) = 0.8
    assert spearman([10, 20, 30, 40, 50], [2, 1, 4, 3, 5]).value == pytest.approx(0.8)
    # a tie: ranks 1.5 1.5 3 and 1 2 3
    assert spearman([7, 7, 9], [1, 2, 3]).value == pytest.approx(1.5 / math.sqrt(1.5 * 2))
    assert spearman([1, 1, 1], [1, 2, 3]).value is None
    assert spearman([1, 2], [1, 2]) == spearman([3, 4], [1, 9])  # two points always correlate, so it is not said
    assert spearman([1, 2], [1, 2]).value is None


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=6))
def test_spearman_slow_twin(points: list[tuple[int, int]]) -> None:
    first, second = [float(x) for x, _ in points], [float(y) for _, y in points]

    def ranks(values: list[float]) -> list[float]:
        order = sorted(values)
        return [(order.index(value) + 1 + len(order) - order[::-1].index(value)) / 2 for value in values]

    def pearson(one: list[float], two: list[float]) -> float | None:
        middle = sum(one) / len(one), sum(two) / len(two)
        pairs = [(x - middle[0], y - middle[1]) for x, y in zip(one, two, strict=True)]
        size = math.sqrt(sum(x * x for x, _ in pairs) * sum(y * y for _, y in pairs))
        return sum(x * y for x, y in pairs) / size if size else None

    found, slow = spearman(first, second), pearson(ranks(first), ranks(second))
    assert found.value == (None if slow is None else pytest.approx(slow))
    if slow is not None:
        orders = list(itertools.permutations(second))
        large = [abs(pearson(ranks(first), ranks(list(order))) or 0) >= abs(slow) - 1e-9 for order in orders]
        assert found.chance == pytest.approx(sum(large) / len(orders))
    assert spearman(second, first).value == (None if slow is None else pytest.approx(slow))


def test_many_languages_have_a_sample_of_orders() -> None:
    assert spearman(list(range(12)), list(range(12))).chance == pytest.approx(1 / 20_001)
    draw = np.random.default_rng(0)
    values = [spearman(list(draw.random(10)), list(draw.random(10))).chance or 0.0 for _ in range(60)]
    assert 0.3 < float(np.mean(values)) < 0.7  # what is chance has any share alike


def test_the_base_and_unknown_languages_are_no_points() -> None:
    accuracy = {"en": 80.0, "de": 75.0, "fr": 70.0, "ko": 60.0}
    assert by_distance(accuracy, "syntactic") == {"de": (0.42, 75.0), "ko": (0.62, 60.0)}


def test_six_scatter_plots_with_correlations() -> None:
    html = sections(judged([*LANGUAGES, "fr"]))["Accuracy and distance between languages"]
    charts = drawings(html)
    assert len(charts) == len(KINDS) == 6
    for chart in charts:
        names = {text.text for text in chart.iter("{http://www.w3.org/2000/svg}text")}
        assert {"de", "nl", "ja", "zh", "ko"} <= names
        assert not {"en", "fr"} & names
        assert len(list(chart.iter("{http://www.w3.org/2000/svg}circle"))) == 5
    assert "over 5 languages" in html
    assert "Not in that table: French (fr)." in html
    assert html.count("ρ = ") == 6


def test_few_known_distances_are_said_rather_than_drawn() -> None:
    html = sections(judged(["en", "fr", "cs", "de"]))["Accuracy and distance between languages"]
    assert not drawings(html)
    assert "known for 1 of these languages, too few" in html
    assert sections(judged(["en"]))["Accuracy and distance between languages"] == ""


def test_a_confusion_for_all_and_for_each_language() -> None:
    data = judged(["en", "de"])
    assert len(drawings(html_of(confusion_figures(data)))) == 3
    assert len(drawings(html_of(confusion_figures(judged(["en"]))))) == 1  # all of them are English
    drawn = square("c", ["a", "b"], [[3, 1], [0, 0]])
    assert re.findall(r">(\d+ %|–)<", drawn) == ["75 %", "25 %", "–", "–"]
    assert "a: 3 a, 1 b" in drawn


def test_losses_of_training_and_validation_share_a_chart() -> None:
    rows = [{"step": step, "loss": 1.0 / step} for step in range(1, 9)]
    rows += [{"step": 4, "validation_loss": 0.9}, {"step": 8, "validation_loss": 0.8}]
    [chart] = drawings(html_of(learning_curves(rows)))
    described = chart.find("{http://www.w3.org/2000/svg}desc")
    assert described is not None
    assert described.text == "training: 1 at 1, 0.125 at 8. validation: 0.9 at 4, 0.8 at 8."
    [alone] = drawings(html_of(learning_curves(rows[:8])))
    assert alone.findtext("{http://www.w3.org/2000/svg}desc") == "loss: 1 at 1, 0.125 at 8."


def test_sureness_beside_accuracy() -> None:
    html = sections(judged(LANGUAGES))["Is it as sure as it is right?"]
    assert html.count("<td>80.0</td>") >= 6  # every one of them has 0.8
    [chart] = drawings(html)
    described = chart.find("{http://www.w3.org/2000/svg}desc")
    assert described is not None
    assert re.match(r"the model: \d+(\.\d+)? at 80, ", described.text or "")


def test_what_a_temperature_changes_stands_beside() -> None:
    data = judged(["en", "de"])
    sure = [replace(part, sureness=99.0) for part in data.overall.bins]
    plain = replace(data.overall.calibration, log_loss=1.2345, bins=sure)
    data = replace(data, temperature=4.2, uncalibrated=Uncalibrated(plain, {"en": plain, "de": plain}))
    html = sections(data)["Is it as sure as it is right?"]
    assert html.count("<td>1.235</td>") == 3
    assert "temperature, 4.20, which was fitted on other statements" in html
    [chart] = drawings(html)
    told = chart.findtext("{http://www.w3.org/2000/svg}desc") or ""
    assert re.search(r"the model: [\d.]+ at 80, .* without its temperature: [\d.]+ at 99", told)
    assert "1.2345" in published_table(data, published_entailment()).markdown()  # no temperature there either
    (without,) = drawings(sections(judged(["en"]))["Is it as sure as it is right?"])
    assert "temperature" not in (without.findtext("{http://www.w3.org/2000/svg}desc") or "")


def test_published_numbers_stand_beside_ours_where_statements_are_of_that_kind() -> None:
    data = replace(judged(["en", "fr"]), corpus="e-snli-ve")
    table = published_table(data, published_entailment()).markdown()
    assert "73.17" in table
    assert "0.7391" in table
    assert re.search(r"French \(fr\) .*–", table)
    title = "Beside the published numbers"
    assert sections(data)[title]
    assert sections(replace(data, corpus="e-snli-ve-flickr8k"))[title]
    assert not sections(replace(data, corpus="scenes"))[title]


def test_names_of_points_on_each_other_are_moved_apart() -> None:
    chart = ET.fromstring(scatter("s", {"ja": (1.0, 70.0), "zh": (1.0, 70.1), "de": (0.0, 70.0)}))  # noqa: S314
    heights = {
        text.text: float(text.attrib["y"])
        for text in chart.iter("{http://www.w3.org/2000/svg}text")
        if text.text in ("ja", "zh", "de")
    }
    assert abs(heights["ja"] - heights["zh"]) >= 11


def test_one_point_still_has_axes() -> None:
    chart = ET.fromstring(scatter("one", {"x": (0.5, 50.0)}))  # noqa: S314
    ticks = [text for text in chart.iter("{http://www.w3.org/2000/svg}text") if "tick" in text.attrib.get("class", "")]
    assert len(ticks) >= 4
