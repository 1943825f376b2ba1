"""Recalls by hand, folds by hand, averages over languages."""

import json

import numpy as np
import pytest

from groundling.errors import UserError
from groundling.evaluation.ranks import Ranks
from groundling.evaluation.recalls import folds, mean_over_languages, recalls


def test_recalls_by_hand() -> None:
    result = recalls(Ranks(text_to_image=np.array([1, 2, 6, 11]), image_to_text=np.array([1, 0, 3])))
    assert result == {
        "image_to_text": {"R@1": 50.0, "R@5": 100.0, "R@10": 100.0, "median": 2.0, "mean": 2.0},
        "text_to_image": {"R@1": 25.0, "R@5": 50.0, "R@10": 75.0, "median": 4.0, "mean": 5.0},
        "rsum": 400.0,
        "mR": pytest.approx(400 / 6),
        "pictures": 3,
        "captions": 4,
    }
    assert json.loads(json.dumps(result)) == result


def test_folds_rank_each_part_by_itself() -> None:
    # Pictures 0, 1 and pictures 2, 3 are the same two vectors: ties among all four, none within a fold.
    pictures = np.array([[1, 0], [0, 1], [1, 0], [0, 1]])
    captions = np.array([[0, 1], [1, 0], [1, 0], [0, 1], [1, 0]])
    owners = np.array([3, 2, 0, 1, 1])  # in any order; the last caption fits the wrong picture
    result = folds(pictures, captions, owners, folds=2)
    # First fold: captions rank 1, 1, 2. Picture 0's best caption has 1, and so has the last one: rank 2; picture 1: 1.
    assert result["text_to_image"]["R@1"] == pytest.approx((100 * 2 / 3 + 100) / 2)
    assert result["text_to_image"]["mean"] == pytest.approx((4 / 3 + 1) / 2)
    assert result["image_to_text"]["R@1"] == pytest.approx((50 + 100) / 2)
    assert result["image_to_text"]["median"] == pytest.approx((1.5 + 1) / 2)
    assert result["rsum"] == pytest.approx(400 + 100 * 5 / 6 + 75)
    assert result["mR"] == pytest.approx(result["rsum"] / 6)
    assert (result["pictures"], result["captions"]) == (2, 2)
    assert folds(pictures, captions, owners, folds=1)["text_to_image"]["R@1"] == 0


def test_folds_that_cannot_be() -> None:
    with pytest.raises(UserError, match="5 pictures cannot be divided into 2 equal folds"):
        folds(np.eye(5), np.eye(5), np.arange(5), folds=2)
    with pytest.raises(UserError, match="pictures 2 to 3 make up a fold without a single caption"):
        folds(np.eye(4), np.eye(4), np.array([0, 1, 0, 1]), folds=2)
    with pytest.raises(UserError, match="owners: row 1 is 4"):
        folds(np.eye(4), np.eye(4), np.array([0, 4, 2, 3]), folds=2)


def test_languages_count_alike_however_many_captions_they_have() -> None:
    english = recalls(Ranks(np.array([1, 1]), np.array([1, 1])))
    german = recalls(Ranks(np.array([1, 7, 20, 30]), np.array([1, 20])))
    mean = mean_over_languages({"en": english, "de": german})
    assert mean["text_to_image"] == {"R@1": 62.5, "R@5": 62.5, "R@10": 75.0, "median": 7.25, "mean": 7.75}
    assert mean["rsum"] == pytest.approx((english["rsum"] + german["rsum"]) / 2)
    assert (mean["pictures"], mean["captions"]) == (2, 3)
    assert mean.keys() == english.keys()
    assert mean_over_languages({"en": english}) == english
    with pytest.raises(UserError, match="no language"):
        mean_over_languages({})
