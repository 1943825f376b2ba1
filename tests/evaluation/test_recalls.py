"""Recalls by hand, averages over languages."""

import json

import numpy as np
import pytest

from groundling.errors import UserError
from groundling.evaluation.ranks import Ranks
from groundling.evaluation.recalls import recalls
from groundling.evaluation.results import RetrievalScores


def test_recalls_by_hand() -> None:
    result = recalls(Ranks(text_to_image=np.array([1, 2, 6, 11]), image_to_text=np.array([1, 0, 3])))
    assert result.to_json() == {
        "image_to_text": {"R@1": 50.0, "R@5": 100.0, "R@10": 100.0, "median": 2.0, "mean": 2.0},
        "text_to_image": {"R@1": 25.0, "R@5": 50.0, "R@10": 75.0, "median": 4.0, "mean": 5.0},
        "rsum": 400.0,
        "mR": pytest.approx(400 / 6),
        "pictures": 3,
        "captions": 4,
    }
    assert RetrievalScores.from_json(json.loads(json.dumps(result.to_json()))) == result


def test_languages_count_alike_however_many_captions_they_have() -> None:
    english = recalls(Ranks(np.array([1, 1]), np.array([1, 1])))
    german = recalls(Ranks(np.array([1, 7, 20, 30]), np.array([1, 20])))
    mean = RetrievalScores.average([english, german])
    assert mean.text_to_image == {"R@1": 62.5, "R@5": 62.5, "R@10": 75.0, "median": 7.25, "mean": 7.75}
    assert mean.value("rsum") == pytest.approx((english.value("rsum") + german.value("rsum")) / 2)
    assert (mean.pictures, mean.captions) == (2, 3)
    assert RetrievalScores.average([english]) == english
    with pytest.raises(UserError, match="no language"):
        RetrievalScores.average([])
