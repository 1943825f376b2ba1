"""Ranks as they are defined, from the scores of all pairs: slow and obvious."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from groundling.evaluation.ranks import Ranks

Array = npt.NDArray[Any]


def pair_by_pair(score: Callable[[int, int], Any], pictures: int, owners: Array) -> tuple[list[int], list[int]]:
    """The definition: `score` is that of a picture and a caption. Ranks of captions' pictures, and of the best caption
    of each picture; 0 where a picture has none."""
    text_to_image = []
    for caption, owner in enumerate(owners):
        others = [score(other, caption) for other in range(pictures) if other != owner]
        text_to_image.append(1 + sum(other >= score(owner, caption) for other in others))
    image_to_text = []
    for picture in range(pictures):
        own = [score(picture, caption) for caption, owner in enumerate(owners) if owner == picture]
        others = [score(picture, caption) for caption, owner in enumerate(owners) if owner != picture]
        image_to_text.append(1 + sum(other >= max(own) for other in others) if own else 0)
    return text_to_image, image_to_text


def from_matrix(scores: npt.NDArray[np.float64], owners: Array) -> Ranks:
    """The same from [pictures, captions] scores at once."""
    columns = np.arange(scores.shape[1])
    own = scores[owners, columns].copy()
    best = np.full(len(scores), -np.inf)
    np.maximum.at(best, owners, own)
    scores[owners, columns] = -np.inf
    image_to_text = np.where(np.isfinite(best), 1 + (scores >= best[:, None]).sum(axis=1), 0)
    return Ranks(1 + (scores >= own).sum(axis=0), image_to_text)


def assert_equal(found: Ranks, expected: Ranks) -> None:
    assert found.text_to_image.tolist() == expected.text_to_image.tolist()
    assert found.image_to_text.tolist() == expected.image_to_text.tolist()


def unit(*shape: int, seed: int = 0) -> npt.NDArray[np.float32]:
    vectors = np.random.default_rng(seed).normal(size=shape)
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
