"""How far the words of statements give their labels away: classifiers that never see a picture.

People write "sleeping" and "nobody" into contradictions (Gururangan et al. 2018), so a model that looks at no picture
can be right far more often than in one of three cases. Accuracy on a corpus means little without this number beside it.
"""

from collections import Counter
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import regex

from groundling.corpus.corpus import Corpus
from groundling.corpus.entailment import LABELS, Entailments
from groundling.corpus.leaks import normalised
from groundling.progress import bar

LONGEST_GRAM = 2
MOST = 50_000  # training statements per language; more hardly move the number
_STEPS, _LOOK, _RATE, _PULL = 60, 4, 0.05, 1e-4  # chosen on e-SNLI-VE's dev photos

Floats = npt.NDArray[np.float64]
_WORD = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|[^\s\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]+")


def text_only(corpus: Corpus, seed: int = 0) -> dict[str, dict[str, Any]]:
    """Language → accuracy on the test split (dev, where there is no test) of two classifiers trained on train.

    "majority" always says the label that is most frequent in training; "words" is a logistic regression on the runs of
    one or two words (characters, where a script has no spaces) of a statement. Languages that have no statements to
    train or to test on are left out.
    """
    found: dict[str, dict[str, Any]] = {}
    if corpus.statements is None:
        return found
    splits = corpus.splits[corpus.statements.owners]
    languages = sorted(corpus.statements.all_languages())
    with bar("Judging statements by their words alone", len(languages)) as progress:
        for language in languages:
            here = corpus.statements.languages == language
            train, dev, test = (corpus.statements.keep(here & (splits == split)) for split in ("train", "dev", "test"))
            asked = test if len(test) else dev
            if len(train) and len(asked):
                train = _some(train, seed)
                found[language] = {
                    "split": "test" if len(test) else "dev",
                    "train": len(train),
                    "asked": len(asked),
                    "majority": majority(train, asked),
                    "words": bag_of_words(train, dev, asked),
                }
            progress.advance()
    return found


def majority(train: Entailments, asked: Entailments) -> float:
    most = Counter(train.labels.tolist()).most_common(1)[0][0]
    return float((asked.labels == most).mean())


def bag_of_words(train: Entailments, dev: Entailments, asked: Entailments) -> float:
    """Accuracy of logistic regression on word n-grams, after the step that is best on dev (the last, without dev)."""
    numbers = {"": 0}  # the constant
    rows: dict[tuple[int, ...], int] = {}  # statements of the same words are one row with the labels of all
    place = []
    for text in train.texts:
        grams = tuple(numbers.setdefault(gram, len(numbers)) for gram in _grams(text))
        place.append(rows.setdefault((0, *grams), len(rows)))
    labels = np.zeros((len(rows), len(LABELS)))
    np.add.at(labels, (np.array(place), train.classes()), 1)
    bags, known = _Bags(list(rows)), _Bags([_known(text, numbers) for text in dev.texts])
    queries, truth = _Bags([_known(text, numbers) for text in asked.texts]), asked.classes()
    descent = _Adam((len(numbers), len(LABELS)))
    best, answer = -1.0, 0.0
    for step in range(1, _STEPS + 1):
        share = _softmax(bags.scores(descent.weights))
        errors = (share * labels.sum(axis=1, keepdims=True) - labels) / len(train)
        descent.step(bags.gradient(errors, len(numbers)) + _PULL * descent.weights)
        if step % _LOOK == 0:
            score = float((known.scores(descent.weights).argmax(axis=1) == dev.classes()).mean()) if len(dev) else step
            if score > best:
                best, answer = score, float((queries.scores(descent.weights).argmax(axis=1) == truth).mean())
    return answer


class _Bags:
    """Rows of n-gram numbers, one after the other; none is empty, as each has the constant."""

    def __init__(self, rows: list[tuple[int, ...]]) -> None:
        self.lengths = np.array([len(row) for row in rows], dtype=np.int64)
        self.flat = np.fromiter((number for row in rows for number in row), dtype=np.int64)

    def scores(self, weights: Floats) -> Floats:
        return np.add.reduceat(weights[self.flat], np.cumsum(self.lengths) - self.lengths)

    def gradient(self, errors: Floats, size: int) -> Floats:
        spread = np.repeat(errors, self.lengths, axis=0)
        return np.stack([np.bincount(self.flat, column, minlength=size) for column in spread.T], axis=1)


class _Adam:
    """Kingma and Ba 2015, on all statements at once."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.weights, self._mean, self._square, self._steps = np.zeros(shape), np.zeros(shape), np.zeros(shape), 0

    def step(self, gradient: Floats) -> None:
        self._steps += 1
        self._mean += 0.1 * (gradient - self._mean)
        self._square += 0.001 * (gradient**2 - self._square)
        mean, square = self._mean / (1 - 0.9**self._steps), self._square / (1 - 0.999**self._steps)
        self.weights -= _RATE * mean / (np.sqrt(square) + 1e-8)


def _softmax(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    shares: Floats = powers / powers.sum(axis=1, keepdims=True)
    return shares


@lru_cache(maxsize=10_000)  # made-up statements are made many times
def _grams(text: str) -> tuple[str, ...]:
    words = _WORD.findall(normalised(text))
    return tuple(
        " ".join(words[start : start + length])
        for length in range(1, LONGEST_GRAM + 1)
        for start in range(len(words) - length + 1)
    )


def _known(text: str, numbers: dict[str, int]) -> tuple[int, ...]:
    """What training has never seen says nothing."""
    return (0, *(numbers[gram] for gram in _grams(text) if gram in numbers))


def _some(train: Entailments, seed: int) -> Entailments:
    if len(train) <= MOST:
        return train
    keep = np.zeros(len(train), dtype=bool)
    keep[np.random.default_rng(seed).choice(len(train), MOST, replace=False)] = True
    return train.keep(keep)
