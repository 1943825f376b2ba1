"""Statements that training has word for word, and those that it has not, apart."""

from dataclasses import replace

import numpy as np
import pytest

from groundling.errors import UserError
from groundling.evaluation.entailment import seen_apart
from groundling.evaluation.entailment_scores import measure_entailment
from groundling.evaluation.results import EntailmentResult, Seen
from groundling.report.entailment_tables import accuracy_table
from groundling.training.validation import find_metric
from judged_world import make_judged


def test_by_hand() -> None:
    """The same words in another language are not seen; a language all of whose statements are known has no new ones."""
    whole = make_judged(pictures=60).judged().corpus
    test = whole.split("test")
    texts = list(test.texts)
    changed = [row for row in range(len(texts)) if test.languages[row] == "en"][:40]
    german = next(text for text, code in zip(texts, test.languages, strict=True) if code == "de")
    for row in changed:
        texts[row] = german if row % 2 else f"new {row}"
    asked = replace(test, texts=texts)
    right = np.zeros(len(texts), dtype=bool)
    right[changed[:10]] = True  # a quarter of the new ones
    english = np.flatnonzero(test.languages == "en")
    known = np.setdiff1d(english, changed)
    right[known[: len(known) // 2]] = True
    found = seen_apart(whole, asked, right)
    half = 100 * (len(known) // 2) / len(known)
    assert found["en"] == Seen(len(known), half, 40, 25.0)
    assert found["de"] == Seen(len(test.texts) - len(english), 0.0, 0, None)
    nothing = whole.keep_pictures(whole.splits != "train")
    assert seen_apart(nothing, asked, right) == {}


def test_they_are_kept_and_shown() -> None:
    found = measure_entailment([0, 1], [[1, 0, 0], [1, 0, 0]], ["en", "en"])
    result = replace(found, seen={"en": Seen(3, 66.7, 1, 12.5)})
    assert EntailmentResult.from_json(result.to_json()).seen == result.seen
    shown = accuracy_table(result).markdown()
    assert "75.0" in shown and "66.7" in shown and "12.5" in shown
    assert "word for word" in shown
    assert "seen" not in accuracy_table(found).markdown()


def test_tables_may_name_either_accuracy() -> None:
    found = measure_entailment([0, 1], [[1, 0, 0], [1, 0, 0]], ["en", "de"])
    result = replace(found, seen={"en": Seen(3, 66.7, 1, 12.5), "de": Seen(4, 0.0, 0, None)})
    assert [result.value("en", name) for name in ("accuracy", "seen_accuracy", "new_accuracy")] == [100.0, 66.7, 12.5]
    assert result.value("de", "seen_accuracy") == 0.0
    with pytest.raises(UserError, match="no new_accuracy was measured"):
        result.value("de", "new_accuracy")


def test_they_are_no_metric_to_validate_by() -> None:
    with pytest.raises(UserError, match="new_accuracy is for evaluations"):
        find_metric("new_accuracy", "accuracy", "judge statements")
