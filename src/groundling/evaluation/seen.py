"""Training pictures asked about as test pictures are: how much better a model knows what it has seen.

As many pictures as the test has, so that the numbers stand beside each other.
"""

import numpy as np

from groundling.corpus import Corpus
from groundling.corpus.columns import Mask
from groundling.dataset import Dataset
from groundling.evaluation.retrieval import RankedSplit, evaluate_retrieval
from groundling.model import Model


def evaluate_seen(model: Model, dataset: Dataset, pictures: int, seed: int = 0) -> RankedSplit | None:
    """So many training pictures, drawn, and their captions; None where there are no training pictures to draw."""
    train = dataset.split("train")
    keep = draw_different(train.corpus, pictures, seed)
    if not keep.any():
        return None
    return evaluate_retrieval(model, train.having(train.corpus.keep_pictures(keep)), "train", folds=1)


def draw_different(corpus: Corpus, pictures: int, seed: int) -> Mask:
    """So many of the pictures, no two with the same captions: of two drawings of one thing neither would be wrong."""
    said: list[list[str]] = [[] for _ in corpus.pictures]
    for owner, text in zip(corpus.owners.tolist(), corpus.texts, strict=True):
        said[owner].append(text)
    first: dict[tuple[str, ...], int] = {}
    for row, texts in enumerate(said):
        if texts:
            first.setdefault(tuple(sorted(texts)), row)
    different = np.array(list(first.values()), dtype=np.int64)
    keep = np.zeros(len(corpus.pictures), dtype=bool)
    keep[np.random.default_rng(seed).permutation(different)[:pictures]] = True
    return keep
